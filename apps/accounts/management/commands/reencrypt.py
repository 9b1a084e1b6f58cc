"""manage.py reencrypt: encrypts secrets in the database with the current secret key, so that former keys can be given up."""

from typing import Any

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from apps.accounts.adapter import reencrypt_text
from apps.lib.secret_keys import list_reencryptions

ENCRYPTED = ("secret", "seed")  # of an app with codes, and of recovery codes


class Command(BaseCommand):
    help = (
        "Encrypt the secrets of second factors and of channels for alarms with the current NETZWART_SECRET_KEY. "
        "Run it after the key was replaced, while the old key is still set."
    )

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        count = 0
        for row in Authenticator.objects.select_for_update().order_by("pk"):
            try:
                changed = {name: self._reencrypt(row.data[name]) for name in ENCRYPTED if row.data.get(name)}
            except InvalidToken as error:
                raise CommandError(f"A second factor of {row.user.username} was encrypted with a key that is not given. Add it.") from error
            if changed:
                row.data |= changed
                row.save(update_fields=["data"])
                count += 1
        try:
            count += sum(function() for function in list_reencryptions())
        except InvalidToken as error:
            raise CommandError("A secret of a channel for alarms was encrypted with a key that is not given. Add it.") from error
        self.stdout.write(f"Encrypted with the current key: {count}.")

    def _reencrypt(self, text: str) -> str:
        return reencrypt_text(text)

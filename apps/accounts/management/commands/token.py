"""manage.py token: a new key for a script that acts for somebody."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts import tokens
from apps.accounts.models import User


class Command(BaseCommand):
    help = "Make an API token for somebody and print its key, once. It allows what that person may do."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="script", help="what the key is for (default: %(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username__iexact=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active user {options['username']!r}. Make one with “manage.py createsuperuser”.")
        _token, key = tokens.create(user=user, name=options["name"])
        self.stdout.write(key)

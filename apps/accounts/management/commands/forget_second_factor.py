"""manage.py forget_second_factor: lets a person in again who has lost phone and recovery codes."""

from argparse import ArgumentParser
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from apps.accounts import sessions
from apps.accounts.models import User
from apps.accounts.security_log import SecurityEvent, log_security_event


class Command(BaseCommand):
    help = "Remove an account's passkeys, authenticator app and recovery codes, and sign it out everywhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username__iexact=options["username"]).first()
        if user is None:
            raise CommandError(f"Unknown user {options['username']!r}.")
        for authenticator in Authenticator.objects.filter(user=user):
            authenticator.delete()
            log_security_event(SecurityEvent.FACTOR_REMOVED, user=user, factor=authenticator.type)
        ended = sessions.end_all_sessions(user=user)
        self.stdout.write(f"{user.name} has no second factor any more; sessions ended: {ended}.")

"""manage.py token: makes an API token for a script that acts for an account."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.models import User
from apps.lib.command_arguments import parse_days
from apps.lib.errors import Problem
from firewall.addresses import parse_prefix


class Command(BaseCommand):
    help = "Make an API token for an account and print its key, once. The token has at most the account's rights."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="script", help="what the token is for (default: %(default)s)")

        parser.add_argument("--scope", action="append", metavar="NAME:read|write", help="limit the token to this scope; repeatable")
        parser.add_argument("--member", type=int, metavar="ID", help="limit the token to this member's objects")
        parser.add_argument("--group", type=int, metavar="ID", help="limit the token to this gateway group's objects")
        parser.add_argument("--site", type=int, metavar="ID", help="limit the token to the members of this site")
        parser.add_argument(
            "--network", action="append", default=[], metavar="PREFIX", help="accept the token only from this prefix; repeatable"
        )
        parser.add_argument("--days", type=parse_days, help="days until the token expires (default: it is valid until it is revoked)")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username__iexact=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(f"No active user {options['username']!r}. Make one with “manage.py createsuperuser”.")
        try:
            networks = [parse_prefix(each) for each in options["network"]]
            expires = timezone.now() + timedelta(days=options["days"]) if options["days"] is not None else None
            limits = {"scopes": options["scope"], **{name: options[name] for name in ("member", "group", "site")}, "networks": networks}
            _token, key = tokens.create_token(user=user, name=options["name"], expires=expires, **limits)
        except (Problem, ValueError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(key)

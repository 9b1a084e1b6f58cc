"""manage.py mail_in: stores a mail from standard input, as mail servers pipe it to programs. Exits with the codes of sysexits.h."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand

from apps.inbound_mail.models import Arrival
from apps.inbound_mail.services import TooLarge, store_arrival

log = structlog.get_logger()


class Command(BaseCommand):
    help = (
        "Store the mail on standard input. Exit status: 0 if it is stored, 75 if it could not be stored and should be delivered again, "
        "65 if it is too large or empty, 64 if the arguments are wrong."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--from", dest="sender", metavar="ADDRESS", help="sender in the envelope; '' is the empty sender of bounces")
        parser.add_argument("recipients", nargs="*", metavar="RECIPIENT", help="recipient in the envelope")

    def run_from_argv(self, argv: list[str]) -> None:
        """Exit with EX_TEMPFAIL after any unexpected error, so that the mail server keeps the mail."""
        try:
            super().run_from_argv(argv)
        except SystemExit as end:
            sys.exit(os.EX_USAGE if end.code == 2 else end.code)
        except Exception as error:
            sys.stderr.write(f"The mail was not stored, deliver it again: {type(error).__name__}: {error}\n")
            sys.exit(os.EX_TEMPFAIL)

    def handle(self, *args: Any, **options: Any) -> None:
        octets = sys.stdin.buffer.read(settings.MAIL_IN_OCTETS + 1)
        if not octets:
            self._refuse("No mail on standard input.")
        try:
            store_arrival(octets=octets, way=Arrival.Way.PIPE, sender=options["sender"], recipients=options["recipients"])
        except TooLarge:
            self._refuse(f"The mail is larger than {settings.MAIL_IN_MIB} MiB (NETZWART_MAIL_IN_MIB).")

    def _refuse(self, why: str) -> None:
        self.stderr.write(why)
        sys.exit(os.EX_DATAERR)

"""manage.py mail_lmtp: LMTP server for the mail server on this machine."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.inbound_mail import lmtp


class Command(BaseCommand):
    help = "Accept mail by LMTP from a mail server on this machine, until stopped. Each mail is stored before it is acknowledged."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("place", metavar="PLACE", help="path of a unix socket, or a loopback address with a port: 127.0.0.1:2424")
        parser.add_argument(
            "--mode", default="0660", help="mode of the unix socket: accounts that may write to it can deliver mail (default: %(default)s)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            where = lmtp.parse_place(options["place"], int(options["mode"], 8))
            lmtp.run_lmtp_server(where, lambda place: self.stdout.write(f"Listening on {place}."))
        except (ValueError, OSError) as error:
            raise CommandError(str(error)) from error

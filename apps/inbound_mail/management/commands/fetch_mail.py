"""manage.py fetch_mail: fetches the mailbox of the settings once, at once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.inbound_mail import imap, mailbox_health
from apps.inbound_mail.imap_mailbox import find_mailbox


class Command(BaseCommand):
    help = "Store the unseen mails of the mailbox of NETZWART_MAIL_IN_IMAP, and print their number."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            box = find_mailbox()
        except ValueError as error:
            raise CommandError(str(error)) from error
        if box is None:
            raise CommandError("NETZWART_MAIL_IN_IMAP is not set. Set it to the mailbox that mail is fetched from.")
        found = imap.fetch_unseen(box)
        mailbox_health.record_mailbox_run(place=str(box), error=found.error, now=timezone.now())
        self.stdout.write(f"{found.mails} fetched from {box}.")
        if found.error:
            raise CommandError(found.error)

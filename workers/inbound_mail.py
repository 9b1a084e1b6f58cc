"""Tasks that read received mail and pass it to the registered handler, and that fetch mail from a mailbox.

The work is in `apps.inbound_mail`.
"""

from threading import local

from celery import shared_task
from django.utils import timezone

from apps.inbound_mail import dispatcher, imap, mailbox_health
from apps.inbound_mail.imap_mailbox import find_mailbox
from apps.inbound_mail.parser_process import MailReader


class _ThreadReader(local):
    """Holds a child process for reading mail for each thread of a worker; the child stays for the next mail."""

    def __init__(self) -> None:
        self.reader: MailReader = dispatcher.build_reader()


_own = _ThreadReader()


@shared_task(name="workers.receive_mail")
def receive_mail() -> None:
    """Read and dispatch received mail. Queued after each arrival, and by the schedule for what was left."""
    take = dispatcher.find_mail_handler()
    if take and dispatcher.receive_mail(take, _own.reader).more:
        receive_mail.delay()


@shared_task(name="workers.fetch_mail")
def fetch_mail() -> None:
    """Store new mail from the mailbox of the settings, if they name one."""
    if box := find_mailbox():
        mailbox_health.record_mailbox_run(place=str(box), error=imap.fetch_unseen(box).error, now=timezone.now())

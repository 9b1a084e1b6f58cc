"""manage.py send_mail: sends what is due in the outbox at once, as a worker would."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from apps.lib.ui import formats
from apps.mail import circuit_breaker
from apps.mail.delivery import deliver_due_mails
from apps.mail.models import Message
from apps.mail.transport import build_mail_transport


class Command(BaseCommand):
    help = "Send the due mails of the outbox, without workers, and list those that are left."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--look", action="store_true", help="send nothing, only list the waiting mails")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["look"]:
            done = deliver_due_mails(build_mail_transport())
            self.stdout.write(f"{done.sent} sent, {done.failed} failed, {done.put_off} to be tried again.")
        waiting = Message.objects.filter(state=Message.State.WAITING)
        self.stdout.write(f"{waiting.count()} wait.")
        for row in waiting.order_by("id")[:20]:
            self.stdout.write(f"  {row.pk} to {row.to}, {row.tries} tries, next {formats.format_full_time(row.due)}. {row.error}".rstrip())
        if found := circuit_breaker.find_mail_server_outage():
            said = f"The mail server has accepted no mail since {formats.format_full_time(found.since)}: {found.error}"
            self.stdout.write(f"{said}. Next try {formats.format_moment(found.next_try, timezone.now(), with_zone=True)}.")

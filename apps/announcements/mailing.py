"""Writes the mails of published announcements into the outbox, in batches, once for each member.

Each batch is one transaction that holds the announcement's row: two workers never write mails of the same one at once, and after a
withdrawal none follows. A worker that dies writes nothing of its batch. At most MAX_UNSENT bulk mails wait in the outbox, so that a
withdrawal can still stop most of a long announcement.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse

from apps.announcements.audience import KIND, list_reached_members
from apps.announcements.models import Announcement, AnnouncementRecipient
from apps.lib.email_address import lower_ascii
from apps.mail.bulk_mail import BulkMail, write_bulk_mails
from apps.mail.selectors import count_unsent_bulk_mails
from apps.mail.services import is_address
from apps.mail.unsubscribing import list_unsubscribed_addresses
from apps.members.models import Member

MAX_UNSENT: Final = 250  # bulk mails in the outbox that were not tried yet
TEMPLATE: Final = "announcement"
Delivery = AnnouncementRecipient.Delivery


def write_pending_mails(now: datetime) -> int:
    """Write the next mails of each announcement that is shown. Return how many. Any number of workers may do so at once."""
    waiting = AnnouncementRecipient.objects.filter(announcement=OuterRef("pk"), delivery=Delivery.WAITING)
    begun = Announcement.objects.filter(Exists(waiting), shown_from__lte=now).order_by("shown_from", "pk")
    return sum(_write_batch(pk, now) for pk in begun.values_list("pk", flat=True))


def reach_newcomers(now: datetime) -> int:
    """Show announcements also to members who came to fit their audience after publication. Return how many. They get no mail."""
    shown = Announcement.objects.filter(state=Announcement.State.PUBLISHED, shown_from__lte=now, shown_until__gt=now)
    return sum(_reach_newcomers(row) for row in shown.order_by("pk"))


def _reach_newcomers(row: Announcement) -> int:
    known = AnnouncementRecipient.objects.filter(announcement=row, member=OuterRef("pk"))
    fresh = list_reached_members(row).exclude(Exists(known)).values_list("pk", flat=True)
    rows = [AnnouncementRecipient(announcement=row, member_id=pk, delivery=Delivery.PAGE) for pk in fresh]
    AnnouncementRecipient.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


@transaction.atomic
def _write_batch(pk: int, now: datetime) -> int:
    row = Announcement.objects.select_for_update(skip_locked=True, no_key=True).filter(pk=pk, state=Announcement.State.PUBLISHED).first()
    if row is None:
        return 0
    waiting = row.recipients.filter(delivery=Delivery.WAITING).order_by("pk")
    if row.is_over(now):
        waiting.update(delivery=Delivery.STOPPED)
        return 0
    due = list(waiting.select_related("member")[: max(MAX_UNSENT - count_unsent_bulk_mails(), 0)])
    _write_mails(row, due)
    return sum(each.delivery == Delivery.WRITTEN for each in due)


def _write_mails(row: Announcement, due: Sequence[AnnouncementRecipient]) -> None:
    """Write the mails of these recipients, as far as they get one, and save what became of each."""
    if not due:
        return
    _decide_deliveries(due)
    written = [each for each in due if each.delivery == Delivery.WRITTEN]
    known = write_bulk_mails([_build_mail(row, each.member) for each in written], template=TEMPLATE, notice=KIND)
    for each in written:
        each.message_id = known[_build_key(row, each.member)]
    AnnouncementRecipient.objects.bulk_update(due, ["delivery", "message"])


def _decide_deliveries(recipients: Sequence[AnnouncementRecipient]) -> None:
    """Set what becomes of each mail, by the member as they are now."""
    off = list_unsubscribed_addresses((each.member.email for each in recipients), KIND)
    for each in recipients:
        each.delivery = _decide_delivery(each.member, off)


def _decide_delivery(member: Member, off: set[str]) -> AnnouncementRecipient.Delivery:
    if member.state != Member.State.ACTIVE:
        return Delivery.LEFT
    if not is_address(member.email):
        return Delivery.NO_ADDRESS
    return Delivery.UNWANTED if lower_ascii(member.email) in off else Delivery.WRITTEN


def _build_key(row: Announcement, member: Member) -> str:
    return f"announcement {row.pk} {member.pk}"


def _build_mail(row: Announcement, member: Member) -> BulkMail:
    words = row.choose_words(member.language)
    return BulkMail(
        to=member.email,
        language=member.language,
        context={
            "title": words.title,
            "text": words.text,
            "text_language": words.language,
            "url": f"{settings.PORTAL_URL}{reverse('own:announcements')}",
        },
        about=member,
        key=_build_key(row, member),
    )

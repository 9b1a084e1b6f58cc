"""Health of incoming mail: since when the mailbox fails, and which mail has waited too long to be read.

Each run of the fetcher updates one row; a successful one ends the outage. Mail servers that deliver by LMTP or a pipe keep mail that is
not accepted, and report it in their own logs: the portal cannot know of it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Min, Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.inbound_mail.imap_mailbox import find_mailbox
from apps.inbound_mail.models import Arrival, Mailbox
from apps.lib.web.request_cache import cache_per_request

LATE: Final = timedelta(minutes=10)  # the mailbox is fetched each minute, and mail is read right after


@dataclass(frozen=True)
class MailboxOutage:
    """An outage of the mailbox. succeeded: its last successful run, None for never; error: its last error, "" if no worker fetches it."""

    place: str
    since: datetime
    succeeded: datetime | None
    error: str


@dataclass(frozen=True)
class OverdueMail:
    """Mail that waits to be read: how many, and since when."""

    number: int
    since: datetime


def record_mailbox_run(*, place: str, error: str, now: datetime) -> None:
    """Record a run of the fetcher; error: why it failed, "" if it succeeded."""
    well = {"failing": None, "error": "", "succeeded": now}
    ill = {"failing": Coalesce("failing", Value(now)), "error": error[:500]}
    there = Mailbox.objects.filter(pk=1, place=place)
    if not there.update(tried=now, **(ill if error else well)):
        fresh = {"failing": now, "error": error[:500]} if error else well
        Mailbox.objects.update_or_create(pk=1, defaults={"place": place, "tried": now, "succeeded": None} | fresh)


def find_mailbox_outage(now: datetime) -> MailboxOutage | None:
    """Return the outage of the configured mailbox, if it has failed, or was not fetched, for LATE. Shorter failures do not count, and a
    mailbox that no worker has tried yet has none.
    """
    try:
        box = find_mailbox()
    except ValueError:
        return None
    row = Mailbox.objects.filter(place=str(box)).first() if box else None
    if row is None:
        return None
    if row.failing and row.failing <= now - LATE:
        return MailboxOutage(row.place, row.failing, row.succeeded, row.error)
    return MailboxOutage(row.place, row.tried, row.succeeded, "") if row.tried <= now - LATE else None


def find_overdue_mail() -> OverdueMail | None:
    """Return the mail that arrived more than LATE ago and still waits; None if there is none."""
    found = count_pressing()
    return OverdueMail(found["late"], found["since"]) if found["late"] else None


@cache_per_request
def count_pressing() -> dict[str, Any]:
    """Count in one query. quarantined: mails in quarantine; late, since: mails that have waited too long, and the oldest's arrival."""
    late = Q(state=Arrival.State.WAITING, arrived__lte=timezone.now() - LATE)
    of_both = Arrival.objects.order_by().filter(state__in=(Arrival.State.QUARANTINED, Arrival.State.WAITING))
    quarantined = Count("pk", filter=Q(state=Arrival.State.QUARANTINED))
    return of_both.aggregate(quarantined=quarantined, late=Count("pk", filter=late), since=Min("arrived", filter=late))

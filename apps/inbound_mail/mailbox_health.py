"""Health of incoming mail: since when the mailbox fails, and which mail has waited too long to be read.

Each run of the fetcher updates one row; a successful one ends the outage. Mail servers that deliver by LMTP or a pipe keep mail that is
not accepted, and report it in their own logs: the portal cannot know of it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Min, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Now

from apps.inbound_mail.imap_mailbox import find_mailbox
from apps.inbound_mail.models import Arrival, Mailbox
from apps.lib.web.frame_reads import read_with_frame

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


def count_pressing() -> dict[str, Any]:
    """Count in one query. quarantined: mails in quarantine; late, since: mails that have waited too long, and the oldest's arrival."""
    found = {state: (number, late, since) for state, number, late, since in _count_by_state()}
    quarantined, _late, _since = found.get(Arrival.State.QUARANTINED, (0, 0, None))
    _waiting, late, since = found.get(Arrival.State.WAITING, (0, 0, None))
    return {"quarantined": quarantined, "late": late, "since": since}


@read_with_frame
def _count_by_state() -> QuerySet[Arrival, tuple[str, int, int, datetime | None]]:
    """Return for each state: how many, how many of them arrived LATE ago, and when the first did."""
    late = Q(arrived__lte=Now() - LATE)
    of_both = Arrival.objects.order_by().filter(state__in=(Arrival.State.QUARANTINED, Arrival.State.WAITING))
    return of_both.values_list("state").annotate(Count("pk"), late=Count("pk", filter=late), since=Min("arrived", filter=late))

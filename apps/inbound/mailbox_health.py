"""Whether mail comes in: since when the mailbox does not answer, and what has been waiting too long for being read.

Each look at the mailbox writes one row; one that succeeds ends the outage. Whoever brings mail by LMTP or a pipe keeps it while nobody
takes it, and says so in a log of its own: nobody here can know.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Min, Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.inbound.imap import find_mailbox
from apps.inbound.models import Arrival, Mailbox
from apps.lib.web.request_cache import cache_per_request

LATE: Final = timedelta(minutes=10)  # it is looked at each minute, and read right after


@dataclass(frozen=True)
class Outage:
    """The mailbox has not been fetched since. succeeded: when it was last, None for never; error: what it said, "" when nobody looks."""

    place: str
    since: datetime
    succeeded: datetime | None
    error: str


@dataclass(frozen=True)
class UnreadMail:
    """Mail that waits to be read: how many, since when."""

    number: int
    since: datetime


def record_look(*, place: str, error: str, now: datetime) -> None:
    """The mailbox was looked at; error: why in vain, "" when it was not."""
    well = {"failing": None, "error": "", "succeeded": now}
    ill = {"failing": Coalesce("failing", Value(now)), "error": error[:500]}
    there = Mailbox.objects.filter(pk=1, place=place)
    if not there.update(tried=now, **(ill if error else well)):
        fresh = {"failing": now, "error": error[:500]} if error else well
        Mailbox.objects.update_or_create(pk=1, defaults={"place": place, "tried": now, "succeeded": None} | fresh)


def find_outage(now: datetime) -> Outage | None:
    """Of the mailbox of the settings: it fails, or nobody has looked for LATE. One that failed for a shorter time is none yet."""
    try:
        box = find_mailbox()
    except ValueError:
        return None
    row = Mailbox.objects.filter(place=str(box)).first() if box else None
    if row is None:
        return None
    if row.failing and row.failing <= now - LATE:
        return Outage(row.place, row.failing, row.succeeded, row.error)
    return Outage(row.place, row.tried, row.succeeded, "") if row.tried <= now - LATE else None


def find_unread() -> UnreadMail | None:
    """What arrived more than LATE ago and nobody has read."""
    found = count_pressing()
    return UnreadMail(found["late"], found["since"]) if found["late"] else None


@cache_per_request
def count_pressing() -> dict[str, Any]:
    """quarantined: how many wait for somebody's look; late, since: what waits too long for being read. One question to the database."""
    late = Q(state=Arrival.State.WAITING, arrived__lte=timezone.now() - LATE)
    of_both = Arrival.objects.order_by().filter(state__in=(Arrival.State.QUARANTINED, Arrival.State.WAITING))
    quarantined = Count("pk", filter=Q(state=Arrival.State.QUARANTINED))
    return of_both.aggregate(quarantined=quarantined, late=Count("pk", filter=late), since=Min("arrived", filter=late))

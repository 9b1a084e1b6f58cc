"""While the mail server takes nothing, nobody's mail is tried: the server is, after 5 s, then twice as long each time, up to a minute."""

from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db.models import F

from apps.mail.models import ServerAway

FIRST, LONGEST = timedelta(seconds=5), timedelta(minutes=1)
DOUBLINGS: Final = 5
log = structlog.get_logger()


def find_outage() -> ServerAway | None:
    """Since when it takes nothing, and why; None while it does, or nobody has tried."""
    return ServerAway.objects.first()


def find_next_try(now: datetime) -> datetime | None:
    """When it is tried next; None: it may be tried now."""
    return ServerAway.objects.filter(next_try__gt=now).values_list("next_try", flat=True).first()


def record_failure(why: str, now: datetime) -> None:
    """It was tried in vain."""
    fresh = {"since": now, "next_try": now + FIRST, "error": why[:500]}
    there, made = ServerAway.objects.get_or_create(pk=1, defaults=fresh)
    if made:
        log.warning("mail server away", error=why)
        return
    wait = min(FIRST * 2 ** min(there.failures, DOUBLINGS), LONGEST)
    ServerAway.objects.filter(pk=1).update(failures=F("failures") + 1, next_try=now + wait, error=why[:500])


def record_success() -> None:
    """It answers again."""
    if ServerAway.objects.all().delete()[0]:
        log.warning("mail server back")

"""Circuit breaker for the mail server: while it accepts nothing, no mail is tried.

The server itself is tried again after 5 s, then after twice as long each time, up to a minute.
"""

from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db.models import F

from apps.mail.models import ServerAway

FIRST, LONGEST = timedelta(seconds=5), timedelta(minutes=1)
DOUBLINGS: Final = 5
log = structlog.get_logger()


def find_mail_server_outage() -> ServerAway | None:
    """Return since when the server accepts nothing, and why; None while it does, or before the first try."""
    return ServerAway.objects.first()


def find_next_server_try(now: datetime) -> datetime | None:
    """Return when the server is tried next; None if it may be tried now, as after a try from while the clock was ahead."""
    return ServerAway.objects.filter(next_try__gt=now, next_try__lte=now + 2 * LONGEST).values_list("next_try", flat=True).first()


def record_failure(why: str, now: datetime) -> None:
    """Record a failed try, and compute when the next one is due."""
    fresh = {"since": now, "next_try": now + FIRST, "error": why[:500]}
    there, made = ServerAway.objects.get_or_create(pk=1, defaults=fresh)
    if made:
        log.warning("mail server away", error=why)
        return
    wait = min(FIRST * 2 ** min(there.failures, DOUBLINGS), LONGEST)
    ServerAway.objects.filter(pk=1).update(failures=F("failures") + 1, next_try=now + wait, error=why[:500])


def record_success() -> None:
    """Record that the server answers again."""
    if ServerAway.objects.all().delete()[0]:
        log.warning("mail server back")

"""What was taken is erased here some days later: whoever took it keeps what it needs. What is in quarantine stays until somebody looks."""

from datetime import datetime, timedelta
from typing import Final

from apps.inbound.models import Arrival

AT_ONCE: Final = 1000


def erase_old(now: datetime, days: int) -> int:
    """Erase the octets of mails that were taken so long ago; how many. In pieces, so that nobody waits for long."""
    erased = 0
    while found := _piece(now - timedelta(days=days)):
        erased += found
    return erased


def _piece(before: datetime) -> int:
    old = Arrival.objects.filter(state=Arrival.State.TAKEN, ended__lt=before, octets__isnull=False).order_by("ended").values("pk")
    return Arrival.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:AT_ONCE])).update(octets=None)

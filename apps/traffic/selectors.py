"""Reading how much members forwarded."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Min, Sum

from apps.members.models import Member
from apps.traffic.models import Tally


@dataclass(frozen=True, slots=True)
class Total:
    """Octets from and to a member over all gateways and all his holdings, since counting began; and when it last grew."""

    up: int
    down: int
    since: datetime | None
    last: datetime | None


def total_of(member: Member) -> Total:
    """What the member forwarded so far, in one query."""
    found = Tally.objects.filter(holding__member=member).aggregate(
        up=Sum("up_octets"), down=Sum("down_octets"), since=Min("since"), last=Max("last")
    )
    return Total(found["up"] or 0, found["down"] or 0, found["since"], found["last"])

"""Reading how full uplinks are, who takes how much, and how each group shares."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Q, QuerySet, Sum
from django.utils.translation import gettext as _

from apps.lib.database.validity import holds_now
from apps.lib.ui import formats
from apps.network.models import GatewayGroup, Holding
from apps.traffic.fairshare.fair_share_policy import UplinkDirection, UplinkTalker
from apps.traffic.fairshare.models import FairShare
from apps.traffic.models import Collected, Level
from apps.traffic.rates.models import RateLimit
from apps.traffic.rates.selectors import get_uplink
from apps.traffic.rollup import compute_bucket_start
from apps.traffic.usage_writer import PAUSE

WAYS: Final = ("up", "down")
# A rule's limits have an end; one without is a person's whose account is gone
_BY_RULE: Final = Q(reason=RateLimit.Reason.CONGESTION, author=None, valid__upper_inf=False)
_TALKERS: Final = """
    SELECT m.id, sum(u.{way}_octets), sum(sum(u.{way}_octets)) OVER (),
        m.tariff_id = ANY(%(exempt)s) OR m.state = 'left' OR m.id = ANY(%(other)s)
    FROM traffic_fiveminutes u JOIN network_holding h ON h.id = u.holding_id JOIN members_member m ON m.id = h.member_id
    WHERE u.bucket >= %(since)s AND h.group_id = %(group)s GROUP BY m.id ORDER BY 4, 2 DESC, 1 LIMIT %(most)s
"""


@dataclass(frozen=True)
class UplinkLoad:
    """One direction of an uplink now, bit/s. capacity: None when nobody has said it."""

    way: str
    carried: int
    capacity: int | None

    @property
    def words(self) -> str:
        """“down 9.6 Mbit/s of 10 Mbit/s”."""
        facts = {
            "carried": formats.format_rate(self.carried),
            "capacity": formats.format_rate(self.capacity) if self.capacity else _("nobody knows how much"),
        }
        return (_("down %(carried)s of %(capacity)s") if self.way == "down" else _("up %(carried)s of %(capacity)s")) % facts


def list_loads(group: GatewayGroup, now: datetime) -> list[UplinkLoad]:
    """What the group's gateways carried together between their last two readings; nothing when none was read in the last minutes."""
    read = Collected.objects.filter(gateway__group=group, at__gt=now - PAUSE, at__lte=now + PAUSE)
    carried = read.aggregate(up=Sum("up_bits"), down=Sum("down_bits"))
    uplink = get_uplink(group)
    kbits = {"up": uplink.up_kbit, "down": uplink.down_kbit}
    return [UplinkLoad(way, carried[way], kbit and kbit * 1000) for way, kbit in kbits.items() if carried[way] is not None]


def map_directions(share: FairShare, now: datetime) -> dict[str, UplinkDirection]:
    """The directions that can be full and are limited then; none where nobody's rate is limited."""
    if not get_uplink(share.group).limits_rates:
        return {}
    rates = {"up": share.up_bits, "down": share.down_bits}
    return {
        each.way: UplinkDirection(each.carried, each.capacity, rate)
        for each in list_loads(share.group, now)
        if each.capacity and (rate := rates[each.way])
    }


def list_congestion_limits(group: GatewayGroup) -> QuerySet[RateLimit]:
    """Limits of the group's members that hold now because its uplink is full."""
    held = Holding.objects.filter(holds_now(), group=group).values("member")
    return RateLimit.objects.filter(_BY_RULE, holds_now(), member__in=held)


def list_talkers(share: FairShare, way: str, now: datetime, limited: Collection[int]) -> tuple[list[UplinkTalker], int]:
    """Those of the last minutes who may be limited, the heaviest first, no more than matter; and the octets of all."""
    others = RateLimit.objects.filter(~_BY_RULE, holds_now())
    given: dict[str, Any] = {
        "exempt": list(share.exempt.values_list("pk", flat=True)),
        "other": list(others.values_list("member", flat=True)),
        "since": compute_bucket_start(Level.Name.FIVE_MINUTES, now - timedelta(minutes=share.minutes)),
        "group": share.group_id,
        "most": share.most + len(limited),
    }
    with connection.cursor() as cursor:
        cursor.execute(_TALKERS.format(way=way), given)
        rows = cursor.fetchall()
    return [UplinkTalker(member, int(octets)) for member, octets, _total, out in rows if not out], int(rows[0][2]) if rows else 0


def get_fair_share(group: GatewayGroup) -> FairShare:
    """The group's row; where it has none, one that is not saved, of version 0 and switched off."""
    return FairShare.objects.filter(group=group).first() or FairShare(group=group, version=0)


@dataclass(frozen=True)
class FairShareStatus:
    """A group's fair share as the list of limits tells it: how full each direction is, and who is limited for that."""

    share: FairShare
    loads: list[UplinkLoad]
    members: int

    @property
    def blind(self) -> bool:
        """Has nobody said what the uplink carries?"""
        uplink = get_uplink(self.share.group)
        return not (uplink.up_kbit or uplink.down_kbit)


def list_fair_share_statuses(now: datetime) -> list[FairShareStatus]:
    """One for each group."""
    found = [get_fair_share(group) for group in GatewayGroup.objects.order_by("name")]
    return [
        FairShareStatus(each, list_loads(each.group, now) if each.on else [], list_congestion_limits(each.group).count() if each.on else 0)
        for each in found
    ]

"""Queries for fair share: loads of uplinks, members by recent usage, and each group's settings and status."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Q, QuerySet, Sum
from django.utils.translation import gettext as _

from apps.lib.database.validity import is_valid_now
from apps.lib.ui import formats
from apps.network.models import GatewayGroup, Holding
from apps.traffic.fairshare.fair_share_policy import UplinkDirectionLoad, UplinkTalker
from apps.traffic.fairshare.models import FairShare
from apps.traffic.models import Collected, Level
from apps.traffic.rates.models import RateLimit
from apps.traffic.rates.selectors import get_uplink
from apps.traffic.rollup import compute_bucket_start
from apps.traffic.usage_writer import PAUSE

WAYS: Final = ("up", "down")
# A rule's limits have an end; a limit without author and end was made by a person with a deleted account
_BY_RULE: Final = Q(reason=RateLimit.Reason.CONGESTION, author=None, valid__upper_inf=False)
_TALKERS: Final = """
    SELECT m.id, sum(u.{way}_octets), sum(sum(u.{way}_octets)) OVER (),
        m.tariff_id = ANY(%(exempt)s) OR m.state = 'left' OR m.id = ANY(%(other)s)
    FROM traffic_fiveminutes u JOIN network_holding h ON h.id = u.holding_id JOIN members_member m ON m.id = h.member_id
    WHERE u.bucket >= %(since)s AND h.group_id = %(group)s GROUP BY m.id ORDER BY 4, 2 DESC, 1 LIMIT %(most)s
"""


@dataclass(frozen=True)
class UplinkLoad:
    """Present load of one direction of an uplink, in bit/s. capacity: None when it is not set."""

    direction: str
    carried: int
    capacity: int | None

    @property
    def words(self) -> str:
        """Text like “down 9.6 Mbit/s of 10 Mbit/s”."""
        facts = {
            "carried": formats.format_rate(self.carried),
            "capacity": formats.format_rate(self.capacity) if self.capacity else _("an unknown rate"),
        }
        return (_("down %(carried)s of %(capacity)s") if self.direction == "down" else _("up %(carried)s of %(capacity)s")) % facts


def list_uplink_loads(group: GatewayGroup, now: datetime) -> list[UplinkLoad]:
    """Return what the group's gateways together carried lately, by direction.

    A gateway that does not answer is left out. An empty list when none answers, or none was read in the last five minutes.
    """
    read = Collected.objects.filter(gateway__group=group, gateway__retired=None, at__gt=now - PAUSE, at__lte=now + PAUSE)
    carried = read.aggregate(up=Sum("up_bits"), down=Sum("down_bits"))
    uplink = get_uplink(group)
    kbits = {"up": uplink.up_kbit, "down": uplink.down_kbit}
    return [UplinkLoad(way, carried[way], kbit and kbit * 1000) for way, kbit in kbits.items() if carried[way] is not None]


def map_loads_by_direction(share: FairShare, now: datetime) -> dict[str, UplinkDirectionLoad]:
    """Return the directions with a known load, a capacity and a rate for fair share; none where rate limits are switched off."""
    if not get_uplink(share.group).limits_rates:
        return {}
    rates = {"up": share.up_bits, "down": share.down_bits}
    return {
        each.direction: UplinkDirectionLoad(each.carried, each.capacity, rate)
        for each in list_uplink_loads(share.group, now)
        if each.capacity and (rate := rates[each.direction])
    }


def list_congestion_limits(group: GatewayGroup) -> QuerySet[RateLimit]:
    """Return the rate limits of the group's members that hold now because its uplink is full."""
    held = Holding.objects.filter(is_valid_now(), group=group).values("member")
    return RateLimit.objects.filter(_BY_RULE, is_valid_now(), member__in=held)


def list_releasable_limits(group: GatewayGroup) -> QuerySet[RateLimit]:
    """Return those of the group's limits because of a full uplink that it can release: of members who are in no other full group."""
    full = FairShare.objects.filter(on=True, since__isnull=False).exclude(group=group)
    held_elsewhere = Holding.objects.filter(is_valid_now(), group__in=full.values("group")).values("member")
    return list_congestion_limits(group).exclude(member__in=held_elsewhere)


def list_talkers(share: FairShare, way: str, now: datetime, limited: Collection[int]) -> tuple[list[UplinkTalker], int]:
    """Return the heaviest members of the last minutes who may be limited, as many as matter, and the octets of all members."""
    others = RateLimit.objects.filter(~_BY_RULE, is_valid_now())
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
    """Return the group's fair share; where it has none, an unsaved one of version 0 that is switched off."""
    return FairShare.objects.filter(group=group).first() or FairShare(group=group, version=0)


@dataclass(frozen=True)
class FairShareStatus:
    """Status of a group's fair share for the list of limits: its load by direction, and the number of members limited for it."""

    share: FairShare
    loads: list[UplinkLoad]
    members: int

    @property
    def is_capacity_unknown(self) -> bool:
        """True if the uplink has no capacity set."""
        uplink = get_uplink(self.share.group)
        return not (uplink.up_kbit or uplink.down_kbit)


def list_fair_share_statuses(now: datetime) -> list[FairShareStatus]:
    """Return the status of each group, by its name."""
    found = [get_fair_share(group) for group in GatewayGroup.objects.order_by("name")]
    return [
        FairShareStatus(
            each, list_uplink_loads(each.group, now) if each.on else [], list_congestion_limits(each.group).count() if each.on else 0
        )
        for each in found
    ]

"""Families that members have lost: no gateway of a live group carries them, for longer than a takeover takes.

A family that was never carried is being set up, and not lost. Reads what was reported last; asks no gateway.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.gateways.failover_files import find_failover
from apps.gateways.roles.models import CarrierChange, GatewayRole
from apps.gateways.roles.picture import Deviation, FamilyPicture, map_family_pictures
from apps.gateways.roles.problems import SILENT
from apps.gateways.roles.takeovers import ADVERTISEMENTS, ORPHANED
from apps.network.models import Failover, GatewayGroup


@dataclass(frozen=True)
class LostFamily:
    """A family that no gateway of the group carries. seen: when a gateway said so last."""

    group: GatewayGroup
    family: int
    seen: datetime

    def is_current(self, now: datetime) -> bool:
        """True if a gateway said so lately. Without an answer since then, another one may carry it again."""
        return now - self.seen <= SILENT


def list_lost_families() -> list[LostFamily]:
    """Return the lost families of all groups. One query while each family is carried."""
    pictures = [each for each in map_family_pictures().values() if each.deviation is Deviation.NOBODY]
    found = [(picture, picture.roles[0].status.gateway.group) for picture in pictures]
    return [LostFamily(group, picture.family, max(_list_times(picture.roles))) for picture, group in found if _is_lost(picture, group)]


def _is_lost(picture: FamilyPicture, group: GatewayGroup) -> bool:
    """True if each gateway that answers has said so again after the time in which another one would have taken over."""
    last = CarrierChange.objects.filter(group=group, family=picture.family).order_by("-id").first()
    settings = find_failover(group.pk)
    if not (group.live_since and settings and last) or last.carriers or last.cause == CarrierChange.Cause.FIRST:
        return False
    answering = [each for each in picture.roles if not each.status.problem]
    return min(_list_times(answering or picture.roles), default=last.at) - last.at > _compute_longest_takeover(settings)


def _list_times(roles: Sequence[GatewayRole]) -> list[datetime]:
    """Return when each gateway told its role."""
    return [each.status.seen for each in roles if each.status.seen]


def _compute_longest_takeover(settings: Failover) -> timedelta:
    """Return how long no gateway carries a family if the only one that can take over is drained."""
    return timedelta(seconds=ADVERTISEMENTS * settings.interval / 100 + ORPHANED)

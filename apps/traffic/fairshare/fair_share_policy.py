"""Policy of fair share: decides when an uplink is full and which members to limit. Pure: no clock and no database.

Rates are in bit/s, shares are parts of 1. Between `end` and `start` nothing changes; the uplink is no longer full only after a time
below `end`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class FairShareRules:
    """Rules of one group: its uplink is full from the share `start` on, until it was below `end` for `calm`; while it is full, at most
    `most` members are limited.
    """

    start: float
    end: float
    calm: timedelta
    most: int

    def __post_init__(self) -> None:
        if not 0 < self.end < self.start or self.most < 1 or self.calm < timedelta(0):
            raise ValueError(f"not valid rules for fair share: {self}")


@dataclass(frozen=True, slots=True)
class CongestionState:
    """State of an uplink. since: when it became full, None when it is not; calm_since: since when it has been below `end` again."""

    since: datetime | None = None
    calm_since: datetime | None = None

    @property
    def is_full(self) -> bool:
        return self.since is not None


class UplinkDirectionLoad(NamedTuple):
    """One direction of an uplink, in bit/s: its load now, its capacity, and the rate to which one member would be limited."""

    carried: float
    capacity: float
    rate: float

    @property
    def share(self) -> float:
        return self.carried / self.capacity


class UplinkTalker(NamedTuple):
    """A member, and their octets of the last minutes in one direction."""

    member: int
    octets: int


def advance_state(rules: FairShareRules, state: CongestionState, ways: Collection[UplinkDirectionLoad], now: datetime) -> CongestionState:
    """Return the state after this check. Without ways, when the load is unknown, the state stays as it was."""
    if not ways:
        return state
    share = max(way.share for way in ways)
    if not state.is_full:
        return CongestionState(now) if share >= rules.start else CongestionState()
    if share >= rules.end:
        return CongestionState(state.since)
    calm_since = min(state.calm_since or now, now)  # the clock may have been ahead then
    return CongestionState() if now - calm_since >= rules.calm else CongestionState(state.since, calm_since)


def choose_heaviest(
    rules: FairShareRules, way: UplinkDirectionLoad, talkers: Sequence[UplinkTalker], total: int, limited: Collection[int]
) -> list[int]:
    """Return the members to limit in addition to `limited`, the heaviest first, until enough is freed or `most` members are limited.

    talkers: members who may be limited; total: octets of all members in these minutes. A member's rate now is estimated as their part
    of that total, because the usage covers minutes and the load a moment. Limiting a member below the rate would free nothing. Of equal
    members, the one with the lowest id comes first.
    """
    if way.share < rules.start or total <= 0:
        return []
    need, room = way.carried - rules.end * way.capacity, rules.most - len(limited)
    found: list[int] = []
    for talker in sorted(talkers, key=lambda each: (-each.octets, each.member)):
        freed = way.carried * talker.octets / total - way.rate
        if need <= 0 or len(found) >= room or freed <= 0:
            break
        if talker.member not in limited:
            found.append(talker.member)
            need -= freed
    return found

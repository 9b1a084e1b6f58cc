"""The dynamic sets behind a group's limits: who opens how many connections, filled by the kernel and bounded in size and time.

An element keeps the rate it was made with, so a set is named after its numbers: another limit is another set.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from firewall.policy import ConnectionLimits, PolicyError
from firewall.ruleset import Per, Set, Type

SIZE = 1 << 16
LIVES = 300  # seconds; a bucket that is not touched for so long is full again, see `_check`
MOST_RATE, MOST_BURST, MOST_OPEN = 100_000, 100_000, 1_000_000


class LimitKind(StrEnum):
    """What is limited; also the beginning of its sets' names, and the end of its counter's."""

    MEMBER_RATE = "member_rate"
    MEMBER_OPEN = "member_open"
    SOURCE_RATE = "source_rate"
    SOURCE_OPEN = "source_open"
    MAIL = "mail_rate"

    @property
    def counter(self) -> str:
        """The named counter of what was over."""
        return f"over_{self.value}"


@dataclass(frozen=True, slots=True)
class LimitMeter:
    """One limit that is on. burst, per: of rates alone; `per` is None where connections are counted that are open."""

    limited: LimitKind
    most: int
    burst: int = 0
    per: Per | None = None

    def set(self, version: int) -> str:
        """The name of its set of one address family: "member_rate4_50_100"."""
        return "_".join(map(str, (f"{self.limited}{version}", self.most, *((self.burst,) if self.per else ()))))


def list_meters(limits: ConnectionLimits) -> tuple[LimitMeter, ...]:
    """The limits that are on. Raises PolicyError where one is out of range."""
    found = tuple(meter for meter in _iter_meters(limits) if meter.most)
    for meter in found:
        _check(meter)
    return found


def _iter_meters(limits: ConnectionLimits) -> Iterator[LimitMeter]:
    yield LimitMeter(LimitKind.MEMBER_RATE, limits.member_rate, limits.member_burst, Per.SECOND)
    yield LimitMeter(LimitKind.MEMBER_OPEN, limits.member_open)
    yield LimitMeter(LimitKind.SOURCE_RATE, limits.source_rate, limits.source_burst, Per.SECOND)
    yield LimitMeter(LimitKind.SOURCE_OPEN, limits.source_open)
    yield LimitMeter(LimitKind.MAIL, limits.mail_rate, limits.mail_rate, Per.MINUTE)


def _check(meter: LimitMeter) -> None:
    """An element must live until its bucket has filled again, or whoever waits for that would be better off than by the limit."""
    seconds = meter.most * LIVES if meter.per is Per.SECOND else meter.most * LIVES // 60
    if not 0 < meter.most <= (MOST_RATE if meter.per else MOST_OPEN):
        raise PolicyError(f"limit {meter.limited}: {meter.most} is out of range")
    if meter.per and not 0 < meter.burst <= min(MOST_BURST, seconds):
        raise PolicyError(f"limit {meter.limited}: a burst of {meter.burst} is not between 1 and what comes in {LIVES} s, {seconds}")


def build_sets(limits: ConnectionLimits) -> dict[str, Set]:
    """The dynamic sets of the limits that are on, by name."""
    found = {}
    for meter in list_meters(limits):
        for version, kind in ((4, Type.IPV4), (6, Type.IPV6)):
            name = meter.set(version)
            found[name] = Set(name, (kind,), SIZE, dynamic=True, lives=LIVES if meter.per else 0)
    return found


def find_limit(name: str) -> LimitKind | None:
    """What the set of this name limits; None if it is none of ours."""
    start = name.partition("_")[0] + "_" + name.partition("_")[2].partition("_")[0]
    return next((each for each in LimitKind if start in (f"{each}4", f"{each}6")), None)

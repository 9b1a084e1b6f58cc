"""The dynamic sets behind a group's connection limits: one element per source, filled by the kernel, bounded in size and time.

An element keeps the rate it was made with, so a set is named after its numbers: another limit is another set.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from firewall.policy import LEAST_SAMPLED, ConnectionLimits, PolicyError
from firewall.ruleset import Per, Set, Type

SIZE = 1 << 16
LIVES = 300  # seconds; a bucket that no packet touches for so long is full again, see `_check`
ONE_OF = 16
"""Of so many open connections one is counted where counts are sampled: the limit then holds within -17 to +25 % (docs/rates.md)."""
_OVER_SUFFIX = "_over"
OVER = 10  # seconds for which a source that is over a sampled limit opens nothing
MOST_RATE, MOST_BURST, MOST_OPEN = 100_000, 100_000, 1_000_000


class LimitKind(StrEnum):
    """Kinds of limits; the value is also the beginning of its sets' names, and the end of its counter's."""

    MEMBER_RATE = "member_rate"
    MEMBER_OPEN = "member_open"
    SOURCE_RATE = "source_rate"
    SOURCE_OPEN = "source_open"
    MAIL = "mail_rate"

    @property
    def counter(self) -> str:
        """Name of the counter of packets over the limit."""
        return f"over_{self.value}"


@dataclass(frozen=True, slots=True)
class LimitMeter:
    """One limit that is on. burst, per: only for rates; `per` is None for a limit on open connections, of which one_of is counted."""

    limited: LimitKind
    most: int
    burst: int = 0
    per: Per | None = None
    one_of: int = 1

    def get_set_name(self, version: int) -> str:
        """Return the name of the limit's set for an IP version: "member_rate4_50_100"."""
        numbers = (self.most, *((self.burst,) if self.per else ()), *((self.one_of,) if self.one_of > 1 else ()))
        return "_".join(map(str, (f"{self.limited}{version}", *numbers)))

    def get_over_set_name(self, version: int) -> str:
        """Return the name of the set of those who are over a limit that is sampled."""
        return f"{self.get_set_name(version)}{_OVER_SUFFIX}"


def list_meters(limits: ConnectionLimits) -> tuple[LimitMeter, ...]:
    """Return the limits that are on. Raises PolicyError when one is out of range."""
    found = tuple(meter for meter in _iter_meters(limits) if meter.most)
    for meter in found:
        _check(meter)
    return found


def _iter_meters(limits: ConnectionLimits) -> Iterator[LimitMeter]:
    yield LimitMeter(LimitKind.MEMBER_RATE, limits.member_rate, limits.member_burst, Per.SECOND)
    yield LimitMeter(LimitKind.MEMBER_OPEN, limits.member_open, one_of=_choose_sample(limits.sampled, limits.member_open))
    yield LimitMeter(LimitKind.SOURCE_RATE, limits.source_rate, limits.source_burst, Per.SECOND)
    yield LimitMeter(LimitKind.SOURCE_OPEN, limits.source_open, one_of=_choose_sample(limits.sampled, limits.source_open))
    yield LimitMeter(LimitKind.MAIL, limits.mail_rate, limits.mail_rate, Per.MINUTE)


def _choose_sample(sampled: bool, most: int) -> int:
    """Return of how many connections one is counted. A small limit has too few counted ones to be about right, and costs little."""
    return ONE_OF if sampled and most >= LEAST_SAMPLED else 1


def _check(meter: LimitMeter) -> None:
    """Raise PolicyError when the limit is out of range.

    An element must live until its bucket has filled again; otherwise a sender that waits for the element's end would get more than
    the limit.
    """
    seconds = meter.most * LIVES if meter.per is Per.SECOND else meter.most * LIVES // 60
    if not 0 < meter.most <= (MOST_RATE if meter.per else MOST_OPEN):
        raise PolicyError(f"limit {meter.limited}: {meter.most} is out of range")
    if meter.per and not 0 < meter.burst <= min(MOST_BURST, seconds):
        raise PolicyError(f"limit {meter.limited}: a burst of {meter.burst} is not between 1 and {LIVES} s at this rate, {seconds}")


def build_limit_sets(limits: ConnectionLimits) -> dict[str, Set]:
    """Return the dynamic sets of the limits that are on, by name."""
    found = {}
    for meter in list_meters(limits):
        for version, kind in ((4, Type.IPV4), (6, Type.IPV6)):
            name = meter.get_set_name(version)
            found[name] = Set(name, (kind,), SIZE, dynamic=True, lives=LIVES if meter.per else 0)
            if meter.one_of > 1:
                over = meter.get_over_set_name(version)
                found[over] = Set(over, (kind,), SIZE, dynamic=True, lives=OVER)
    return found


def is_over_set(name: str) -> bool:
    """True if the set has those who are over a sampled limit."""
    return name.endswith(_OVER_SUFFIX)


def find_limit_kind_of_set(name: str) -> LimitKind | None:
    """Return the kind of limit that the set of this name belongs to; None if it is not one of ours."""
    start = name.partition("_")[0] + "_" + name.partition("_")[2].partition("_")[0]
    return next((each for each in LimitKind if start in (f"{each}4", f"{each}6")), None)

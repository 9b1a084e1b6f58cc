"""Coverage of readings in time: with it, a chart can show a gap where no gateway was read instead of zero."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from django.db.models import Q

from apps.traffic.models import Coverage
from apps.traffic.usage_writer import PAUSE


class CoveredStretch(NamedTuple):
    """Stretch of time in which a gateway was read without a gap; carried: as in Coverage."""

    since: datetime
    until: datetime
    carried: bool


@dataclass(frozen=True, slots=True)
class ReadingCoverage:
    """Covered stretches of each gateway, in order of time."""

    gateways: Sequence[Sequence[CoveredStretch]]

    def is_gap(self, since: datetime, until: datetime) -> bool:
        """True if no gateway was read at any moment of this time."""
        return not any(each.since < until and since <= each.until for stretches in self.gateways for each in stretches)

    def has_stretch_end(self, since: datetime, until: datetime) -> bool:
        """True if a stretch of some gateway ends in this time. A stretch that still grows ends with the last reading."""
        return any(since <= each.until < until for stretches in self.gateways for each in stretches)

    def find_last_reading(self, now: datetime) -> datetime | None:
        """Return the last reading of any gateway if it was more than PAUSE ago, otherwise None."""
        last = max((each.until for stretches in self.gateways for each in stretches), default=None)
        return last if last and now - last > PAUSE else None

    def has_loss(self, since: datetime, until: datetime) -> bool:
        """True if part of what passed in this time is missing for good, at one gateway at least."""
        breaks = ((one.until, two.since) for stretches in self.gateways for one, two in pairwise(stretches) if not two.carried)
        return any(begin < until and since < end for begin, end in breaks)


def get_coverage(gateways: Iterable[int], since: datetime, until: datetime) -> ReadingCoverage:
    """Return the coverage of these gateways in the window, with the last stretch before it, after which something may have been lost."""
    found: dict[int, list[CoveredStretch]] = {gateway: [] for gateway in gateways}
    of = Coverage.objects.filter(gateway__in=found)
    before = of.filter(until__lt=since - PAUSE).order_by("gateway_id", "-until").distinct("gateway_id")
    for row in of.filter(Q(until__gte=since - PAUSE) | Q(pk__in=before.values("pk")), since__lte=until).order_by("since"):
        found[row.gateway_id].append(CoveredStretch(row.since, row.until, row.carried))
    return ReadingCoverage(list(found.values()))

"""When gateways were read, and when not: so that a chart can tell nothing from nobody knows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from django.db.models import Q

from apps.traffic.models import Coverage
from apps.traffic.usage_writer import PAUSE


class CoveredStretch(NamedTuple):
    """A gateway was read from one moment to another; carried as in Coverage."""

    since: datetime
    until: datetime
    carried: bool


@dataclass(frozen=True, slots=True)
class ReadingCoverage:
    """The stretches of each gateway, in order."""

    gateways: Sequence[Sequence[CoveredStretch]]

    def gap(self, since: datetime, until: datetime) -> bool:
        """Was no gateway read at any moment of it?"""
        return not any(each.since < until and since <= each.until for stretches in self.gateways for each in stretches)

    def ends_within(self, since: datetime, until: datetime) -> bool:
        """Did reading of some gateway end in it, for a pause at least?"""
        return any(since <= each.until < until for stretches in self.gateways for each in stretches)

    def read_until(self, now: datetime) -> datetime | None:
        """The last reading of any gateway, if it is longer ago than two readings are apart."""
        last = max((each.until for stretches in self.gateways for each in stretches), default=None)
        return last if last and now - last > PAUSE else None

    def lost(self, since: datetime, until: datetime) -> bool:
        """Is something that passed in it missing for good, at least at one gateway?"""
        breaks = ((one.until, two.since) for stretches in self.gateways for one, two in pairwise(stretches) if not two.carried)
        return any(begin < until and since < end for begin, end in breaks)


def get_coverage(gateways: Iterable[int], since: datetime, until: datetime) -> ReadingCoverage:
    """Of these gateways, as far as the window needs: with the stretch before it, after which something may have been lost."""
    found: dict[int, list[CoveredStretch]] = {gateway: [] for gateway in gateways}
    of = Coverage.objects.filter(gateway__in=found)
    before = of.filter(until__lt=since - PAUSE).order_by("gateway_id", "-until").distinct("gateway_id")
    for row in of.filter(Q(until__gte=since - PAUSE) | Q(pk__in=before.values("pk")), since__lte=until).order_by("since"):
        found[row.gateway_id].append(CoveredStretch(row.since, row.until, row.carried))
    return ReadingCoverage(list(found.values()))

"""Histogram of durations with bounded memory: buckets whose bounds grow by 2 %, from a microsecond to a thousand seconds.

That is at most 1,048 counters, however many durations are counted. A percentile is the middle of its bucket, so it is at most 1 % off; the
longest duration is exact. Durations beyond the ends count in the first or last bucket.
"""

from collections import Counter
from math import ceil, log
from typing import Self

WIDTH = 1.02  # the upper bound of a bucket, as a multiple of its lower one
SHORTEST, LONGEST = 0.001, 1_000_000.0  # milliseconds
LAST = ceil(log(LONGEST / SHORTEST, WIDTH))  # bucket


class DurationHistogram:
    """Counts durations, in milliseconds. Bucket n holds those above SHORTEST * WIDTH ** (n - 1), up to SHORTEST * WIDTH ** n."""

    def __init__(self, buckets: Counter[int] | None = None, longest: float = 0.0) -> None:
        self.buckets = Counter(buckets)
        self.longest = longest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DurationHistogram) and (self.buckets, self.longest) == (other.buckets, other.longest)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __add__(self, other: Self) -> "DurationHistogram":
        """Return the histogram of the durations of both."""
        return DurationHistogram(self.buckets + other.buckets, max(self.longest, other.longest))

    @property
    def count(self) -> int:
        return self.buckets.total()

    def add(self, milliseconds: float) -> None:
        self.buckets[find_bucket(milliseconds)] += 1
        self.longest = max(self.longest, milliseconds)

    def compute_percentile(self, percent: int) -> float | None:
        """Return the smallest duration, in milliseconds, that at least so many percent of all do not exceed. None if there are none."""
        rank = max(1, -(-percent * self.count // 100))
        for bucket in sorted(self.buckets):
            rank -= self.buckets[bucket]
            if rank <= 0:
                return min(SHORTEST * float(WIDTH ** (bucket - 0.5)), self.longest)
        return None


def find_bucket(milliseconds: float) -> int:
    """Return the number of the bucket in which this duration counts."""
    return min(LAST, ceil(log(milliseconds / SHORTEST, WIDTH))) if milliseconds > SHORTEST else 0

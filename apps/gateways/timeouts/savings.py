"""What a shorter timeout of open TCP connections would save. Pure.

A connection's remaining time tells how long no packet has come: its timeout minus what remains. Those that have been silent for longer than
the new timeout would be gone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from firewall.conntrack_timeouts import COARSE, ESTABLISHED, FINE, FINE_UNTIL, TCP, TimeoutHistogram

CHOICES: Final = (3600, 2 * 3600, 4 * 3600, 12 * 3600)  # seconds


@dataclass(frozen=True)
class TimeoutSaving:
    """One timeout in seconds. gone: open TCP connections that would have ended by now, and are still there; None if the present timeout is
    not longer, so that nobody can know.
    """

    timeout: int
    gone: int | None


@dataclass(frozen=True)
class OpenConnections:
    """Open TCP connections. older: those whose remaining time is longer than the present timeout, so that their silence is not known: they
    began under a longer one.
    """

    number: int
    older: int
    savings: tuple[TimeoutSaving, ...]


def compute_savings(histograms: Sequence[TimeoutHistogram], present: int) -> OpenConnections:
    """Return what each of the choices would save. present: the timeout in force, in seconds."""
    buckets = [each for found in histograms if (found.protocol, found.state) == (TCP, ESTABLISHED) for each in iter_buckets(found)]
    savings = (TimeoutSaving(each, _count_silent(buckets, present, each) if each < present else None) for each in CHOICES)
    older = sum(number for start, _end, number in buckets if start > present)
    return OpenConnections(sum(number for *_, number in buckets), older, tuple(savings))


def iter_buckets(histogram: TimeoutHistogram) -> Iterator[tuple[int, int, int]]:
    """Yield first second, end and number of each bucket."""
    for start, number in zip(histogram.starts, histogram.counts, strict=True):
        yield start, start + (FINE if start < FINE_UNTIL else COARSE), number


def _count_silent(buckets: Sequence[tuple[int, int, int]], present: int, timeout: int) -> int:
    """Count the connections that have been silent for longer; a bucket that is only partly counts as not."""
    return sum(number for _start, end, number in buckets if end <= present - timeout)

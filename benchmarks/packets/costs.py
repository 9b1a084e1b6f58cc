"""Computes figures from the nanoseconds of many short bursts: medians, ratios within a round, and the spread of the ratios."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Final

from benchmarks.figures import Figure

WAYS = ("up", "down", "new")
GOALS: Final = {"up": "<= 1.15", "down": "<= 1.15", "new": "<= 1.35"}  # as ratios to masquerading, in time and in instructions

type Bursts = Sequence[float]  # nanoseconds a packet


@dataclass(frozen=True, slots=True)
class Round:
    """Bursts of one direction, of each competitor in turn, close together in time."""

    way: str
    bursts: Mapping[str, Bursts]

    def compute_cost(self, name: str) -> float:
        """Return nanoseconds per packet: the median, because other programs on the machine disturb some bursts."""
        return median(self.bursts[name])

    def compute_ratio(self, name: str, to: str) -> float:
        return self.compute_cost(name) / self.compute_cost(to)


def compute_cost(rounds: Sequence[Round], way: str, name: str) -> float:
    """Return nanoseconds per packet, over all rounds of the direction."""
    return median(each.compute_cost(name) for each in rounds if each.way == way)


def compute_ratio(rounds: Sequence[Round], way: str, name: str, to: str) -> float:
    """Return a packet's cost relative to another competitor's: the median of the rounds' own ratios, because the machine's speed varies."""
    return median(each.compute_ratio(name, to) for each in rounds if each.way == way)


def compute_spread(rounds: Sequence[Round], way: str, name: str, to: str) -> float:
    """Return the interquartile range of the rounds' ratios; 0 for a single round."""
    ratios = [each.compute_ratio(name, to) for each in rounds if each.way == way]
    if len(ratios) < 2:
        return 0.0
    lower, _middle, upper = quantiles(ratios, n=4)
    return upper - lower


def iter_figures(rounds: Sequence[Round], name: str, to: str, *, judged: bool) -> Iterator[Figure]:
    """Yield for each direction the ratio, with a goal if it is judged, its spread, and both costs."""
    for way in WAYS:
        yield Figure(f"{way}_ratio", compute_ratio(rounds, way, name, to), "", GOALS[way] if judged else None)
        yield Figure(f"{way}_ratio_spread", compute_spread(rounds, way, name, to), "")
        yield Figure(f"{way}_ns", compute_cost(rounds, way, name), "ns")
        yield Figure(f"{way}_{to}_ns", compute_cost(rounds, way, to), "ns")


HEADING = f"  {'costs':<16}" + "".join(f"{way:>8}" for way in WAYS)


def render_explanation(rounds: Sequence[Round], without: str, whole: str, to: str) -> str:
    """Return a line under HEADING: the part of the ratio that is saved by a competitor without this feature."""
    saved = (compute_ratio(rounds, way, whole, to) - compute_ratio(rounds, way, without, to) for way in WAYS)
    return f"  {without:<16}" + "".join(f"{each:>+8.3f}" for each in saved)

"""Since when the gateways run a row as it is now: asked by every app, answered by the one that deploys.

That app is above the others; it registers its answer here, so that the lower ones need not know it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from apps.lib.models import Deployed


@dataclass(frozen=True, slots=True)
class Activation:
    """Since when a gateway runs a row as it is now; None while it does not."""

    gateway: str
    since: datetime | None


type Answer = Callable[[Iterable[Deployed]], Mapping[int, list[Activation]]]
_answers: list[Answer] = []


def register(answer: Answer) -> None:
    """Called once, when the deploying app is ready."""
    _answers[:] = [answer]


def activations[Row: Deployed](rows: Iterable[Row]) -> list[tuple[Row, list[Activation]]]:
    """Each row with what each gateway has of it, in one query."""
    asked = list(rows)
    found = _answers[0](asked)
    return [(row, found.get(row.pk, [])) for row in asked]

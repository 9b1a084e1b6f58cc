"""Since when the gateways run a row as it is now: asked by every app, answered by the one that deploys.

That app is above the others; it registers its answer here, so that the lower ones need not know it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from apps.lib.models import Deployed


@dataclass(frozen=True, slots=True)
class WaitReason:
    """For whom or what a row waits, as the rest of a sentence, and the page where that is seen. person: somebody has to do something."""

    words: str
    url: str = ""
    person: bool = False


@dataclass(frozen=True, slots=True)
class Activation:
    """Since when a gateway runs a row as it is now; None while it does not. waits: why it does not, as far as that is known."""

    gateway: str
    since: datetime | None
    waits: WaitReason | None = None


type ActivationLookup = Callable[[Iterable[Deployed]], Mapping[int, list[Activation]]]
_answers: list[ActivationLookup] = []


def register_lookup(answer: ActivationLookup) -> None:
    """Called once, when the deploying app is ready."""
    _answers[:] = [answer]


def list_activations[Row: Deployed](rows: Iterable[Row]) -> list[tuple[Row, list[Activation]]]:
    """Each row with what each gateway has of it, in a constant number of queries."""
    asked = list(rows)
    found = _answers[0](asked) if asked else {}
    return [(row, found.get(row.pk, [])) for row in asked]


def list_wait_reasons(known: Iterable[Activation]) -> list[WaitReason]:
    """Why gateways do not have it yet, each reason once."""
    return list(dict.fromkeys(each.waits for each in known if each.waits))

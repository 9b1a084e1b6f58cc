"""Activation of rows: since when each gateway runs a row in its current state. Every app asks; the deploying app answers.

The deploying app depends on the others. It registers its lookup here, so that they need not import it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from apps.lib.models import Deployed


@dataclass(frozen=True, slots=True)
class WaitReason:
    """Reason why a row is not active yet, as the rest of a sentence, and the page that shows it. person: a person has to act."""

    words: str
    url: str = ""
    person: bool = False


@dataclass(frozen=True, slots=True)
class Activation:
    """Since when a gateway runs a row in its current state; None while it does not. waits: the reason, if known."""

    gateway: str
    since: datetime | None
    waits: WaitReason | None = None


type ActivationLookup = Callable[[Iterable[Deployed]], Mapping[int, list[Activation]]]
_answers: list[ActivationLookup] = []


def register_lookup(answer: ActivationLookup) -> None:
    """Register the lookup. Called once, when the deploying app is ready."""
    _answers[:] = [answer]


def list_activations[Row: Deployed](rows: Iterable[Row]) -> list[tuple[Row, list[Activation]]]:
    """Return each row with its activations on all gateways, in a constant number of queries."""
    asked = list(rows)
    found = _answers[0](asked) if asked else {}
    return [(row, found.get(row.pk, [])) for row in asked]


def list_wait_reasons(known: Iterable[Activation]) -> list[WaitReason]:
    """Return the distinct reasons why gateways do not have a row yet."""
    return list(dict.fromkeys(each.waits for each in known if each.waits))

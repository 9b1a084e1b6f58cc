"""Activation of rows: since when each gateway runs a row in its current state. Every app asks; the deploying app answers.

The deploying app depends on the others. It registers its lookup here, so that they need not import it. A page that shows rows of several
kinds asks for all of them first: what a request knows already it does not ask for again.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.lib.models import Deployed
from apps.lib.web.request_cache import cache_per_request


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


type ActivationLookup = Callable[[Sequence[Deployed]], Sequence[list[Activation]]]
_answers: list[ActivationLookup] = []


def register_lookup(answer: ActivationLookup) -> None:
    """Register the lookup: it returns one list for each row, in their order. Called once, when the deploying app is ready."""
    _answers[:] = [answer]


def list_activations[Row: Deployed](rows: Iterable[Row]) -> list[tuple[Row, list[Activation]]]:
    """Return each row with its activations on all gateways, in a constant number of queries."""
    asked, known = list(rows), _get_known()
    if missing := list({_build_key(row): row for row in asked if _build_key(row) not in known}.values()):
        known.update(zip(map(_build_key, missing), _answers[0](missing), strict=True))
    return [(row, known[_build_key(row)]) for row in asked]


@cache_per_request
def _get_known() -> dict[Hashable, list[Activation]]:
    """Return what this request knows, to be added to; in tasks, and in requests that write, nothing each time."""
    return {}


def _build_key(row: Deployed) -> Hashable:
    return type(row), row.pk, row.changed_in


def list_wait_reasons(known: Iterable[Activation]) -> list[WaitReason]:
    """Return the distinct reasons why gateways do not have a row yet."""
    return list(dict.fromkeys(each.waits for each in known if each.waits))

"""Registry of facts that other apps add to the line under the dashboard's title."""

from collections.abc import Callable
from datetime import datetime

type BoardFact = Callable[[datetime], str]
_facts: list[BoardFact] = []


def register_fact(fact: BoardFact) -> None:
    """Register a function that returns a fact in the active language, "" if there is none. Called in `ready()`."""
    _facts.append(fact)


def list_facts(now: datetime) -> list[str]:
    """Return the facts of this time."""
    return list(filter(None, (fact(now) for fact in _facts)))

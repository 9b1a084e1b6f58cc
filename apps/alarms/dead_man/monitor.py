"""Monitor of a portal from another machine: asks for its health, and decides when to tell whom. No database."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from apps.lib.web.guarded_http import AllowedTargets, NoAnswer, OutgoingRequest, open_request, parse_url

LIMIT: Final = 10.0  # seconds
_LONGEST: Final = 1 << 16  # octets of an answer


class MonitorEvent(StrEnum):
    """What is to be told."""

    DOWN = "down"
    UP = "up"


@dataclass(frozen=True)
class MonitorState:
    """failures: looks in a row that failed. reason: of the last look, "" if it did not fail. told: the addresses that were told that the
    portal is dead, and not yet that it is back.
    """

    failures: int = 0
    reason: str = ""
    told: frozenset[str] = frozenset()


def fetch_fault(url: str) -> str:
    """Return what is wrong with the portal, "" if nothing is."""
    try:
        with open_request(parse_url(url), OutgoingRequest(), AllowedTargets(private=True), LIMIT) as answer:
            status, body = answer.status, answer.read(_LONGEST)
    except NoAnswer as error:
        return f"no answer ({error.fault}: {error.what})"
    return "" if status == 200 else describe_report(status, body)


def describe_report(status: int, body: bytes) -> str:
    """Return the report of /health in words, or just the status if it is none."""
    try:
        report = json.loads(body)
        faults = {name: role["fault"] for name, role in report["roles"].items() if role["fault"]}
        database = [] if report["database"] else ["the database does not answer"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"it answered {status}"
    return ", ".join([*database, *(f"{name} is {fault}" for name, fault in faults.items())]) or f"it answered {status}"


def advance(state: MonitorState, fault: str) -> MonitorState:
    """Return the state after a look."""
    return replace(state, failures=state.failures + 1 if fault else 0, reason=fault)


def choose_message(state: MonitorState, targets: Iterable[str], told_after: int) -> tuple[MonitorEvent, list[str]]:
    """Return what is to be told now, and to which addresses: those that did not take it are chosen again at the next look, until the
    portal's state changes. told_after: failures in a row after which it is told.
    """
    if not state.failures:
        return MonitorEvent.UP, [each for each in targets if each in state.told]
    is_dead = state.failures >= told_after
    return MonitorEvent.DOWN, [each for each in targets if is_dead and each not in state.told]


def record_taken(state: MonitorState, event: MonitorEvent, taken: Iterable[str]) -> MonitorState:
    """Return the state after these addresses took the message."""
    return replace(state, told=state.told.union(taken) if event is MonitorEvent.DOWN else state.told.difference(taken))

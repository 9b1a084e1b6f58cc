"""Monitor of a portal from another machine: asks for its health, and decides when to tell somebody. No database."""

import json
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
    """failures: looks in a row that failed. is_told: somebody was told of it. reason: of the last failure."""

    failures: int = 0
    is_told: bool = False
    reason: str = ""


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


def advance(state: MonitorState, fault: str, told_after: int) -> tuple[MonitorState, MonitorEvent | None]:
    """Return the state after a look, and what is to be told now. told_after: failures in a row after which it is told."""
    if not fault:
        return MonitorState(), MonitorEvent.UP if state.is_told else None
    after = replace(state, failures=state.failures + 1, reason=fault)
    if not after.is_told and after.failures >= told_after:
        return replace(after, is_told=True), MonitorEvent.DOWN
    return after, None

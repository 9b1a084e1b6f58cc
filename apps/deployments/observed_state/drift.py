"""Drift of a gateway: how it differs from what it confirmed, and why. Stored while it lasts, and in a history afterwards.

Stored as {"cause": a Cause, "why": text, "rules": [names], "elements": {set: {"missing": [texts], "foreign": [texts],
"missing_count": n, "foreign_count": n}}, "sysctls": [[name, wanted, found]]}. Past drift: {"cause", "since", "until", "rules": n,
"missing": n, "foreign": n, "sysctls": n}.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

import structlog
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from apps.deployments.desired_state import database_clock
from apps.deployments.models import GatewayState
from apps.deployments.transport.agent_channel import AgentChannel, Unreachable
from apps.deployments.transport.agent_client import AgentRefused, expect_answer
from apps.network.models import Gateway
from firewall import wire
from firewall.render import render_elements
from firewall.ruleset import Elements, Ruleset, Set

MAX_STORED_ELEMENTS = 100  # stored elements of a set, in each direction
LONGEST = 300  # characters of one element's text
REMEMBERED = 20  # entries of past drift per gateway

log = structlog.get_logger()


class DriftCause(StrEnum):
    """Why a gateway does not run what it confirmed, as far as its agent can tell."""

    BY_HAND = "by_hand"  # another program or person wrote to the table, or changed kernel settings
    GONE = "gone"  # the whole table was deleted
    DAMAGED = "damaged"  # the agent could not restore what was confirmed: its file is damaged, or the kernel refused it
    ANOTHERS = "anothers"  # it runs, and has confirmed, what another gateway of its group should run
    EMPTY = "empty"  # it knows of no confirmed ruleset: a machine that was set up anew
    OTHER = "other"  # it has confirmed something that the portal does not know as its own


HEALS_ANYWAY = frozenset(
    {DriftCause.DAMAGED, DriftCause.ANOTHERS, DriftCause.EMPTY, DriftCause.OTHER}
)  # not made by hand, so repaired without asking


def fetch_and_record_drift(
    gateway: Gateway, channel: AgentChannel, welcome: wire.Welcome, wanted: Ruleset, now: int, others: Collection[str] = ()
) -> DriftCause | None:
    """Ask the gateway for its drift and store it. Return the cause, or None when it is unknown.

    welcome: the agent's latest Welcome. others: digests that other gateways of its group should have.
    """
    try:
        drifted = expect_answer(wire.Drifted, channel.ask(wire.Drift(now, database_clock.get_earliest_database_time())))
    except (Unreachable, AgentRefused) as fault:
        log.warning("drift unknown", gateway=gateway.name, error=str(fault))
        return None
    found = render_drift(drifted, wanted, now)
    cause = determine_cause(welcome, drifted, others)
    mine = GatewayState.objects.filter(gateway=gateway)
    log.warning("drift", gateway=gateway.name, cause=cause, rules=found["rules"], sets=sorted(found["elements"]), sysctls=found["sysctls"])
    mine.update(drift={"cause": cause, "why": welcome.damage, **found}, drift_since=Coalesce("drift_since", Now()))
    return cause


def record_drift_cause(gateway: Gateway, channel: AgentChannel, welcome: wire.Welcome, wanted: Ruleset, now: int) -> None:
    """Record why a gateway that is about to be updated has lost what it had confirmed, unless that is recorded already."""
    if (welcome.damage or not welcome.confirmed) and not welcome.trial and _has_run_before(gateway):
        fetch_and_record_drift(gateway, channel, welcome, wanted, now)


def _has_run_before(gateway: Gateway) -> bool:
    return GatewayState.objects.filter(gateway=gateway, drift__isnull=True).exclude(digest="").exists()


def determine_cause(welcome: wire.Welcome, drifted: wire.Drifted, others: Collection[str]) -> DriftCause:
    """Determine the cause. What the agent itself knows takes precedence."""
    if welcome.damage:
        return DriftCause.DAMAGED
    if not welcome.confirmed:
        return DriftCause.EMPTY
    if drifted.gone:
        return DriftCause.GONE
    if drifted.rules or drifted.elements or drifted.sysctls:
        return DriftCause.BY_HAND
    return DriftCause.ANOTHERS if welcome.digest in others else DriftCause.OTHER


def clear_drift(state: GatewayState) -> None:
    """Clear the gateway's drift and move it to the history."""
    if state.drift:
        known = GatewayState.objects.filter(pk=state.pk)
        known.update(drift=None, drift_since=None, drifted_before=build_drift_history(state, timezone.now()))


def build_drift_history(state: GatewayState, until: datetime) -> list[dict[str, Any]]:
    """Return the history of drift, with the current one, now over, in front."""
    before: list[dict[str, Any]] = state.drifted_before
    if not state.drift:
        return before
    elements: Mapping[str, Mapping[str, int]] = state.drift.get("elements", {})
    entry = {
        "cause": state.drift.get("cause", DriftCause.BY_HAND),
        "since": state.drift_since.isoformat() if state.drift_since else None,
        "until": until.isoformat(),
        "rules": len(state.drift.get("rules", ())),
        "missing": sum(each.get("missing_count", 0) for each in elements.values()),
        "foreign": sum(each.get("foreign_count", 0) for each in elements.values()),
        "sysctls": len(state.drift.get("sysctls", ())),
    }
    return [entry, *before][:REMEMBERED]


def render_drift(drifted: wire.Drifted, wanted: Ruleset, now: int) -> dict[str, Any]:
    """Render the drift as texts, for the page."""
    elements = {
        name: {
            "missing": _render_texts(wanted.sets.get(name), each.missing, now),
            "foreign": _render_texts(wanted.sets.get(name), each.foreign, now),
            "missing_count": each.missing_count,
            "foreign_count": each.foreign_count,
        }
        for name, each in drifted.elements.items()
    }
    return {"rules": list(drifted.rules), "elements": elements, "sysctls": [list(each) for each in drifted.sysctls]}


def _render_texts(of: Set | None, elements: Elements, now: int) -> list[str]:
    return [text[:LONGEST] for text, _ in zip(_iter_texts(of, elements, now), range(MAX_STORED_ELEMENTS), strict=False)]


def _iter_texts(of: Set | None, elements: Elements, now: int) -> Iterator[str]:
    """Yield elements as text; as hex for a set that the portal does not know, because its key types are unknown."""
    return render_elements(of, elements, now) if of else (key.hex() for key in elements)

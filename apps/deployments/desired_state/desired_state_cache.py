"""Cache of each group's desired state, so that a change costs what it touches instead of the size of the network.

One per process; losing it costs one full read. Between two scheduled runs, incremental updates are trusted; a scheduled run
reads everything, compares, and keeps the full result. In large networks not each one does: that would take a processor all day.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from threading import Lock
from time import monotonic
from typing import Final

import structlog

from apps.deployments.desired_state import changed_objects, policy_snapshot
from apps.deployments.desired_state.desired_rulesets import DesiredState, compile_snapshot, compute_desired_state, update_desired_state
from apps.network.models import GatewayGroup
from firewall.diff import Delta, diff
from firewall.policy import PolicyError
from firewall.ruleset import EMPTY

log = structlog.get_logger()

QUICK: Final = 1.0  # seconds: what a comparison may take that every scheduled run makes
REST: Final = 20  # times as long as a slower comparison took, until the next one: it takes a twentieth of a processor at most


class DesiredStateCache:
    """Desired states by group id. Thread-safe; each group is updated by one thread at a time. steady: seconds of CLOCK_MONOTONIC."""

    def __init__(self, steady: Callable[[], float] = monotonic) -> None:
        self._steady = steady
        self._known: dict[int, DesiredState] = {}
        self._locks: dict[int, Lock] = {}
        self._rests_until: dict[int, float] = {}

    def get_current(self, group: GatewayGroup, at: datetime | None = None) -> DesiredState:
        """Return the group's desired state, incrementally where possible. at: as if it were then. Raises PolicyError."""
        with self._get_lock(group):
            known = self._known.get(group.pk)
            change = policy_snapshot.take_changes(group, known.snapshot, at) if known else None
            return self._keep(group, (known and change and update_desired_state(known, change)) or compute_desired_state(group, at))

    def recompute(self, group: GatewayGroup, at: datetime | None = None) -> DesiredState:
        """Return the desired state from a full read, compared with the incremental one. `amends` holds differences. Raises PolicyError.

        Callers of `get_current` do not wait for it: in a large network it takes seconds, and is not made each time (REST).
        """
        known, began = self._known.get(group.pk), self._steady()
        if known is None or began < self._rests_until.get(group.pk, began):
            return self.get_current(group, at)
        try:
            return self._compare(group, known, at)
        finally:
            spent = self._steady() - began
            self._rests_until[group.pk] = began + spent * (1 + REST) if spent > QUICK else began

    def _compare(self, group: GatewayGroup, known: DesiredState, at: datetime | None) -> DesiredState:
        taken, change = policy_snapshot.take_snapshot_with_changes(group, known.snapshot, at)
        full = compile_snapshot(taken)
        checked = _cross_check(group, full, known, change) if change else full
        changed_objects.prune_change_notes()
        with self._get_lock(group):
            newest = self._known[group.pk]
            went_on = change is not None and not checked.amends and newest is not known
            return self._keep(group, newest if went_on else checked)

    def _get_lock(self, group: GatewayGroup) -> Lock:
        return self._locks.setdefault(group.pk, Lock())

    def _keep(self, group: GatewayGroup, wanted: DesiredState) -> DesiredState:
        self._known[group.pk] = wanted
        return wanted


def _cross_check(group: GatewayGroup, full: DesiredState, known: DesiredState, change: policy_snapshot.IncrementalSnapshot) -> DesiredState:
    """Return the incremental state if it equals the full one, because it shares more objects with the earlier state; else the full one."""
    try:
        short = update_desired_state(known, change)
    except PolicyError as error:
        log.error("incremental state differs from full state", group=group.name, error=str(error))
        return replace(full, amends={pk: diff(known.rulesets.get(pk, EMPTY), ruleset) for pk, ruleset in full.rulesets.items()})
    if short is None:
        return full
    amends = _compute_amends(short, full)
    if not amends:
        return short
    counts = {name: (len(each.removed), len(each.added)) for delta in amends.values() for name, each in delta.elements.items()}
    log.error("incremental state differs from full state", group=group.name, gateways=sorted(amends), removed_and_added=counts)
    return replace(full, amends=amends)


def _compute_amends(short: DesiredState, full: DesiredState) -> dict[int, Delta]:
    """Return what leads from the incremental rulesets to the full ones, for gateways where they differ."""
    return {
        pk: diff(short.rulesets[pk], ruleset)
        for pk, ruleset in full.rulesets.items()
        if short.digests[pk] != full.digests[pk] or short.rulesets[pk] != ruleset
    }

"""Cuts connections again that were cut before and came back from the other gateway (firewall/returned_flows.py finds them).

gateway/takeover.py decides when. What was withdrawn, and whose connections were cut with it, is noted at each confirmation.
"""

import logging
from collections.abc import Callable, Iterable

from firewall.diff import Delta
from firewall.flows import Flow
from firewall.returned_flows import ForbiddenFlows, WithdrawnObjects
from gateway.failover_roles import FailoverRoles
from gateway.flow_termination import FormerFlows, cut_reappeared
from gateway.table import NftTable
from gateway.table_state import TableState
from gateway.takeover import TakeoverWatch

log = logging.getLogger("gateway")


class ReturnedFlows:
    """Connections that may be back. clock: returns Unix seconds. steady: returns seconds of CLOCK_MONOTONIC."""

    def __init__(
        self, table: NftTable, held: TableState, roles: FailoverRoles, *, clock: Callable[[], float], steady: Callable[[], float]
    ) -> None:
        self._table, self._held, self._clock = table, held, clock
        self._takeover, self._withdrawn = TakeoverWatch(roles, steady), WithdrawnObjects()
        self._cut_again: list[Flow] = []  # found by the last look, and not noted yet

    def note_withdrawn(self, deltas: Iterable[Delta]) -> None:
        """Remember what these confirmed changes withdraw."""
        for delta in deltas:
            self._withdrawn.note(delta)

    def note_cut(self, former: FormerFlows) -> None:
        """Remember the connections that were cut because members lost an address."""
        self._withdrawn.note_cut(former)

    def is_due(self) -> bool:
        """True if connections that were cut may be back. May be called on another thread."""
        return self._takeover.is_due()

    def build_forbidden_flows(self) -> ForbiddenFlows:
        """Return what to look for among the connections. Called between requests. Raises TableError."""
        self._withdrawn.note_returned(self._cut_again)
        self._cut_again = []
        own = {each.address.packed for interface in self._table.list_interfaces() for each in interface.addresses}
        return ForbiddenFlows(self._held.known_elements, self._held.rules, self._withdrawn, own, self._clock())

    def cut(self, forbidden: ForbiddenFlows) -> None:
        """Cut the connections that are back. May be called on another thread, beside everything else. Raises TableError or OSError."""
        count, self._cut_again = self._takeover.run(lambda: cut_reappeared(self._table, forbidden))
        if count:
            log.warning("%d connections that had been cut came back from the other gateway, and were cut again", count)

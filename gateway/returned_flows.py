"""Cuts connections again that were cut before and came back from the other gateway (firewall/returned_flows.py finds them).

gateway/takeover.py decides when. What was withdrawn is noted at each confirmation.
"""

import logging
from collections.abc import Callable, Iterable

from firewall.diff import Delta
from firewall.returned_flows import ForbiddenFlows, WithdrawnObjects
from gateway.failover_roles import FailoverRoles
from gateway.flow_termination import cut_reappeared
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

    def note_withdrawn(self, deltas: Iterable[Delta]) -> None:
        """Remember what these confirmed changes withdraw."""
        for delta in deltas:
            self._withdrawn.note(delta)

    def is_due(self) -> bool:
        """True if connections that were cut may be back. May be called on another thread."""
        return self._takeover.is_due()

    def build_forbidden_flows(self) -> ForbiddenFlows:
        """Return what to look for among the connections. Called between requests. Raises TableError."""
        own = {each.address.packed for interface in self._table.list_interfaces() for each in interface.addresses}
        return ForbiddenFlows(self._held.known_elements, self._held.rules, self._withdrawn, own, self._clock())

    def cut(self, forbidden: ForbiddenFlows) -> None:
        """Cut the connections that are back. May be called on another thread, beside everything else. Raises TableError or OSError."""
        if cut := self._takeover.run(lambda: cut_reappeared(self._table, forbidden)):
            log.warning("%d connections that had been cut came back from the other gateway, and were cut again", cut)

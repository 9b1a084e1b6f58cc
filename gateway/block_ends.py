"""Cuts connections to the notice page when blocks end by their time (firewall/timed_blocks.py finds them).

The kernel ends a block by itself, but a browser that keeps its connection would continue to show the page.
"""

import logging
from collections.abc import Callable

from firewall.diff import Delta
from firewall.ruleset import Ruleset
from firewall.timed_blocks import EndedBlocks, TimedBlocks
from gateway.running_ruleset import SLACK
from gateway.table import NftTable
from gateway.table_state import TableState

log = logging.getLogger("gateway")


class BlockEnds:
    """The ends of blocks on one gateway. clock: returns Unix seconds."""

    def __init__(self, table: NftTable, held: TableState, *, clock: Callable[[], float]) -> None:
        self._table, self._held, self._clock = table, held, clock
        self._blocks = TimedBlocks()

    def replace(self, ruleset: Ruleset) -> None:
        """Remember the blocks of the ruleset that was loaded."""
        self._blocks.replace(ruleset)

    def note(self, delta: Delta) -> None:
        """Note a change that was committed."""
        self._blocks.note(delta)

    def is_due(self) -> bool:
        """True if a block has ended in the kernel too, even if that is late. May be called on another thread."""
        return self._clock() >= self._blocks.next_end + SLACK

    def take_ended(self) -> EndedBlocks:
        """Return the blocks that have ended since this was called last. Called between requests."""
        return self._blocks.take_ended(self._clock() - SLACK)

    def cut(self, ended: EndedBlocks) -> None:
        """Cut what these blocks have left open. May be called on another thread, beside everything else. Raises TableError or OSError."""
        sets = self._held.known_elements
        flows = [flow for flow in self._table.list_flows() if ended.has_left_open(flow, sets)] if ended else []
        if flows and (cut := self._table.cut(flows)):
            log.info("%d connections to the notice page were cut, because a block has ended", cut)

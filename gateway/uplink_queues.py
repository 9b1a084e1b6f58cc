"""Queues of the uplink beside a ruleset: set before its transaction and read back, and set back if that fails.

A kernel that cannot have them is reported, and everything else continues, as with sysctls (gateway/kernel_profile.py): a ban must not
wait for a queue that cannot be set.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from firewall.diff import Delta, ShaperChange
from firewall.ruleset import UplinkShaper
from firewall.shaper import list_shaper_differences
from gateway.log_texts import to_plain_line
from gateway.table import NftTable, ShaperRefusedError, TableError
from gateway.table_state import TableState

log = logging.getLogger("gateway")


class UplinkQueues:
    """The queues of the ruleset that runs, and why they could not be set."""

    def __init__(self, table: NftTable, held: TableState) -> None:
        self._table, self._held = table, held

    @property
    def are_missing(self) -> bool:
        """True if they could not be set, or the uplink is not the one that had them. May be called on another thread."""
        return bool(self._held.unshaped) or self._held.is_uplink_new

    def restore(self) -> None:
        """Set them, if that is possible by now. Called between requests."""
        if self.are_missing:
            if self._held.is_uplink_new:
                log.info("the uplink was made anew, or has gone: its queues are set again as soon as it is there")
            self.note(set_queues(self._table, self._held.committed_shaper))

    def note(self, unshaped: str) -> None:
        """Note why they are not those of the ruleset that runs, "" if they are. Said once, not with each try."""
        before = self._held.unshaped
        self._held.note_queues(unshaped)
        if unshaped and unshaped != before:
            log.warning("without fair queues: %s", to_plain_line(unshaped))
        elif before and not unshaped:
            log.info("the queues of the uplink are set")


@contextmanager
def change_queues(table: NftTable, change: ShaperChange | None) -> Iterator[str]:
    """Set the queues for the block, which commits the rest of the change; back to those before if that fails.

    Yields why they could not be set, "" if they are.
    """
    if change is None:
        yield ""
        return
    try:
        yield set_queues(table, change.after)
    except TableError:
        with suppress(TableError):
            table.shape(change.before)
        raise


def set_queues(table: NftTable, shaper: UplinkShaper | None) -> str:
    """Set the queues and read them back. Return why that failed, "" if it did not: at boot, the uplink may not be there yet."""
    try:
        table.shape(shaper)
        for name, wanted, found in list_shaper_differences(shaper, table.read_shaper(shaper.interface)) if shaper else ():
            raise ShaperRefusedError(f"{name}: the kernel has “{found or 'nothing'}” instead of “{wanted}”")
    except TableError as error:
        return str(error)
    return ""


def describe_lack(table: NftTable, delta: Delta) -> str:
    """Return as a line of a plan why the kernel cannot have the queues that the change sets; "" if it can. Nothing is changed."""
    try:
        if delta.shaper and delta.shaper.after:
            table.check_shaper(delta.shaper.after)
    except ShaperRefusedError as error:
        return f"# without fair queues: {error}\n"
    return ""

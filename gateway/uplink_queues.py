"""Queues of the uplink beside a ruleset: set before its transaction, read back, and set back if anything fails.

They come first because a kernel may not have them: then the whole change is refused, and nothing has changed.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from firewall.diff import ShaperChange
from firewall.ruleset import UplinkShaper
from firewall.shaper import list_shaper_differences
from gateway.table import NftTable, ShaperRefusedError, TableError


@contextmanager
def change_queues(table: NftTable, change: ShaperChange | None) -> Iterator[None]:
    """Set the queues for the block, which commits the rest of the change; back to those before if either fails.

    Raises ShaperRefusedError.
    """
    if change is None:
        yield
        return
    try:
        set_queues(table, change.after)
        yield
    except TableError:
        with suppress(TableError):
            table.shape(change.before)
        raise


def set_queues(table: NftTable, shaper: UplinkShaper | None) -> None:
    """Set the queues and read them back. Raises TableError."""
    table.shape(shaper)
    if shaper:
        for name, wanted, found in list_shaper_differences(shaper, table.read_shaper(shaper.interface)):
            raise ShaperRefusedError(f"{name}: the kernel has “{found or 'nothing'}” instead of “{wanted}”")


def restore_queues(table: NftTable, shaper: UplinkShaper | None) -> str:
    """Set the queues, and return why that failed, "" if it did not: at boot, the uplink may not be there yet."""
    try:
        set_queues(table, shaper)
    except TableError as error:
        return str(error)
    return ""

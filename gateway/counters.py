"""The gateway's counters: readings of what runs, and in each the final counts of elements that were deleted since the last.

In: the table and what is known of it, the ledger of deleted elements' counts. Out: a wire.Reading.
"""

from collections.abc import Callable

from firewall import wire
from gateway.counter_ledger import DeletedCountsLedger
from gateway.counter_reading import CounterReader
from gateway.table import NftTable
from gateway.table_state import TableState


class GatewayCounters:
    """Makes readings. clock: returns Unix seconds. boot: the kernel's boot id."""

    def __init__(self, table: NftTable, held: TableState, ledger: DeletedCountsLedger, *, clock: Callable[[], float], boot: str) -> None:
        self._table, self._held, self._ledger = table, held, ledger
        self._clock, self._boot = clock, boot

    def read_all(self, request: wire.Counters) -> wire.Reading:
        """Make a whole reading at once. Raises TableError."""
        counting = self.start_reading(request)
        for name in counting.sets:
            counting.read(name)
        return self.finish_reading(counting)

    def start_reading(self, request: wire.Counters) -> CounterReader:
        """Begin a reading of all counters. Its sets may be read on other threads, between and beside other operations."""
        self._ledger.acknowledge(request.log, request.acknowledged)
        return CounterReader(self._table, self._held.known_elements, since=self._ledger.last_entry_number)

    def finish_reading(self, counting: CounterReader) -> wire.Reading:
        """Return the reply to Counters, once all sets are read. Raises TableError."""
        counting.check()
        return counting.build_reading(
            boot=self._boot,
            log=self._ledger.name,
            sequence=self._ledger.allocate_reading_number(),
            at=int(self._clock()),
            known=self._held.known_elements,
            gone=self._ledger.pending_entries,
        )

    def record_deleted_counts(self) -> None:
        """Save the final counts of deleted elements in the ledger.

        Called right after they are deleted, before anything else is done or answered.
        """
        save_deleted_counts(self._table, self._ledger, self._boot)


def save_deleted_counts(table: NftTable, ledger: DeletedCountsLedger, boot: str) -> None:
    """Save in the ledger what the elements had counted that were deleted since the last call. boot: the kernel's boot id."""
    if ended := table.take_deleted_counts():
        ledger.keep(ended, boot=boot, table=table.get_handle() or 0)

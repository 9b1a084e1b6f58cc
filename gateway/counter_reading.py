"""One reading of all counters, while the table may change: each set is read in parts, on any thread.

In: a table, and the known elements of its sets. Out: a wire.Reading. Knows no nft and no threads.
"""

from collections.abc import Collection, Mapping, Sequence
from struct import pack
from typing import TypeAlias

from firewall import owners, wire
from firewall.ruleset import PLAIN, Elements
from gateway.table import ElementCounts, NftTable, TableError


class CounterReader:
    """Reads the counters of all counted sets once.

    Create it, and call `check` and `reading`, on the thread that changes the table; `read` and `stop` may be called on any thread.
    """

    def __init__(self, table: NftTable, known: Mapping[str, Elements], *, since: int = 0) -> None:
        self._table, self._handle = table, table.get_handle()
        counted = [name for name, declaration in table.read_declarations().items() if declaration.counter]
        self._known = {name: tuple(known.get(name, ())) for name in counted}  # copies: the known elements change meanwhile
        self._found: dict[str, ElementCounts] = {}  # those that have counted
        self._elements: dict[str, int] = {}
        self.since = since
        self._stopped = False

    @property
    def sets(self) -> list[str]:
        """The names of the sets. Each must be read once, in any order, also in parallel."""
        return list(self._known)

    def read(self, name: str) -> None:
        """Read one set, and keep those of its elements that have counted: of a million, mostly few. Raises TableError."""
        tally: ElementCounts = {}
        for _ in self._table.read_counts(name, self._known[name], tally):
            if self._stopped:
                raise TableError("this reading of the counters was stopped; ask again")
        self._found[name] = {key: counts for key, counts in tally.items() if counts[0]}
        self._elements[name] = len(tally)

    def stop(self) -> None:
        """Make each running `read` fail at its next part."""
        self._stopped = True

    def check(self) -> None:
        """Raise TableError if the table was made anew meanwhile: its counters began at zero again."""
        if self._table.get_handle() != self._handle:
            raise TableError("the table was deleted or created again while its counters were read; ask again")

    def build_reading(
        self,
        *,
        boot: str,
        sequence: int,
        at: int,
        log: str = "",
        known: Mapping[str, Elements] | None = None,
        gone: tuple[wire.Gone, ...] = (),
    ) -> wire.Reading:
        """Build the reading, once all sets are read. Raises TableError like `check`.

        known: the elements now, with their owners. gone: deleted elements. Those with a number above `since` may or may not have
        been read, so what was read for their keys is left out; the next reading reports it.
        """
        named = dict(self._table.read_named_counters())
        self.check()
        for each in gone:
            self._leave_out(each)
        sets = {name: self._pack_set(name, known.get(name, {}) if known else {}) for name in self._found}
        return wire.Reading(boot, self._handle or 0, log, sequence, at, sets, gone, named)

    def _pack_set(self, name: str, elements: Elements) -> wire.Counts:
        """Pack a set's counts. Only sets that count for an owner have elements with values (Set.has_owners)."""
        owned = any(element.value for element in elements.values())
        return pack_counts(self._elements[name], _build_rows(self._found[name], elements), owned=owned)

    def _leave_out(self, gone: wire.Gone) -> None:
        if gone.number > self.since:
            for name, counts in gone.sets.items():
                for key in _split_keys(counts):
                    if self._found.get(name, {}).pop(key, None):
                        self._elements[name] -= 1


def _split_keys(counts: wire.Counts) -> Collection[bytes]:
    width = len(counts.keys) * 8 // len(counts.packets)
    return [counts.keys[at : at + width] for at in range(0, len(counts.keys), width)]


CounterRow: TypeAlias = tuple[bytes, int, int, bytes]  # Python 3.11 has no `type` statement


def _build_rows(counted: ElementCounts, elements: Elements) -> list[CounterRow]:
    return [(key, packets, octets, elements.get(key, PLAIN).value) for key, (packets, octets) in counted.items()]


def pack_counts(elements: int, rows: Sequence[CounterRow], *, owned: bool) -> wire.Counts:
    """Pack rows for the wire. Rows: key, packets, octets and owner (b"": no owner)."""
    numbers = f">{len(rows)}Q"
    return wire.Counts(
        elements,
        b"".join([key for key, _, _, _ in rows]),
        pack(numbers, *[packets for _, packets, _, _ in rows]),
        pack(numbers, *[octets for _, _, octets, _ in rows]),
        b"".join([owner or owners.NOBODY for _, _, _, owner in rows]) if owned else b"",
    )

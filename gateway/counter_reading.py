"""One reading of all counters, beside whatever changes the table meanwhile: each set in parts, on any thread.

Comes in: a table, and what is known to be in its sets; goes out: a wire.Reading. Knows no nft and no thread.
"""

from collections.abc import Collection, Mapping, Sequence
from struct import pack
from typing import TypeAlias

from firewall import owners, wire
from firewall.ruleset import Elements
from gateway.table import ElementCounts, NftTable, TableError


class CounterReader:
    """Made and ended where the table is changed; in between, `read` and `stop` may be called anywhere."""

    def __init__(self, table: NftTable, known: Mapping[str, Elements], *, since: int = 0) -> None:
        self._table, self._handle = table, table.handle()
        counted = [name for name, declaration in table.declarations().items() if declaration.counter]
        self._known = {name: tuple(known.get(name, ())) for name in counted}  # copies: what is known goes on changing
        self._found: dict[str, ElementCounts] = {}
        self.since = since
        self._stopped = False

    @property
    def sets(self) -> list[str]:
        """Each is to be read once, in any order, also at the same time."""
        return list(self._known)

    def read(self, name: str) -> None:
        """Read one set. Raises TableError."""
        tally: ElementCounts = {}
        for _ in self._table.tally(name, self._known[name], tally):
            if self._stopped:
                raise TableError("the agent is ending, so nothing more is read")
        self._found[name] = tally

    def stop(self) -> None:
        """Whatever is being read ends with its next part."""
        self._stopped = True

    def check(self) -> None:
        """Raises TableError if the table began anew meanwhile, and its counters with it."""
        if self._table.handle() != self._handle:
            raise TableError("the table was deleted or made anew while its counters were read; ask again")

    def reading(
        self,
        *,
        boot: str,
        sequence: int,
        at: int,
        log: str = "",
        known: Mapping[str, Elements] | None = None,
        gone: tuple[wire.Gone, ...] = (),
    ) -> wire.Reading:
        """What was read, once that is every set. Raises TableError if the table began anew meanwhile, and its counters with it.

        known: the elements now, for whom they count. gone: what was deleted; those later than `since` may have been met or not, so
        what was met of them, or of what came in their place, is left out: it is told by the next reading.
        """
        named = dict(self._table.named_counters())
        self.check()
        for each in gone:
            self._leave_out(each)
        sets = {name: self._packed(tally, _map_owners(known, name)) for name, tally in self._found.items()}
        return wire.Reading(boot, self._handle or 0, log, sequence, at, sets, gone, named)

    def _packed(self, tally: ElementCounts, whose: Mapping[bytes, bytes]) -> wire.Counts:
        return pack_counts(len(tally), _build_rows(tally, whose), owned=bool(whose))

    def _leave_out(self, gone: wire.Gone) -> None:
        if gone.number > self.since:
            for name, counts in gone.sets.items():
                for key in _split_keys(counts):
                    self._found.get(name, {}).pop(key, None)


def _map_owners(known: Mapping[str, Elements] | None, name: str) -> dict[bytes, bytes]:
    """Only sets that count for somebody have elements with values as well as counters (Set.owned)."""
    elements = known.get(name, {}) if known else {}
    return {key: element.value for key, element in elements.items() if element.value}


def _split_keys(counts: wire.Counts) -> Collection[bytes]:
    width = len(counts.keys) * 8 // len(counts.packets)
    return [counts.keys[at : at + width] for at in range(0, len(counts.keys), width)]


CounterRow: TypeAlias = tuple[bytes, int, int, bytes]  # Python 3.11 has no other way


def _build_rows(tally: ElementCounts, whose: Mapping[bytes, bytes]) -> list[CounterRow]:
    """Without the elements that have counted nothing."""
    return [(key, packets, octets, whose.get(key, owners.NOBODY)) for key, (packets, octets) in tally.items() if packets]


def pack_counts(elements: int, rows: Sequence[CounterRow], *, owned: bool) -> wire.Counts:
    """As it goes over the wire. Rows: key, packets, octets and owner (b"": nobody's)."""
    numbers = f">{len(rows)}Q"
    return wire.Counts(
        elements,
        b"".join([key for key, _, _, _ in rows]),
        pack(numbers, *[packets for _, packets, _, _ in rows]),
        pack(numbers, *[octets for _, _, octets, _ in rows]),
        b"".join([owner or owners.NOBODY for _, _, _, owner in rows]) if owned else b"",
    )

"""One reading of all counters, beside whatever changes the table meanwhile: each set in parts, on any thread.

Comes in: a table, and what is known to be in its sets; goes out: a wire.Reading. Knows no nft and no thread.
"""

from collections.abc import Iterable, Mapping
from struct import pack

from firewall import wire
from gateway.table import Table, TableError, Tally


class Counting:
    """Made and ended where the table is changed; in between, `read` and `stop` may be called anywhere."""

    def __init__(self, table: Table, known: Mapping[str, Iterable[bytes]]) -> None:
        self._table, self._handle = table, table.handle()
        counted = [name for name, declaration in table.declarations().items() if declaration.counter]
        self._known = {name: tuple(known.get(name, ())) for name in counted}  # copies: what is known goes on changing
        self._found: dict[str, wire.Counts] = {}
        self._stopped = False

    @property
    def sets(self) -> list[str]:
        """Each is to be read once, in any order, also at the same time."""
        return list(self._known)

    def read(self, name: str) -> None:
        """Read one set. Raises TableError."""
        tally: Tally = {}
        for _ in self._table.tally(name, self._known[name], tally):
            if self._stopped:
                raise TableError("the agent is ending, so nothing more is read")
        self._found[name] = packed(tally)

    def stop(self) -> None:
        """Whatever is being read ends with its next part."""
        self._stopped = True

    def reading(self, *, boot: str, sequence: int, at: int) -> wire.Reading:
        """What was read, once that is every set. Raises TableError if the table began anew meanwhile, and its counters with it."""
        named = dict(self._table.named_counters())
        if self._table.handle() != self._handle:
            raise TableError("the table was deleted or made anew while its counters were read; ask again")
        return wire.Reading(boot, self._handle or 0, sequence, at, self._found, named)


def packed(tally: Tally) -> wire.Counts:
    """As it goes over the wire: without the elements that have counted nothing."""
    some = [(key, packets, octets) for key, (packets, octets) in tally.items() if packets]
    numbers = f">{len(some)}Q"
    return wire.Counts(
        len(tally),
        b"".join([key for key, _, _ in some]),
        pack(numbers, *[packets for _, packets, _ in some]),
        pack(numbers, *[octets for _, _, octets in some]),
    )

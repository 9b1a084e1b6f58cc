"""Position in the event stream: the `id` of server-sent events. Pure.

It is not a number: transactions commit in another order than they begin, and a client that remembers the highest number misses
those that commit late. It is the database's snapshot of which transactions were seen (pg_snapshot), with its time in seconds:
`1763766000-1000:1010:1003,1005`.
"""

import re
from dataclasses import dataclass
from typing import Final

FORM: Final = re.compile(r"([0-9]{1,12})-([0-9]{1,18}):([0-9]{1,18}):((?:[0-9]{1,18}(?:,[0-9]{1,18})*)?)")
LONGEST: Final = 4_096  # characters: a snapshot names each transaction in progress


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """seconds: since 1970, by the database's clock. snapshot: text of a pg_snapshot."""

    seconds: int
    snapshot: str

    def __str__(self) -> str:
        return f"{self.seconds}-{self.snapshot}"

    def has_seen(self, transaction: int) -> bool:
        """True if the snapshot sees what this transaction wrote (pg_visible_in_snapshot)."""
        first, end, under_way = self.snapshot.split(":")
        return transaction < int(first) or (transaction < int(end) and str(transaction) not in under_way.split(","))


def parse_position(text: str) -> StreamPosition | None:
    """Parse a Last-Event-ID. Returns None for anything that PostgreSQL would not accept as a snapshot."""
    found = FORM.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        return None
    first, end = int(found[2]), int(found[3])
    under_way = [int(each) for each in found[4].split(",") if each]
    ordered = all(low < high for low, high in zip([first - 1, *under_way], [*under_way, end], strict=True)) or not under_way
    if not 0 < first <= end or not ordered:
        return None
    return StreamPosition(int(found[1]), text.partition("-")[2])

"""Progress of a check or an import: how many lines were checked, or rows written. A worker's thread writes it into the table's row.

It is also how the work is stopped: once somebody has cancelled it, or another worker has taken it over, the next report raises.
"""

from collections.abc import Iterable, Iterator
from threading import Event
from typing import Any, Final

from apps.desk.people_import.tables import SheetRow

CHECKED_AT_ONCE: Final = 200
"""Lines between two reports."""


class ImportStopped(Exception):  # noqa: N818 - a state, not an error
    """Raised in the midst of the work: it was cancelled, or another worker has it. Nothing of it is kept."""


class ImportProgress:
    """done: lines that were checked, or with `of` rows that were written, of so many. stopped: set from outside."""

    def __init__(self) -> None:
        self.done = 0
        self.of: int | None = None
        self.stopped = Event()

    def to_columns(self) -> dict[str, Any]:
        """Return the columns of the table's row."""
        return {"done": self.done, "of": self.of}

    def iter_counted_rows(self, rows: Iterable[SheetRow]) -> Iterator[SheetRow]:
        """Yield the rows, and count them. Raises ImportStopped."""
        for number, row in enumerate(rows, start=1):
            if number % CHECKED_AT_ONCE == 0:
                self.report(number)
            yield row

    def report(self, done: int, of: int | None = None) -> None:
        """Note what is done. Raises ImportStopped."""
        if self.stopped.is_set():
            raise ImportStopped
        self.done, self.of = done, of

"""The sample table: all headers that are understood in the reader's language, and two lines that can be imported."""

from collections.abc import Sequence
from typing import Final

from apps.desk.people_import.columns import COLUMN_NAMES, PersonColumn

SAMPLE_COLUMNS: Final = [column for column in PersonColumn if column != PersonColumn.SKIP]
_LINES: Final[Sequence[dict[PersonColumn, str]]] = (
    {
        PersonColumn.NAME: "Ada Example",
        PersonColumn.EMAIL: "ada@example.org",
        PersonColumn.HOUSE: "House B",
        PersonColumn.ROOM: "214",
        PersonColumn.FLOOR: "2",
        PersonColumn.STATE: "active",
        PersonColumn.SINCE: "2026-10-01",
        PersonColumn.PAID_UNTIL: "2027-03-31",
        PersonColumn.LANGUAGE: "en",
        PersonColumn.DEVICE: "Laptop",
        PersonColumn.MAC: "00:00:5e:00:53:01",
    },
    {PersonColumn.NAME: "Bo Example", PersonColumn.EMAIL: "bo@example.org", PersonColumn.HOUSE: "House B", PersonColumn.ROOM: "215"},
)


def list_sample_headers() -> list[str]:
    return [str(COLUMN_NAMES[column]) for column in SAMPLE_COLUMNS]


def list_sample_rows() -> list[list[str]]:
    return [[line.get(column, "") for column in SAMPLE_COLUMNS] for line in _LINES]

"""The sample table: all headers that are understood in the reader's language, and two lines that can be imported."""

from collections.abc import Sequence
from typing import Final

from apps.desk.people_import.columns import COLUMN_NAMES, ColumnMeaning

SAMPLE_COLUMNS: Final = [column for column in ColumnMeaning if column != ColumnMeaning.SKIP]
_LINES: Final[Sequence[dict[ColumnMeaning, str]]] = (
    {
        ColumnMeaning.NAME: "Ada Example",
        ColumnMeaning.EMAIL: "ada@example.org",
        ColumnMeaning.HOUSE: "House B",
        ColumnMeaning.ROOM: "214",
        ColumnMeaning.FLOOR: "2",
        ColumnMeaning.STATE: "active",
        ColumnMeaning.SINCE: "2026-10-01",
        ColumnMeaning.PAID_UNTIL: "2027-03-31",
        ColumnMeaning.LANGUAGE: "en",
        ColumnMeaning.DEVICE: "Laptop",
        ColumnMeaning.MAC: "00:00:5e:00:53:01",
    },
    {ColumnMeaning.NAME: "Bo Example", ColumnMeaning.EMAIL: "bo@example.org", ColumnMeaning.HOUSE: "House B", ColumnMeaning.ROOM: "215"},
)


def list_sample_headers() -> list[str]:
    return [str(COLUMN_NAMES[column]) for column in SAMPLE_COLUMNS]


def list_sample_rows() -> list[list[str]]:
    return [[line.get(column, "") for column in SAMPLE_COLUMNS] for line in _LINES]

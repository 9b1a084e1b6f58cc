"""Limits of an imported table. They keep what a file can cost far below what the portal's machines have."""

from typing import Final

MOST_OCTETS: Final = 32 << 20
MOST_BODY: Final = 40 << 20  # octets of a request of the API, which writes a table as JSON text
MOST_ROWS: Final = 200_000
MOST_COLUMNS: Final = 100
LONGEST_CELL: Final = 4_000  # characters
MOST_TEXT: Final = 96 << 20  # octets of all cells of a workbook
WORKBOOK_MEMORY: Final = 640 << 20  # octets of address space of the process that reads a workbook
WORKBOOK_SECONDS: Final = 60  # of processor time
UNREADABLE, TOO_LARGE, TOO_WIDE, TOO_LONG = 3, 4, 5, 6  # exit codes of that process

"""Process that reads a workbook (ODS, XLSX) from its standard input and writes its rows.

It is started as `python -m apps.desk.people_import.workbook_reader`. Out goes one JSON array a line: the row's number, and its cells as
text. The process has no database, no secrets and no environment. The kernel ends it when it takes too much memory or processor time: a
small file can contain a huge table. Its exit code says what was wrong.
"""

import json
import resource
import sys
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from io import BytesIO
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

from apps.desk.people_import.table_limits import (
    MOST_COLUMNS,
    MOST_ROWS,
    MOST_TEXT,
    TOO_LARGE,
    TOO_LONG,
    TOO_WIDE,
    UNREADABLE,
    WORKBOOK_MEMORY,
    WORKBOOK_SECONDS,
)


def format_cell(value: Any) -> str:
    """Return the cell as a person reads it: 12 for a room that the spreadsheet keeps as 12.0, a date as 2027-03-31."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    return str(value)


def iter_lines(rows: Iterable[list[Any]]) -> Iterator[str]:
    """Yield the rows with something in them as JSON. Raises SystemExit for a table that is too long or too wide."""
    octets = 0
    for number, row in enumerate(rows, start=1):
        cells = [format_cell(value) for value in row]
        while cells and not cells[-1].strip():
            cells.pop()
        if not cells:
            continue
        if len(cells) > MOST_COLUMNS:
            raise SystemExit(TOO_WIDE)
        line = json.dumps([number, cells], ensure_ascii=False, separators=(",", ":"))
        octets += len(line)
        if number > MOST_ROWS + 1:
            raise SystemExit(TOO_LONG)
        if octets > MOST_TEXT:
            raise SystemExit(TOO_LARGE)
        yield line


def read_first_sheet(content: bytes) -> Iterator[str]:
    """Yield the rows of the first sheet that has any."""
    book = CalamineWorkbook.from_filelike(BytesIO(content))
    for name in book.sheet_names:
        sheet = book.get_sheet_by_name(name)
        if sheet.width > 0 and sheet.height > 0:
            yield from iter_lines(sheet.iter_rows())
            return


def confine_process() -> None:
    """Limit memory and processor time of this process, and forbid it to write files."""
    limits = (
        (resource.RLIMIT_AS, WORKBOOK_MEMORY),
        (resource.RLIMIT_CPU, WORKBOOK_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    )
    for what, most in limits:
        resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    confine_process()
    try:
        for line in read_first_sheet(sys.stdin.buffer.read()):
            sys.stdout.buffer.write(line.encode(errors="replace") + b"\n")
        sys.stdout.flush()
    except CalamineError:
        sys.exit(UNREADABLE)
    except MemoryError:
        sys.exit(TOO_LARGE)

"""Tables that people upload, as rows of text: CSV in the usual encodings and separators, ODS and XLSX.

Octets come in, rows go out one after the other. Everything that is not a table of a bounded size raises Problem, with the line where
there is one. Knows nothing of members.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from apps.desk.people_import.table_limits import LONGEST_CELL, MOST_COLUMNS, MOST_OCTETS, MOST_ROWS
from apps.desk.people_import.workbooks import iter_workbook_rows
from apps.lib.errors import Problem

ZIP: Final = b"PK\x03\x04"
OLD_EXCEL: Final = b"\xd0\xcf\x11\xe0"
WORKBOOKS: Final = (".xlsx", ".xlsm", ".ods")
SEPARATORS: Final = (";", "\t", ",")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row with something in it. line: its number in the file, from 1."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The header, and an iterator of the rows below it, which raises Problem where the file cannot be read further."""

    header: tuple[str, ...]
    rows: Iterator[SheetRow]


def read_table(content: bytes, name: str = "") -> Table:
    """Return the table. name: the file's name, whose ending says what it claims to be. Raises Problem."""
    if len(content) > MOST_OCTETS:
        raise Problem(_("The file is larger than %(most)d MiB. Split it.") % {"most": MOST_OCTETS >> 20}, "file")
    rows = _check_rows(_iter_rows(content, name.lower()))
    first = next(rows, None)
    if first is None:
        raise Problem(_("The file is empty."), "file")
    return Table(tuple(cell.strip() for cell in first.cells), rows)


def _iter_rows(content: bytes, name: str) -> Iterator[SheetRow]:
    if content.startswith(ZIP):
        return (SheetRow(line, cells) for line, cells in iter_workbook_rows(content))
    if content.startswith(OLD_EXCEL):
        raise Problem(_("This is an old Excel file. Save it as .xlsx, .ods or CSV."), "file")
    if name.endswith(WORKBOOKS):
        raise Problem(_("%(name)s is not a spreadsheet, whatever its name says.") % {"name": name}, "file")
    return _iter_csv_rows(decode_text(content))


def decode_text(content: bytes) -> str:
    """Return the text of a CSV file: UTF-8, UTF-16 if it says so, or Windows-1252, in which old spreadsheets write."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def _iter_csv_rows(text: str) -> Iterator[SheetRow]:
    """Yield the rows. A row's line is the one where it begins: a quoted cell may contain line breaks."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=find_separator(text), strict=True)
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _build_unreadable(line, error) from error
        yield SheetRow(line, tuple(cells))
        line = reader.line_num + 1


def _build_unreadable(line: int, error: csv.Error) -> Problem:
    if "field limit" in str(error):
        return Problem(_("Line %(line)d: a cell is far too long.") % {"line": line}, "file")
    return Problem(_("Line %(line)d: the quotation marks do not fit: “%(error)s”.") % {"line": line, "error": error}, "file")


def find_separator(text: str) -> str:
    """Return the separator that occurs most in the first line, outside quotation marks; a comma if none does."""
    first = next((line for line in io.StringIO(text[:100_000]) if line.strip()), "")
    outside = "".join(first.split('"')[::2])
    return max(SEPARATORS, key=outside.count) if any(each in outside for each in SEPARATORS) else ","


def _check_rows(rows: Iterator[SheetRow]) -> Iterator[SheetRow]:
    """Yield the rows with something in them. Raises Problem for too many rows or columns, a too long cell, and NUL."""
    number = 0
    for row in rows:
        if not any(cell.strip() for cell in row.cells):
            continue
        number += 1
        fault = _find_fault(row, number)
        if fault:
            raise Problem(fault, "file")
        yield row


def _find_fault(row: SheetRow, number: int) -> str:
    """Return what is wrong with this row, "" if nothing is."""
    if number > MOST_ROWS + 1:
        return _("The table has more than %(most)d lines. Split it.") % {"most": MOST_ROWS}
    if len(row.cells) > MOST_COLUMNS:
        facts = {"line": row.line, "most": MOST_COLUMNS}
        return _("Line %(line)d has more than %(most)d columns. Leave out those that are not needed.") % facts
    if any("\0" in cell for cell in row.cells):
        return _("Line %(line)d contains NUL: this is not a text file. Save the table as CSV, ODS or XLSX.") % {"line": row.line}
    if any(len(cell) > LONGEST_CELL for cell in row.cells):
        return _("Line %(line)d: a cell has more than %(most)d characters.") % {"line": row.line, "most": LONGEST_CELL}
    return ""

"""Tables that people upload: whatever spreadsheets write is read, and what is no table of a bounded size is refused with its line."""

from collections.abc import Callable, Sequence
from datetime import date

import pytest

from apps.desk.people_import import table_limits
from apps.desk.people_import.tables import read_table
from apps.lib.errors import Problem
from tests.workbooks import Cell, make_ods, make_xlsx, pack

ROWS = ["Nummer;Name;Zimmer", "2207;Jürgen Weiß;B-214", "", ";;", "2208;Zoë;B-215"]
READ = [(2, ("2207", "Jürgen Weiß", "B-214")), (5, ("2208", "Zoë", "B-215"))]


def read(content: bytes, name: str = "") -> list[tuple[int, tuple[str, ...]]]:
    return [(row.line, row.cells) for row in read_table(content, name).rows]


def refuse(content: bytes, name: str = "") -> str:
    with pytest.raises(Problem) as refused:
        read(content, name)
    return str(refused.value)


@pytest.mark.parametrize("separator", [";", ",", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_usual_csv_file_is_read(separator: str, encoding: str, end: str) -> None:
    content = end.join(ROWS).replace(";", separator).encode(encoding)
    assert read_table(content).header == ("Nummer", "Name", "Zimmer")
    assert read(content) == READ


def test_a_quoted_cell_may_contain_separators_and_lines_and_later_lines_keep_their_numbers() -> None:
    content = b'Name,Note\n"Kaya, Selin","first\nsecond"\nJonas,x\n'
    assert read(content) == [(2, ("Kaya, Selin", "first\nsecond")), (4, ("Jonas", "x"))]


def test_a_separator_in_quotation_marks_does_not_count() -> None:
    assert read_table(b'"a,b,c,d";e\n').header == ("a,b,c,d", "e")


@pytest.mark.parametrize("make", [make_xlsx, make_ods])
def test_a_workbook_gives_numbers_and_days_as_people_read_them(make: Callable[[Sequence[Sequence[Cell]]], bytes]) -> None:
    rows: list[list[Cell]] = [
        [None],
        ["Number", "Room", "Since", "Rate"],
        [2207.0, 12.0, date(2027, 3, 31), 1.5],
        [None],
        ["M-2208", "=CMD", None],
    ]
    content = make(rows)
    assert read_table(content, "people.xlsx").header == ("Number", "Room", "Since", "Rate")
    assert read(content) == [(3, ("2207", "12", "2027-03-31", "1.5")), (5, ("M-2208", "=CMD"))]


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"", "", "The file is empty."),
        (b"\xef\xbb\xbf\r\n \r\n", "", "The file is empty."),
        (b"Name\nA\0da\n", "", "Line 2 contains NUL"),
        (b"Name\n" + b"x" * 10_000_000 + b"\n", "", "Line 2: a cell is far too long."),
        (b"Name\n" + b"x" * 5_000 + b"\n", "", "Line 2: a cell has more than 4000 characters."),
        (b'Name,Note\nAda,"x\ny\n', "", "Line 2: the quotation marks do not fit"),
        (b"a," * 200 + b"\n", "", "Line 1 has more than 100 columns."),
        (b"Number,Name\n", "people.xlsx", "is not a spreadsheet, whatever its name says"),
        (b"PK\x03\x04 and then nothing", "people.xlsx", "This is not a spreadsheet that can be read"),
        (pack({"hello.txt": "world"}), "people.ods", "This is not a spreadsheet that can be read"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "people.xls", "This is an old Excel file."),
    ],
    ids=["nothing", "blank", "nul", "10 MB line", "long cell", "quotes", "wide", "no zip", "broken zip", "another zip", "xls"],
)
def test_what_is_no_table_is_refused_in_words(content: bytes, name: str, words: str) -> None:
    assert words in refuse(content, name)


def test_a_table_with_only_a_header_has_no_rows() -> None:
    assert read(b"Number;Name\r\n") == []


def test_too_many_lines_and_too_large_files_are_refused() -> None:
    assert "The table has more than 200000 lines." in refuse(b"n\n" + b"1\n" * (table_limits.MOST_ROWS + 1))
    assert "The file is larger than 32 MiB." in refuse(b"x" * (table_limits.MOST_OCTETS + 1))


def test_a_workbook_that_unpacks_to_more_than_the_memory_only_ends_its_reader() -> None:
    bomb = make_xlsx([], '<row r="1"><c r="A1" t="inlineStr"><is><t>' + "x" * 300_000_000 + "</t></is></c></row>")
    assert len(bomb) < 1_000_000
    assert "takes too much memory or time" in refuse(bomb)


def test_a_cell_at_the_far_end_of_a_sheet_costs_nothing() -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    near = '<row r="1"><c r="A1"><v>1</v></c></row>'
    assert "takes too much memory or time" in refuse(make_xlsx([], near + far))

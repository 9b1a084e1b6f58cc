"""Parser of feeds that are tables, as the export writes them: CSV with a heading "prefix", or JSON, an array of texts or objects.

It reads the columns prefix, comment and direction, and ignores others. Pure: no Django, no I/O, no clock.
"""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from itertools import islice
from typing import Any, Final, TextIO

SHORT: Final = 1_000
LONGEST: Final = 65_536  # characters of a line of CSV, or of an element of JSON
_SPACE: Final = re.compile(r"\s*")
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class TabularFeedRow:
    """One row's values and place: the line in CSV, the number of the element in JSON."""

    line: int
    prefix: str
    comment: str = ""
    direction: str = ""


class BrokenTable(ValueError):  # noqa: N818 - a finding about a file, not an error of the program
    """Raised for a table that cannot be read to its end. format: "CSV" or "JSON". line: of the row that cannot be read, as in a row."""

    def __init__(self, format: str, line: int) -> None:
        super().__init__(f"{format} broken at line {line}")
        self.format, self.line = format, line


def is_tabular_feed(content: bytes) -> bool:
    """True for JSON, and for CSV with several columns of which one is "prefix"."""
    return _is_json(content) or "prefix" in _read_headings(content)


def _is_json(content: bytes) -> bool:
    return content.lstrip()[:1] in (b"[", b"{")


def _read_headings(content: bytes) -> list[str]:
    first = content.lstrip(b"\r\n")[:1000].partition(b"\n")[0].decode(errors="replace").strip()
    return [each.strip(' "').lower() for each in first.split(",")] if "," in first else []


def iter_rows(content: bytes) -> Iterator[TabularFeedRow]:
    """Yield all rows one by one; a row without an address has a prefix that is none.

    Raises BrokenTable before the first row, because half a list would lift the bans of the other half.
    """
    return _iter_json(content.decode(errors="replace")) if _is_json(content) else _iter_csv(content)


def _iter_csv(content: bytes) -> Iterator[TabularFeedRow]:
    for _record in _iter_records(content):
        pass
    headings = _read_headings(content)
    for line, values in islice(_iter_records(content), 1, None):
        said = dict(zip(headings, values, strict=False))
        prefix, comment, direction = (said.get(name, "").strip() for name in ("prefix", "comment", "direction"))
        yield TabularFeedRow(line, prefix, comment.removeprefix("'"), direction.lower())


def _iter_records(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the last line and the values of each record that is not empty. Raises BrokenTable, also where a quotation mark stays open."""
    text = TextIOWrapper(BytesIO(content.lstrip(b"\r\n")), "utf-8", errors="replace", newline="")
    reader = csv.reader(_iter_short_lines(text), strict=True)
    begins = 1
    try:
        for values in reader:
            begins = reader.line_num + 1
            if values:
                yield reader.line_num, values
    except csv.Error as why:
        raise BrokenTable("CSV", begins) from why


def _iter_short_lines(text: TextIO) -> Iterator[str]:
    """Yield the lines. Raises csv.Error for one that is too long, because it could become a row of millions of columns."""
    while line := text.readline(LONGEST + 1):
        if len(line) > LONGEST:
            raise csv.Error("line too long")
        yield line


def _iter_json(text: str) -> Iterator[TabularFeedRow]:
    number = 0
    try:
        for _each in _iter_elements(text):
            number += 1
    except (ValueError, RecursionError) as why:
        raise BrokenTable("JSON", number + 1) from why
    for number, each in enumerate(_iter_elements(text), 1):
        yield _parse_element(number, each)


def _iter_elements(text: str) -> Iterator[Any]:
    """Yield the elements of an array one by one, or the only value. Raises ValueError, RecursionError."""
    at = _skip_space(text, 0)
    if text[at] != "[":
        value, at = _decode_value(text, at)
        yield value
        _demand_end(text, at)
        return
    at = _skip_space(text, at + 1)
    closed = text[at : at + 1] == "]"
    while not closed:
        value, at = _decode_value(text, at)
        yield value
        at = _skip_space(text, at)
        sign = text[at : at + 1]
        if sign not in (",", "]"):
            raise ValueError(f"neither , nor ] at {at}")
        closed = sign == "]"
        if not closed:
            at = _skip_space(text, at + 1)
    _demand_end(text, at + 1)


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _demand_end(text: str, at: int) -> None:
    if _skip_space(text, at) != len(text):
        raise ValueError(f"something behind the end at {at}")


def _decode_value(text: str, at: int) -> tuple[Any, int]:
    """Return one value of at most LONGEST characters, and where it ends. Most values are short, so little is copied."""
    for length in (SHORT, LONGEST):
        try:
            value, end = _DECODER.raw_decode(text[at : at + length])
        except ValueError:
            if length == LONGEST or at + length >= len(text):
                raise
        else:
            return value, at + end
    raise ValueError("too long")


def _parse_element(number: int, each: Any) -> TabularFeedRow:
    if isinstance(each, str):
        return TabularFeedRow(number, each)
    said = {name: each.get(name) for name in ("prefix", "comment", "direction")} if isinstance(each, dict) else {}
    texts = {name: value if isinstance(value, str) else "" for name, value in said.items()}
    return TabularFeedRow(number, texts.get("prefix", "").strip(), texts.get("comment", ""), texts.get("direction", "").lower())

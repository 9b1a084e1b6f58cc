"""Feeds that are tables: CSV with a heading "prefix", or JSON, an array of texts or objects. As the export writes them.

Of each row the columns prefix, comment and direction are read; others are left alone. Pure: no Django, no I/O, no clock.
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """What one row says, and where: the line in CSV, the number of the element in JSON."""

    line: int
    prefix: str
    comment: str = ""
    direction: str = ""


def is_table(text: str) -> bool:
    """Is it JSON, or CSV with several columns of which one is a prefix?"""
    return text.lstrip()[:1] in ("[", "{") or "prefix" in _headings(text)


def _headings(text: str) -> list[str]:
    first = text.lstrip("\r\n").partition("\n")[0][:1000].strip()
    return [each.strip(' "').lower() for each in first.split(",")] if "," in first else []


def rows(text: str) -> Iterator[Row]:
    """All rows; what is no row at all is one whose prefix is none."""
    return _json(text) if text.lstrip()[:1] in ("[", "{") else _csv(text)


def _csv(text: str) -> Iterator[Row]:
    reader = csv.DictReader(StringIO(text.lstrip("\r\n")), fieldnames=None)
    reader.fieldnames = _headings(text)
    next(reader, None)
    try:
        for each in reader:
            said = {name: (each.get(name) or "").strip() for name in ("prefix", "comment", "direction")}
            yield Row(reader.line_num, said["prefix"], said["comment"].removeprefix("'"), said["direction"].lower())
    except csv.Error:
        yield Row(reader.line_num, "CSV?")


def _json(text: str) -> Iterator[Row]:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        yield Row(1, "JSON?")
        return
    for number, each in enumerate(read if isinstance(read, list) else [read], 1):
        yield _of_element(number, each)


def _of_element(number: int, each: Any) -> Row:
    if isinstance(each, str):
        return Row(number, each)
    said = {name: each.get(name) for name in ("prefix", "comment", "direction")} if isinstance(each, dict) else {}
    texts = {name: value if isinstance(value, str) else "" for name, value in said.items()}
    return Row(number, texts.get("prefix", "").strip(), texts.get("comment", ""), texts.get("direction", "").lower())

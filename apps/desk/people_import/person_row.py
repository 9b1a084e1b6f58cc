"""A line of the table as values: what it says about one member, and what in it cannot be understood. Pure.

An empty cell says nothing. Nothing is guessed: a cell that cannot be understood becomes a problem with its line and column.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.desk.people_import import cells
from apps.desk.people_import.cells import WantedForward
from apps.desk.people_import.columns import ColumnMeaning
from apps.desk.people_import.tables import SheetRow
from apps.lib.errors import Problem
from apps.lib.fields import Address, Prefix
from apps.lib.visible_text import refuse_invisible_characters


@dataclass(frozen=True, slots=True)
class CellProblem:
    """What is wrong in a line. column: the header of the cell, "" for the whole line."""

    line: int
    column: str
    text: str


@dataclass(slots=True)
class PersonRow:
    """What a line says about a member; None or empty: nothing."""

    line: int
    number: int | None = None
    name: str | None = None
    email: str | None = None
    house: str | None = None
    room: str | None = None
    floor: int | None = None
    tariff: str | None = None
    state: str | None = None
    since: date | None = None
    paid_until: date | None = None
    language: str | None = None
    note: str | None = None
    publics: tuple[Address, ...] = ()
    addresses: tuple[Prefix, ...] = ()
    prefixes: tuple[Prefix, ...] = ()
    forwards: tuple[WantedForward, ...] = ()
    devices: list[tuple[str, str]] = field(default_factory=list)
    """Name and MAC address of each device."""


_PARSERS: Final[dict[ColumnMeaning, tuple[str, Callable[[str], Any]]]] = {
    ColumnMeaning.NUMBER: ("number", cells.parse_number),
    ColumnMeaning.NAME: ("name", cells.parse_name),
    ColumnMeaning.EMAIL: ("email", cells.parse_email),
    ColumnMeaning.HOUSE: ("house", cells.parse_house),
    ColumnMeaning.ROOM: ("room", cells.parse_room),
    ColumnMeaning.FLOOR: ("floor", cells.parse_floor),
    ColumnMeaning.TARIFF: ("tariff", str.strip),
    ColumnMeaning.STATE: ("state", cells.parse_state),
    ColumnMeaning.SINCE: ("since", cells.parse_day),
    ColumnMeaning.PAID_UNTIL: ("paid_until", cells.parse_day),
    ColumnMeaning.LANGUAGE: ("language", cells.parse_language),
    ColumnMeaning.NOTE: ("note", cells.parse_note),
    ColumnMeaning.PUBLIC: ("publics", cells.parse_publics),
    ColumnMeaning.ADDRESS: ("addresses", cells.parse_addresses),
    ColumnMeaning.PREFIX: ("prefixes", cells.parse_prefixes),
    ColumnMeaning.FORWARDS: ("forwards", cells.parse_forwards),
}


class PersonRowParser:
    """Parses the lines of one table. header, meanings: its columns."""

    def __init__(self, header: Sequence[str], meanings: Sequence[ColumnMeaning]) -> None:
        self._header = header
        chosen = list(enumerate(meanings))
        self._parsers = [(at, *_PARSERS[meaning]) for at, meaning in chosen if meaning in _PARSERS]
        self._names = [at for at, meaning in chosen if meaning == ColumnMeaning.DEVICE]
        self._macs = [at for at, meaning in chosen if meaning == ColumnMeaning.MAC]
        self._lines = frozenset(at for at, meaning in chosen if meaning in (ColumnMeaning.NOTE, ColumnMeaning.FORWARDS))
        self._read = [at for at, meaning in chosen if meaning != ColumnMeaning.SKIP]
        self._columns = dict(reversed([(meaning, header[at]) for at, meaning in chosen if at < len(header)]))

    def get_header(self, meaning: ColumnMeaning) -> str:
        """Return the header of the first column with this meaning, "" if there is none."""
        return self._columns.get(meaning, "")

    def parse(self, row: SheetRow) -> tuple[PersonRow, list[CellProblem]]:
        """Return what the line says, and the problems of its cells."""
        person, problems = PersonRow(row.line), list(self._iter_text_problems(row))
        if problems:
            return person, problems
        for at, name, parse in self._parsers:
            if text := self._get_text(row, at):
                try:
                    setattr(person, name, parse(text))
                except (Problem, ValidationError) as error:
                    problems.append(CellProblem(row.line, self._name_column(at), _describe(error)))
        problems += self._parse_devices(row, person)
        return person, problems

    def _get_text(self, row: SheetRow, at: int) -> str:
        return cells.unescape_formula(row.cells[at].strip()) if at < len(row.cells) else ""

    def _name_column(self, at: int) -> str:
        return self._header[at] if at < len(self._header) and self._header[at] else _("column %(number)d") % {"number": at + 1}

    def _iter_text_problems(self, row: SheetRow) -> Iterator[CellProblem]:
        """Yield the cells beyond the header, those with text that people cannot see, and formulas, whose result the file lacks."""
        for at in range(len(self._header), len(row.cells)):
            if row.cells[at].strip():
                yield CellProblem(row.line, self._name_column(at), _("The header has no name for this cell."))
        for at in self._read:
            text = row.cells[at].strip() if at < len(row.cells) else ""
            if text.startswith("="):
                yield CellProblem(row.line, self._name_column(at), _("This is a formula. Write its result."))
            elif text and not text.isprintable():
                try:
                    refuse_invisible_characters(text, lines=at in self._lines)
                except ValidationError as error:
                    yield CellProblem(row.line, self._name_column(at), _describe(error))

    def _parse_devices(self, row: SheetRow, person: PersonRow) -> Iterator[CellProblem]:
        """Add the devices to the person; the nth name column belongs to the nth MAC column. Yield the problems."""
        for index, at in enumerate(self._macs):
            mac = self._get_text(row, at)
            name = self._get_text(row, self._names[index]) if index < len(self._names) else ""
            if not mac and not name:
                continue
            try:
                person.devices.append((cells.parse_device_name(name or f"Device {index + 1}"), cells.parse_mac(mac)))
            except (Problem, ValidationError) as error:
                yield CellProblem(row.line, self._name_column(at), _describe(error))


def _describe(error: Problem | ValidationError) -> str:
    return str(error) if isinstance(error, Problem) else " ".join(error.messages)

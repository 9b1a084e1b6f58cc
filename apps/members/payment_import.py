"""Import of “paid until” from a list made by a bank or a treasurer.

The list is previewed first, then imported as a whole or not at all. Importing twice is harmless. A line has a member's number
(2207 or M-2207) and a day (2027-03-31 or 31.03.2027), separated by comma, semicolon or tab; further cells are ignored, and may
contain line breaks between quotation marks. A first line without digits is a header. An import never moves “paid until” back.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import batched, chain
from typing import Final

from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.database.id_arrays import build_ids_filter
from apps.lib.database.validity import EARLIEST, FARTHEST
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.members.models import Member

MOST_LINES: Final = 50_000
LONGEST_LINE: Final = 1_000
DAYS: Final = ("%Y-%m-%d", "%d.%m.%Y")
STEP: Final = 1_000
"""Members in one statement. A trigger joins all of them with themselves, perhaps by a plan for one row, which would be slow for more."""
EXTEND: Final = """
    UPDATE members_member m SET paid_until = w.paid_until, version = m.version + 1
    FROM unnest(%s::bigint[], %s::date[]) AS w (id, paid_until)
    WHERE m.id = w.id AND (m.paid_until IS NULL OR m.paid_until < w.paid_until)
"""
_NUMBER_AND_SEPARATOR: Final = re.compile(r"""\s*"?\s*(?:M-)?[0-9]+ *"? *([;,\t])""", re.IGNORECASE)
_BLANKS_BEHIND_QUOTE: Final = re.compile(r"""(?<=") +(?=[;,\t]|$)""")  # a strict reader takes them for text outside the quotation marks


@dataclass(frozen=True, slots=True)
class PaymentRecord:
    """A record of the list: the line where it begins, its first two cells, and whether its quotation marks fit; if not, one cell: that
    line.
    """

    line: int
    cells: list[str]
    readable: bool = True


@dataclass(frozen=True, slots=True)
class Payment:
    """A parsed line: the member and the new “paid until”."""

    line: int
    member: Member
    until: date

    @property
    def is_extension(self) -> bool:
        return self.member.paid_until is None or self.member.paid_until < self.until


@dataclass(frozen=True, slots=True)
class PaymentFault:
    """A line that could not be parsed, and why."""

    line: int
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class PaymentPreview:
    """The effects of a list, and its faults."""

    payments: list[Payment]
    faults: list[PaymentFault]

    @property
    def extensions(self) -> list[Payment]:
        """Payments that change something."""
        return [each for each in self.payments if each.is_extension]

    @property
    def unchanged_count(self) -> int:
        """The number of lines that change nothing."""
        return len(self.payments) - len(self.extensions)


def read_payments(text: str) -> PaymentPreview:
    """Parse the list and return what it would do now. Raises Problem when it is too long or empty."""
    lines = list(io.StringIO(text.replace("\0", "").removeprefix("\ufeff"), newline=None))
    if len(lines) > MOST_LINES:
        raise Problem(_("The list has more than %(most)d lines. Split it.") % {"most": MOST_LINES}, "file")
    records = list(_iter_records(lines))
    members = Member.objects.filter(number__in=_list_numbers(records)).only("number", "name", "state", "paid_until")
    known = {member.number: member for member in members}
    seen: dict[int, int] = {}
    found = [_parse_payment(record, known, seen) for record in records]
    if not found:
        raise Problem(_("The list is empty."), "file")
    return PaymentPreview([each for each in found if isinstance(each, Payment)], [each for each in found if isinstance(each, PaymentFault)])


def import_payments(preview: PaymentPreview, *, by: User) -> int:
    """Apply the list that was read; return for how many members “paid until” was extended.

    Raises Problem when a line could not be parsed; nothing is changed then.
    """
    if preview.faults:
        raise Problem(_("Some lines have errors, so nothing was changed. Correct the list, then try again."), "file")
    wanted = sorted((each.member.pk, each.until) for each in preview.extensions)
    with transaction.atomic():
        _lock_members([pk for pk, _until in wanted])
        extended = sum(_extend(step) for step in batched(wanted, STEP))
        enqueue_task("workers.reconcile", by.pk)
    return extended


def _lock_members(ids: list[int]) -> None:
    """Lock the members in order of their ids, so that two imports of the same members do not deadlock."""
    list(Member.objects.select_for_update(of=("self",), no_key=True).filter(build_ids_filter(ids)).order_by("pk").values_list("pk"))


def _extend(wanted: Sequence[tuple[int, date]]) -> int:
    """Set “paid until” of these members, by their ids, where it is earlier or not set; return their number."""
    with connection.cursor() as cursor:
        cursor.execute(EXTEND, [[pk for pk, _until in wanted], [until for _pk, until in wanted]])
        return int(cursor.rowcount)


def _iter_records(lines: Iterable[str]) -> Iterator[PaymentRecord]:
    """Yield the records, without empty lines and the header. The first one whose quotation marks do not fit is the last: what follows may
    be inside them.
    """
    numbered = enumerate((_BLANKS_BEHIND_QUOTE.sub("", line) for line in lines), start=1)
    for number, line in numbered:
        if not line.strip():
            continue
        try:
            cells = [cell.strip() for cell in _read_cells(line, (further for _number, further in numbered))]
        except csv.Error:
            yield PaymentRecord(number, [line.strip()], readable=False)
            return
        if number == 1 and not any(character.isdigit() for character in "".join(cells)):
            continue
        yield PaymentRecord(number, cells)


def _read_cells(line: str, following: Iterator[str]) -> list[str]:
    """Return the first two cells of the record that begins with this line. Raises csv.Error.

    Takes as many of the following lines as the record has: a quoted cell may contain line breaks, but no line that would be a payment by
    itself: then the mark that ends the cell belongs to something else. A line whose quotation marks come in pairs is a record by itself,
    even if they stand at the wrong places.
    """
    separator, taken = _find_separator(line), list[str]()
    reader = csv.reader(chain([line], _iter_noted(following, taken)), delimiter=separator, strict=True)
    try:
        cells = next(reader)[:2]
    except csv.Error:
        if reader.line_num > 1 or line.count('"') % 2:
            raise
        return _split_line(line, separator)
    if any(map(_is_payment, taken)):
        raise csv.Error("a payment within quotation marks")
    return cells


def _iter_noted(lines: Iterator[str], noted: list[str]) -> Iterator[str]:
    for line in lines:
        noted.append(line)
        yield line


def _is_payment(line: str) -> bool:
    cells = _split_line(line, _find_separator(line))
    return len(cells) > 1 and _parse_number(cells[0].strip()) is not None and _parse_day(cells[1].strip()) is not None


def _split_line(line: str, separator: str) -> list[str]:
    """Return the first two cells of a line by itself, wherever its quotation marks stand; [] for an empty line."""
    return next(csv.reader([line[:LONGEST_LINE]], delimiter=separator), [])[:2]


def _find_separator(line: str) -> str:
    """Return the separator that ends the member's number: further cells may contain the others."""
    found = _NUMBER_AND_SEPARATOR.match(line)
    return found[1] if found else next((each for each in (";", "\t") if each in line), ",")


def _list_numbers(records: list[PaymentRecord]) -> set[int]:
    return {number for record in records if (number := _parse_number(record.cells[0])) is not None}


def _parse_number(cell: str) -> int | None:
    digits = cell.upper().removeprefix("M-")
    return int(digits) if digits.isascii() and digits.isdigit() and 0 < int(digits[:10]) < 2**31 and len(digits) <= 10 else None


def _parse_day(cell: str) -> date | None:
    for form in DAYS:
        try:
            day = datetime.strptime(cell, form).date()  # noqa: DTZ007 - a date has no zone
        except ValueError:
            continue
        return day if EARLIEST <= day < FARTHEST else None
    return None


def _parse_payment(record: PaymentRecord, known: dict[int, Member], seen: dict[int, int]) -> Payment | PaymentFault:
    line, cells = record.line, record.cells
    text = " · ".join(cells)[:80]
    if not record.readable:
        return PaymentFault(line, text, _("A quotation mark is missing, or one within a cell is not doubled."))
    number = _parse_number(cells[0])
    if number is None:
        return PaymentFault(line, text, _("The first cell is not a member number."))
    member = known.get(number)
    if member is None:
        return PaymentFault(line, text, _("Member M-%(number)d not found.") % {"number": number})
    if member.state == Member.State.LEFT:
        return PaymentFault(line, text, _("%(member)s has left.") % {"member": member})
    until = _parse_day(cells[1]) if len(cells) > 1 else None
    if until is None:
        return PaymentFault(line, text, _("The second cell is not a date. Write it like 2027-03-31 or 31.03.2027."))
    if number in seen:
        return PaymentFault(line, text, _("M-%(number)d stands in line %(line)d too.") % {"number": number, "line": seen[number]})
    seen[number] = line
    return Payment(line, member, until)

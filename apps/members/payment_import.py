"""Import of “paid until” from a list made by a bank or a treasurer.

The list is previewed first, then imported as a whole or not at all. Importing twice is harmless. A line has a member's number
(2207 or M-2207) and a day (2027-03-31 or 31.03.2027), separated by comma, semicolon or tab; further cells are ignored. A first
line without digits is a header. An import never moves “paid until” back.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.database.validity import EARLIEST, FARTHEST
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.members.models import Member

MOST_LINES: Final = 50_000
LONGEST_LINE: Final = 1_000
DAYS: Final = ("%Y-%m-%d", "%d.%m.%Y")
_NUMBER_AND_SEPARATOR: Final = re.compile(r"""\s*"?\s*(?:M-)?[0-9]+ *"? *([;,\t])""", re.IGNORECASE)


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
    cells = list(_iter_cells(lines))
    known = {member.number: member for member in Member.objects.filter(number__in=_list_numbers(cells))}
    seen: dict[int, int] = {}
    found = [_parse_payment(line, given, known, seen) for line, given in cells]
    if not found:
        raise Problem(_("The list is empty."), "file")
    return PaymentPreview([each for each in found if isinstance(each, Payment)], [each for each in found if isinstance(each, PaymentFault)])


def import_payments(text: str, *, by: User) -> PaymentPreview:
    """Apply the list. Raises Problem when a line cannot be parsed; nothing is changed then."""
    with transaction.atomic():
        preview = read_payments(text)
        if preview.faults:
            raise Problem(_("Some lines have errors, so nothing was changed. Correct the list, then try again."), "file")
        for each in preview.extensions:
            shorter = Member.objects.filter(pk=each.member.pk).exclude(paid_until__gte=each.until)
            shorter.update(paid_until=each.until, version=F("version") + 1)
        enqueue_task("workers.reconcile", by.pk)
    return preview


def _iter_cells(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield each line's number and cells, without empty lines and the header."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in next(csv.reader([line[:LONGEST_LINE]], delimiter=_find_separator(line)))]
        if number == 1 and not any(character.isdigit() for character in "".join(cells[:2])):
            continue
        yield number, cells


def _find_separator(line: str) -> str:
    """Return the separator that ends the member's number: further cells may contain the others."""
    found = _NUMBER_AND_SEPARATOR.match(line)
    return found[1] if found else next((each for each in (";", "\t") if each in line), ",")


def _list_numbers(cells: list[tuple[int, list[str]]]) -> set[int]:
    return {number for _line, given in cells if (number := _parse_number(given[0])) is not None}


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


def _parse_payment(line: int, cells: list[str], known: dict[int, Member], seen: dict[int, int]) -> Payment | PaymentFault:
    text = " · ".join(cells[:2])[:80]
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

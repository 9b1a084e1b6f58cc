"""What a feed's text says: entries, and every line that says nothing we understand.

In: lines with an address, a prefix or a range `a-b`, perhaps quoted, perhaps a count behind it, perhaps a comment after `#` or `;`;
or a table (apps/bans/tables.py). Out: values with line numbers. Pure, and linear in the length of the text: no Django, no I/O, no clock.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from apps.bans import tables
from apps.bans.prefixes import Fault, NoBan, read_range
from firewall.policy import Prefix

LONGEST_COMMENT: Final = 200
LONGEST_EXCERPT: Final = 80

_COMMENT = re.compile("[#;]")
_SEPARATORS = re.compile(r"[\s,]+")
_RANGE = re.compile(r"\s-\s")
_HEADINGS = frozenset({"ip", "ips", "address", "addresses", "ip_address", "ipaddress", "cidr", "network", "prefix"})


@dataclass(frozen=True, slots=True)
class Limits:
    """How much we read: octets of the whole, lines, and characters of one line."""

    octets: int = 32 << 20
    lines: int = 1_000_000
    length: int = 1_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One prefix that the feed names, and where."""

    line: int
    prefix: Prefix
    comment: str = ""
    direction: str = ""  # "in", "out" or "both"; "": the feed does not say


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be a ban: its number, its text (cut), why, what would do instead, and what stands in the way."""

    line: int
    text: str
    fault: Fault
    offer: str = ""
    culprit: str = ""


@dataclass(frozen=True, slots=True)
class Feed:
    """Each prefix once, in the order of the text. `below`: lines whose count is smaller than what was asked for."""

    entries: tuple[Entry, ...]
    bad: tuple[BadLine, ...] = ()
    duplicates: int = 0
    below: int = 0


class TooBig(ValueError):  # noqa: N818 - a finding about somebody's file, not an error of the program
    """More than we read: `what` ("octets", "lines" or "entries") exceeds `limit`."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"more than {limit:,} {what}")
        self.what, self.limit = what, limit


def parse(content: bytes | str, *, minimum_count: int = 0, limits: Limits | None = None) -> Feed:
    """Read a whole feed. Raises TooBig; everything else that is wrong is in the feed's bad lines."""
    limits = limits or Limits()
    text = _text(content, limits)
    if tables.is_table(text):
        return _table(tables.rows(text), limits)
    lines = text.split("\n")
    found: dict[Prefix, Entry] = {}
    bad: list[BadLine] = []
    named = below = 0
    for number, line in enumerate(lines, 1):
        try:
            read = _read(line, limits, first=not found and not bad)
        except NoBan as why:
            bad.append(BadLine(number, _excerpt(line), why.fault, why.offer))
            continue
        if minimum_count and read.prefixes and read.count is None:
            bad.append(BadLine(number, _excerpt(line), Fault.NO_COUNT))
        elif minimum_count and (read.count or 0) < minimum_count:
            below += len(read.prefixes)
        else:
            named += len(read.prefixes)
            for prefix in read.prefixes:
                found.setdefault(prefix, Entry(number, prefix, read.comment))
    return Feed(tuple(found.values()), tuple(bad), named - len(found), below)


@dataclass(frozen=True, slots=True)
class _Line:
    prefixes: tuple[Prefix, ...] = ()
    count: int | None = None
    comment: str = ""


_NOTHING = _Line()


def _table(rows: Iterable[tables.Row], limits: Limits) -> Feed:
    found: dict[Prefix, Entry] = {}
    bad: list[BadLine] = []
    named = 0
    for number, row in enumerate(rows):
        if number > limits.lines:
            raise TooBig("entries", limits.lines)
        try:
            prefixes = _of_row(row)
        except NoBan as why:
            bad.append(BadLine(row.line, _excerpt(row.prefix or row.direction), why.fault, why.offer))
            continue
        named += len(prefixes)
        for prefix in prefixes:
            found.setdefault(prefix, Entry(row.line, prefix, tidy(row.comment[: limits.length]), row.direction))
    return Feed(tuple(found.values()), tuple(bad), named - len(found))


def _of_row(row: tables.Row) -> list[Prefix]:
    if row.direction not in ("", "in", "out", "both"):
        raise NoBan(Fault.DIRECTION)
    return read_range(_RANGE.sub("-", row.prefix))


def _text(content: bytes | str, limits: Limits) -> str:
    octets = content.encode(errors="replace") if isinstance(content, str) else content
    if len(octets) > limits.octets:
        raise TooBig("octets", limits.octets)
    if octets.count(b"\n") > limits.lines:
        raise TooBig("lines", limits.lines)
    return octets.decode("utf-8-sig", errors="replace")


def _read(line: str, limits: Limits, *, first: bool) -> _Line:
    """What one line says. Raises NoBan."""
    if len(line) > limits.length:
        raise NoBan(Fault.TOO_LONG)
    data, *rest = _COMMENT.split(line, maxsplit=1)
    fields = [field.strip("\"'") for field in _SEPARATORS.split(_RANGE.sub("-", data.strip())) if field]
    if not fields or (first and len(fields) == 1 and fields[0].lower() in _HEADINGS):
        return _NOTHING
    prefixes = tuple(read_range(fields[0]))
    if len(fields) > 2 or (len(fields) == 2 and not _is_count(fields[1])):
        raise NoBan(Fault.TRAILING)
    return _Line(prefixes, int(fields[1]) if len(fields) == 2 else None, tidy(rest[0]) if rest else "")


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _excerpt(line: str) -> str:
    shown = tidy(line[: 2 * LONGEST_EXCERPT])
    return shown if len(shown) <= LONGEST_EXCERPT else shown[: LONGEST_EXCERPT - 1] + "…"


def tidy(text: str) -> str:
    """A comment as we keep it: printable, on one line, not too long."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(printable.split())[:LONGEST_COMMENT].rstrip()

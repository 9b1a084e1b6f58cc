"""Parser of feeds: yields entries, and collects the lines that it cannot read.

In: lines with an address, a prefix or a range `a-b`, optionally quoted, optionally with a count behind it and a comment after `#` or `;`;
or a table (apps/bans/feed_tables.py). Out: values with line numbers. Pure, and linear in the length of the text: no Django, I/O or clock.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from apps.bans import feed_tables
from apps.bans.prefixes import BanFault, UnbannablePrefix, parse_ban_range
from firewall.policy import Prefix

LONGEST_COMMENT: Final = 200
LONGEST_EXCERPT: Final = 80
MOST_BAD: Final = 1_000  # bad lines that are kept; the others are only counted

_COMMENT = re.compile("[#;]")
_SEPARATORS = re.compile(r"[\s,]+")
_RANGE = re.compile(r"\s-\s")
_HEADINGS = frozenset({"ip", "ips", "address", "addresses", "ip_address", "ipaddress", "cidr", "network", "prefix"})


@dataclass(frozen=True, slots=True)
class FeedLimits:
    """Limits of a feed: octets of the content, number of lines (and of entries, since a range becomes several), and characters of
    one line.
    """

    octets: int = 32 << 20
    lines: int = 1_000_000
    length: int = 1_000


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One prefix that the feed names, with its line."""

    line: int
    prefix: Prefix
    comment: str = ""
    direction: str = ""  # "in", "out" or "both"; "": the feed does not say


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be a ban: its number, its text (cut), the fault, an alternative, and what prevents the ban."""

    line: int
    text: str
    fault: BanFault
    offer: str = ""
    culprit: str = ""


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed in memory: each prefix once, in the order of the text. `below`: entries whose count is below the minimum.

    bad: the first bad lines; bad_count: their number.
    """

    entries: tuple[FeedEntry, ...]
    bad: tuple[BadLine, ...] = ()
    duplicates: int = 0
    below: int = 0
    bad_count: int = 0

    def __iter__(self) -> Iterator[FeedEntry]:
        return iter(self.entries)


class FeedTooBig(ValueError):  # noqa: N818 - a finding about a file, not an error of the program
    """Raised for a feed beyond the limits: `what` ("octets", "lines" or "entries") exceeds `limit`."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"more than {limit:,} {what}")
        self.what, self.limit = what, limit


class FeedReader:
    """Reads a feed once, entry by entry, so that a million lines take no more memory than their text.

    Iterating yields each prefix that the text names, repeated ones too, and raises FeedTooBig. Afterwards the attributes hold the
    counts: bad (the first bad lines), bad_count, below, and named (entries so far).
    """

    duplicates = 0  # the reader does not compare entries; its caller counts duplicates

    def __init__(self, content: bytes | str, *, minimum_count: int = 0, limits: FeedLimits | None = None) -> None:
        self._content = content.encode(errors="replace") if isinstance(content, str) else content
        self._minimum_count, self._limits = minimum_count, limits or FeedLimits()
        self.bad: list[BadLine] = []
        self.bad_count = self.below = self.named = 0

    def __iter__(self) -> Iterator[FeedEntry]:
        _check_size(self._content, self._limits)
        content = self._content.removeprefix(BOM_UTF8)
        for entry in self._iter_table(content) if feed_tables.is_tabular_feed(content) else self._iter_lines(content):
            self.named += 1
            if self.named > self._limits.lines:
                raise FeedTooBig("entries", self._limits.lines)
            yield entry

    def _iter_lines(self, content: bytes) -> Iterator[FeedEntry]:
        for number, octets in enumerate(BytesIO(content), 1):
            line = octets.decode(errors="replace").removesuffix("\n")
            try:
                read = _parse_line(line, self._limits, first=not self.named and not self.bad_count)
            except UnbannablePrefix as why:
                self._add_bad_line(BadLine(number, _cut_excerpt(line), why.fault, why.offer))
                continue
            if self._meets_minimum(read, number, line):
                yield from (FeedEntry(number, prefix, read.comment) for prefix in read.prefixes)

    def _meets_minimum(self, read: "_Line", number: int, line: str) -> bool:
        """True if the line's count reaches the minimum. A line without a count is then a bad line."""
        if not self._minimum_count:
            return True
        if read.prefixes and read.count is None:
            self._add_bad_line(BadLine(number, _cut_excerpt(line), BanFault.NO_COUNT))
            return False
        if (read.count or 0) < self._minimum_count:
            self.below += len(read.prefixes)
            return False
        return True

    def _iter_table(self, content: bytes) -> Iterator[FeedEntry]:
        try:
            for number, row in enumerate(feed_tables.iter_rows(content)):
                if number > self._limits.lines:
                    raise FeedTooBig("entries", self._limits.lines)
                yield from self._iter_row(row)
        except feed_tables.BrokenTable as why:
            self._add_bad_line(BadLine(why.line, why.format, BanFault.BROKEN_TABLE))

    def _iter_row(self, row: feed_tables.TabularFeedRow) -> Iterator[FeedEntry]:
        try:
            prefixes = _parse_row(row)
        except UnbannablePrefix as why:
            self._add_bad_line(BadLine(row.line, _cut_excerpt(row.prefix or row.direction), why.fault, why.offer))
            return
        comment = tidy_comment(row.comment[: self._limits.length])
        yield from (FeedEntry(row.line, prefix, comment, row.direction) for prefix in prefixes)

    def _add_bad_line(self, bad: BadLine) -> None:
        self.bad_count += 1
        if len(self.bad) < MOST_BAD:
            self.bad.append(bad)


def parse_feed(content: bytes | str, *, minimum_count: int = 0, limits: FeedLimits | None = None) -> Feed:
    """Read a whole feed into memory. Raises FeedTooBig; all other faults are among the feed's bad lines."""
    reader = FeedReader(content, minimum_count=minimum_count, limits=limits)
    found: dict[Prefix, FeedEntry] = {}
    for entry in reader:
        found.setdefault(entry.prefix, entry)
    return Feed(tuple(found.values()), tuple(reader.bad), reader.named - len(found), reader.below, reader.bad_count)


@dataclass(frozen=True, slots=True)
class _Line:
    prefixes: tuple[Prefix, ...] = ()
    count: int | None = None
    comment: str = ""


_NOTHING = _Line()


def _parse_row(row: feed_tables.TabularFeedRow) -> list[Prefix]:
    if row.direction not in ("", "in", "out", "both"):
        raise UnbannablePrefix(BanFault.DIRECTION)
    return parse_ban_range(_RANGE.sub("-", row.prefix))


def _check_size(content: bytes, limits: FeedLimits) -> None:
    """Refuse a feed that is too long before any of it is read. Raises FeedTooBig."""
    if len(content) > limits.octets:
        raise FeedTooBig("octets", limits.octets)
    if content.count(b"\n") + (not content.endswith(b"\n")) > limits.lines:
        raise FeedTooBig("lines", limits.lines)


def _parse_line(line: str, limits: FeedLimits, *, first: bool) -> _Line:
    """Parse one line. Raises UnbannablePrefix."""
    if len(line) > limits.length:
        raise UnbannablePrefix(BanFault.TOO_LONG)
    data, *rest = _COMMENT.split(line, maxsplit=1)
    fields = [field.strip("\"'") for field in _SEPARATORS.split(_RANGE.sub("-", data.strip())) if field]
    if not fields or (first and len(fields) == 1 and fields[0].lower() in _HEADINGS):
        return _NOTHING
    prefixes = tuple(parse_ban_range(fields[0]))
    if len(fields) > 2 or (len(fields) == 2 and not _is_count(fields[1])):
        raise UnbannablePrefix(BanFault.TRAILING)
    return _Line(prefixes, int(fields[1]) if len(fields) == 2 else None, tidy_comment(rest[0]) if rest else "")


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _cut_excerpt(line: str) -> str:
    shown = tidy_comment(line[: 2 * LONGEST_EXCERPT])
    return shown if len(shown) <= LONGEST_EXCERPT else shown[: LONGEST_EXCERPT - 1] + "…"


def tidy_comment(text: str) -> str:
    """Return a comment as we store it: printable, on one line, not too long."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(printable.split())[:LONGEST_COMMENT].rstrip()

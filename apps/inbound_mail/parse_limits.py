"""Limits of the resources for parsing one mail, and the reasons for refusing one. Knows neither Django nor `email`."""

from dataclasses import dataclass
from typing import Final

MIB: Final = 1 << 20


@dataclass(frozen=True)
class ParseLimits:
    """Limits for one mail. seconds: of processor time. clock: wall-clock seconds, so many more that only a busy machine or a stopped
    process reaches them. Sizes in octets; text and html in characters.

    headers: of all parts together. one_header: all lines of a header. mime_header: a header that the library parses (Content-…).
    tags, nested, blanks: in HTML, all tags, those open at once, and words between two tags (where attributes are) or `&` in one tag. HTML
    beyond these is not parsed: it stays a file, and the mail's text is what stands between its tags. A nested message counts as one part:
    it is kept as a file and not parsed.
    """

    seconds: float = 2.0
    clock: float = 60.0
    memory: int = 256 * MIB
    octets: int = 25 * MIB
    lines: int = 500_000
    headers: int = 5_000
    all_headers: int = MIB
    one_header: int = 64 << 10
    mime_header: int = 2 << 10
    addresses: int = 1_000
    parts: int = 500
    depth: int = 20
    text: int = MIB
    html: int = MIB // 2
    tags: int = 20_000
    nested: int = 500
    blanks: int = 5_000


def gettext_noop(text: str) -> str:
    """Mark a text for translation, as Django's function does."""
    return text


class Unreadable(Exception):  # noqa: N818 - says what a mail is
    """Raised for a mail that is not read. `reason`: one of the sentences below; `detail`: what else is known, "" if nothing."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class OutOfTime(Exception):  # noqa: N818 - says what happened
    """Parsing was given up by the wall clock. That says nothing about the mail: the machine was busy."""


TOO_LARGE: Final = gettext_noop("It is larger than a mail may be.")
TOO_MANY_LINES: Final = gettext_noop("It has too many lines.")
TOO_MANY_HEADERS: Final = gettext_noop("It has too many headers.")
HEADER_TOO_LONG: Final = gettext_noop("One of its headers is too long.")
HEADERS_TOO_LONG: Final = gettext_noop("Its headers are too long together.")
TOO_MANY_ADDRESSES: Final = gettext_noop("It names too many addresses.")
TOO_MANY_PARTS: Final = gettext_noop("It has too many parts.")
TOO_DEEP: Final = gettext_noop("Its parts are nested too deeply.")
TEXT_TOO_LONG: Final = gettext_noop("Its text is too long.")
HTML_WITHOUT_TEXT: Final = gettext_noop("It is HTML that is too large to be read, without any text in it.")
TOO_SLOW: Final = gettext_noop("Reading it took too long.")
TOO_BUSY: Final = gettext_noop("The machine was too busy to read it, several times. Have it read again.")
TOO_MUCH_MEMORY: Final = gettext_noop("Reading it took too much memory.")
DIED: Final = gettext_noop("The parser crashed while reading it.")
CONFUSING: Final = gettext_noop("The parser could not make sense of it.")

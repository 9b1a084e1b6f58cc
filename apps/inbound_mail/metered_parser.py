"""Parses a mail into parts with CPython's `email`, and stops when the mail exceeds its limits: headers, parts and depth are counted.

The library parses only the headers that describe a part (Content-…), each once; all others stay text (`header_parser.py`).
"""

from collections.abc import Iterable
from email.errors import MessageError
from email.message import EmailMessage
from email.parser import BytesFeedParser
from email.policy import EmailPolicy
from typing import Any, Final, Self

from apps.inbound_mail.parse_limits import (
    HEADER_TOO_LONG,
    HEADERS_TOO_LONG,
    TOO_DEEP,
    TOO_MANY_HEADERS,
    TOO_MANY_LINES,
    TOO_MANY_PARTS,
    ParseLimits,
    Unreadable,
)

CHUNK: Final = 64 << 10
OF_PARTS: Final = frozenset({"content-type", "content-disposition", "content-transfer-encoding"})
UNKNOWN: Final = {"content-type": "application/octet-stream", "content-disposition": "attachment", "content-transfer-encoding": "7bit"}
IN_LIBRARY: Final = (ValueError, LookupError, AttributeError, TypeError, AssertionError, RecursionError, MessageError)  # its known bugs


class ParseMeter:
    """Counts headers and parts of a whole mail. Raises Unreadable when they exceed the limits."""

    def __init__(self, limits: ParseLimits) -> None:
        self.limits = limits
        self.headers = self.header_octets = self.parts = 0
        self.parsed: dict[tuple[str, str], Any] = {}

    def count_header(self, lines: Iterable[str]) -> None:
        length = sum(map(len, lines))
        self.headers += 1
        self.header_octets += length
        if length > self.limits.one_header:
            raise Unreadable(HEADER_TOO_LONG)
        if self.headers > self.limits.headers:
            raise Unreadable(TOO_MANY_HEADERS)
        if self.header_octets > self.limits.all_headers:
            raise Unreadable(HEADERS_TOO_LONG)

    def count_part(self) -> None:
        self.parts += 1
        if self.parts > self.limits.parts:
            raise Unreadable(TOO_MANY_PARTS)


class MailPart(EmailMessage):
    """One part of a mail. A message within a message is a leaf: its octets stay as they came."""

    depth = 0

    def __init__(self, policy: "MeteredPolicy") -> None:
        super().__init__(policy)
        policy.meter.count_part()
        self._most = policy.meter.limits.depth

    def attach(self, payload: Any) -> None:
        payload.depth = self.depth + 1
        if payload.depth > self._most:
            raise Unreadable(TOO_DEEP)
        super().attach(payload)

    def get_media_type(self) -> str:
        """The media type that the part claims, type/subtype."""
        return str(super().get_content_type())

    def get_content_type(self) -> str:
        return _mask_message_type(super().get_content_type())

    def get_content_maintype(self) -> str:
        return self.get_content_type().partition("/")[0]


class MeteredPolicy(EmailPolicy):
    """The library's modern policy, with a meter."""

    meter: ParseMeter
    message_factory: Any = MailPart

    @classmethod
    def from_limits(cls, limits: ParseLimits) -> Self:
        """Make a policy for one mail."""
        made = cls(utf8=True)
        object.__setattr__(made, "meter", ParseMeter(limits))  # as the library sets its own attributes: policies refuse assignment
        return made

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        self.meter.count_header(sourcelines)
        return super().header_source_parse(sourcelines)

    def header_fetch_parse(self, name: str, value: str) -> Any:
        known = name.lower()
        if known not in OF_PARTS:
            return value
        if (known, value) not in self.meter.parsed:
            self.meter.parsed[known, value] = self._parse_header(known, value)
        return self.meter.parsed[known, value]

    def _parse_header(self, name: str, value: str) -> Any:
        if len(value) > self.meter.limits.mime_header:
            raise Unreadable(HEADER_TOO_LONG)
        try:
            return super().header_fetch_parse(name, value)
        except IN_LIBRARY:
            return super().header_fetch_parse(name, UNKNOWN[name])


def _mask_message_type(media_type: str) -> str:
    return f"application/{media_type.partition('/')[2]}" if media_type.startswith("message/") else media_type


def parse_tree(octets: bytes, limits: ParseLimits) -> MailPart:
    """Parse the mail into a tree of parts. Raises Unreadable."""
    if octets.count(b"\n") + octets.count(b"\r") - octets.count(b"\r\n") > limits.lines:
        raise Unreadable(TOO_MANY_LINES)
    parser = BytesFeedParser(policy=MeteredPolicy.from_limits(limits))
    for begin in range(0, len(octets), CHUNK):
        parser.feed(octets[begin : begin + CHUNK])
    made: Any = parser.close()
    mail: MailPart = made
    return mail

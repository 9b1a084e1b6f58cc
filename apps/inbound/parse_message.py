"""Octets of a mail become a `Received`. Runs in a child that may be killed (`parser_worker.py`): here nobody looks at the clock.

Comes in: the octets and the envelope. Goes out: a value, or `Unreadable`. Knows neither Django nor rows.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from apps.inbound import charsets, header_parser, html_sanitizer
from apps.inbound.authentication import vouches
from apps.inbound.automatic_mail import MESSAGE_CLASS, says_automatic
from apps.inbound.message import Address, File, Received
from apps.inbound.metered_parser import Part, taken_apart
from apps.inbound.parse_limits import TEXT_TOO_LONG, TOO_LARGE, TOO_MANY_ADDRESSES, Limits, Unreadable
from apps.lib.email_address import ascii_lower

MOST_REFERENCES: Final = 100
MOST_BOUNCED: Final = 20
REPORT: Final = "message/delivery-status"
RETURNED: Final = frozenset({"message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers"})
ITS_ID: Final = re.compile(rb"^(?:Original-)?Message-ID:\s*(<[^<>\s]{1,248}>)", re.IGNORECASE | re.MULTILINE)
LONGEST_REPORT: Final = 4000  # characters
LOOKED_THROUGH: Final = 64 << 10  # octets of what came back, in which its Message-ID is looked for


@dataclass
class _Content:
    """What the parts hold, as it is gathered."""

    texts: list[str] = field(default_factory=list)
    htmls: list[str] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)  # of bounces: why it did not arrive (RFC 3464)


def received(octets: bytes, sender: str | None, recipients: Sequence[str], limits: Limits, authserv_id: str = "") -> Received:
    """Read it. sender: of the envelope, "" when it is empty (RFC 5321, 4.5.5), None when nobody knows. authserv_id: the name of our own
    receiving server, "" for none. Raises Unreadable."""
    if len(octets) > limits.octets:
        raise Unreadable(TOO_LARGE)
    mail = taken_apart(octets, limits)
    content = _gathered(mail, limits)
    bounce = sender == "" or _is_report(mail)
    shown = html_sanitizer.sanitised("\n".join(content.htmls)) if content.htmls else ""
    written = "\n".join(content.texts).strip()
    why = "\n\n".join(content.reports)[:LONGEST_REPORT]
    return Received(
        message_id=_message_id(mail),
        references=_references(mail),
        sender=next(iter(_addresses(mail, ("from", "sender"), limits)), None),
        authenticated=_is_authenticated(mail, authserv_id, limits),
        reply_to=_once(_addresses(mail, ("reply-to",), limits)),
        recipients=_recipients(mail, recipients, limits),
        subject=header_parser.text(_first(mail, "subject")),
        date=_date(_first(mail, "date")),
        text="\n\n".join(filter(None, (written or (html_sanitizer.text_of(shown) if shown else ""), why))),
        html=shown,
        files=tuple(content.files),
        automatic=bounce or _is_automatic(mail),
        bounce=bounce,
        bounced_ids=_bounced_ids(content.files, f"{written}\n{why}") if bounce else (),
    )


def _first(mail: Part, name: str) -> str:
    return str(mail.get(name, ""))


def _message_id(mail: Part) -> str:
    given = _first(mail, "message-id")
    found = header_parser.message_ids(given, 1)
    bare = "".join(charsets.one_line(given, 998).split("<")[-1:]).strip(" <>")
    return found[0] if found else (header_parser.message_ids(f"<{bare}>", 1) or ("",))[0]


def _references(mail: Part) -> tuple[str, ...]:
    answered = header_parser.message_ids(_first(mail, "in-reply-to"), 1)
    return header_parser.message_ids(f"{_first(mail, 'references')} {' '.join(answered)}", MOST_REFERENCES)


def _addresses(mail: Part, names: Sequence[str], limits: Limits) -> list[Address]:
    lists = (str(value) for name in names for value in mail.get_all(name, []))
    found = [address for value in lists for address in header_parser.addresses(value, limits.addresses)]
    if len(found) > limits.addresses:
        raise Unreadable(TOO_MANY_ADDRESSES)
    return found


def _is_authenticated(mail: Part, authserv_id: str, limits: Limits) -> bool:
    """Only where one From names one address: of several, nobody knows which one our server looked at."""
    authors = _addresses(mail, ("from",), limits)
    fields = [str(value) for value in mail.get_all("authentication-results", [])]
    return len(mail.get_all("from", [])) == 1 and len(authors) == 1 and vouches(fields, authserv_id, authors[0].address)


def _recipients(mail: Part, envelope: Sequence[str], limits: Limits) -> tuple[Address, ...]:
    first = [made for each in envelope if (made := header_parser.address_of(each))]
    return _once([*first, *_addresses(mail, ("to", "cc"), limits)])


def _once(found: Sequence[Address]) -> tuple[Address, ...]:
    each_once: dict[str, Address] = {}
    for each in found:
        each_once.setdefault(ascii_lower(each.address), each)
    return tuple(each_once.values())


def _date(value: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(charsets.one_line(value, 100))
        told = found if found.tzinfo else found.replace(tzinfo=UTC)
        return told if 1970 <= told.astimezone(UTC).year <= 9000 else None
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _is_automatic(mail: Part) -> bool:
    first = {name: _first(mail, name) for name in ("auto-submitted", "precedence", *MESSAGE_CLASS)}
    return says_automatic(first, {str(name).lower() for name in mail})


def _is_report(mail: Part) -> bool:
    content_type: Any = mail.get("content-type")
    kind = content_type.params.get("report-type", "delivery-status") if content_type is not None else ""
    return mail.media_type() == "multipart/report" and str(kind).lower() == "delivery-status"


def _bounced_ids(files: Sequence[File], text: str) -> tuple[str, ...]:
    places = [file.octets[:LOOKED_THROUGH] for file in files if file.media_type in RETURNED]
    places.append(text.encode()[:LOOKED_THROUGH])  # programs that know no reports quote what came back
    found = [match.decode("ascii", "replace") for place in places for match in ITS_ID.findall(place)]
    return tuple(dict.fromkeys(found))[:MOST_BOUNCED]


def _gathered(mail: Part, limits: Limits) -> _Content:
    content, parts = _Content(), list(_leaves(mail))
    bodies = {id(part) for part in parts if _is_text(part) and not _name(part)} or {id(part) for part in parts[:1] if _is_text(part)}
    for part in parts:
        kind, octets = _kind(part), _octets(part)
        words = charsets.text_of(octets, _charset(part)) if id(part) in bodies else None
        if kind == REPORT:
            content.reports.append(charsets.text_of(octets[:LOOKED_THROUGH]).strip())
        elif words is not None and kind == "text/plain":
            content.texts.append(words)
        elif words is not None and html_sanitizer.is_bearable(words, limits):
            content.htmls.append(words)
        elif octets or _name(part):
            content.files.append(File(_name(part), kind, octets))
    if sum(map(len, content.texts)) > limits.text:
        raise Unreadable(TEXT_TOO_LONG)
    return content


def _leaves(part: Part) -> Iterator[Part]:
    found: Any = part.get_payload() if part.is_multipart() else None
    if found is None:
        yield part
    for each in found or ():
        yield from _leaves(each)


def _kind(part: Part) -> str:
    """Its media type; one that says it has parts and has none is text."""
    return "text/plain" if part.get_content_maintype() == "multipart" else charsets.one_line(part.media_type(), 120).lower()


def _is_text(part: Part) -> bool:
    """Whether it may be what the mail says; one with a name is only where no other is."""
    return _kind(part) in ("text/plain", "text/html") and not part.is_attachment()


def _octets(part: Part) -> bytes:
    found: Any = part.get_payload(decode=True)
    return found if isinstance(found, bytes) else b""


def _charset(part: Part) -> str:
    content_type: Any = part.get("content-type")
    return str(content_type.params.get("charset", "")) if content_type is not None else ""


def _name(part: Part) -> str:
    disposition, content_type = part.get("content-disposition"), part.get("content-type")
    given = (getattr(each, "params", {}).get(key, "") for each, key in ((disposition, "filename"), (content_type, "name")))
    return header_parser.text(next((str(each) for each in given if each), "")).replace("\\", "/").rpartition("/")[2][-150:]

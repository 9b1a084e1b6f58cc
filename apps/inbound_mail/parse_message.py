"""Parses the octets of a mail into a `ReceivedMail`. It runs in a child that may be killed (`parser_worker.py`), so it checks no time.

Comes in: the octets and the envelope. Goes out: a value, or `Unreadable`. Knows neither Django nor rows.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from apps.inbound_mail import charsets, header_parser, html_sanitizer
from apps.inbound_mail.authentication import is_sender_authenticated
from apps.inbound_mail.automatic_mail import MESSAGE_CLASS, is_automatic
from apps.inbound_mail.message import MailAddress, MailFile, ReceivedMail
from apps.inbound_mail.metered_parser import MailPart, parse_tree
from apps.inbound_mail.parse_limits import HTML_WITHOUT_TEXT, TEXT_TOO_LONG, TOO_LARGE, TOO_MANY_ADDRESSES, ParseLimits, Unreadable
from apps.lib.email_address import lower_ascii

MOST_REFERENCES: Final = 100
MOST_BOUNCED: Final = 20
REPORT: Final = "message/delivery-status"
RETURNED: Final = frozenset({"message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers"})
ITS_ID: Final = re.compile(rb"^(?:Original-)?Message-ID:\s*(<[^<>\s]{1,248}>)", re.IGNORECASE | re.MULTILINE)
LONGEST_REPORT: Final = 4000  # characters
LOOKED_THROUGH: Final = 64 << 10  # octets of a returned mail that are searched for its Message-ID


@dataclass
class _MailContent:
    """Content of the parts while it is gathered."""

    texts: list[str] = field(default_factory=list)
    htmls: list[str] = field(default_factory=list)
    costly_parts: list[MailPart] = field(default_factory=list)  # with HTML beyond the limits, which is among the files
    files: list[MailFile] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)  # of bounces: why delivery failed (RFC 3464)


def parse_mail(octets: bytes, sender: str | None, recipients: Sequence[str], limits: ParseLimits, authserv_id: str = "") -> ReceivedMail:
    """Parse a mail. sender: of the envelope, "" if empty (RFC 5321, 4.5.5), None if unknown. authserv_id: the name of our own receiving
    server, "" for none. Raises Unreadable.
    """
    if len(octets) > limits.octets:
        raise Unreadable(TOO_LARGE)
    mail = parse_tree(octets, limits)
    content = _gather_content(mail, limits)
    bounce = sender == "" or _is_report(mail)
    shown = html_sanitizer.sanitize_html("\n".join(content.htmls)) if content.htmls else ""
    written = "\n".join(content.texts).strip()
    why = "\n\n".join(content.reports)[:LONGEST_REPORT]
    text = "\n\n".join(filter(None, (written or _extract_text(shown, content.costly_parts, limits), why)))
    if content.costly_parts and not text:
        raise Unreadable(HTML_WITHOUT_TEXT)
    return ReceivedMail(
        message_id=_find_message_id(mail),
        references=_list_references(mail),
        sender=next(iter(_list_addresses(mail, ("from", "sender"), limits)), None),
        authenticated=_is_authenticated(mail, authserv_id, limits),
        reply_to=_deduplicate(_list_addresses(mail, ("reply-to",), limits)),
        recipients=_list_recipients(mail, recipients, limits),
        subject=header_parser.decode_header(_get_header(mail, "subject")),
        date=_parse_date(_get_header(mail, "date")),
        text=text,
        html=shown,
        files=tuple(content.files),
        automatic=bounce or _is_automatic(mail),
        bounce=bounce,
        bounced_ids=_list_bounced_ids(content.files, f"{written}\n{why}") if bounce else (),
    )


def _extract_text(shown: str, costly: Sequence[MailPart], limits: ParseLimits) -> str:
    """Return the text of HTML. shown: what pages may show of it; costly: parts with HTML beyond the limits. Raises Unreadable."""
    between = [html_sanitizer.extract_text_between_tags(_decode_part(part)) for part in costly]
    if sum(map(len, between)) > limits.text:
        raise Unreadable(TEXT_TOO_LONG)
    return "\n\n".join(filter(None, (html_sanitizer.extract_html_text(shown) if shown else "", *between)))


def _get_header(mail: MailPart, name: str) -> str:
    return str(mail.get(name, ""))


def _find_message_id(mail: MailPart) -> str:
    given = _get_header(mail, "message-id")
    found = header_parser.parse_message_ids(given, 1)
    bare = "".join(charsets.collapse_lines(given, 998).split("<")[-1:]).strip(" <>")
    return found[0] if found else (header_parser.parse_message_ids(f"<{bare}>", 1) or ("",))[0]


def _list_references(mail: MailPart) -> tuple[str, ...]:
    answered = header_parser.parse_message_ids(_get_header(mail, "in-reply-to"), 1)
    return header_parser.parse_message_ids(f"{_get_header(mail, 'references')} {' '.join(answered)}", MOST_REFERENCES)


def _list_addresses(mail: MailPart, names: Sequence[str], limits: ParseLimits) -> list[MailAddress]:
    lists = (str(value) for name in names for value in mail.get_all(name, []))
    found = [address for value in lists for address in header_parser.parse_addresses(value, limits.addresses)]
    if len(found) > limits.addresses:
        raise Unreadable(TOO_MANY_ADDRESSES)
    return found


def _is_authenticated(mail: MailPart, authserv_id: str, limits: ParseLimits) -> bool:
    """Whether our server authenticated the author. Only if there is one From with one address: of several, its verdict may mean any."""
    authors = _list_addresses(mail, ("from",), limits)
    fields = [str(value) for value in mail.get_all("authentication-results", [])]
    return len(mail.get_all("from", [])) == 1 and len(authors) == 1 and is_sender_authenticated(fields, authserv_id, authors[0].address)


def _list_recipients(mail: MailPart, envelope: Sequence[str], limits: ParseLimits) -> tuple[MailAddress, ...]:
    first = [made for each in envelope if (made := header_parser.parse_address(each))]
    return _deduplicate([*first, *_list_addresses(mail, ("to", "cc"), limits)])


def _deduplicate(found: Sequence[MailAddress]) -> tuple[MailAddress, ...]:
    each_once: dict[str, MailAddress] = {}
    for each in found:
        each_once.setdefault(lower_ascii(each.address), each)
    return tuple(each_once.values())


def _parse_date(value: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(charsets.collapse_lines(value, 100))
        told = found if found.tzinfo else found.replace(tzinfo=UTC)
        return told if 1970 <= told.astimezone(UTC).year <= 9000 else None
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _is_automatic(mail: MailPart) -> bool:
    first = {name: _get_header(mail, name) for name in ("auto-submitted", "precedence", *MESSAGE_CLASS)}
    return is_automatic(first, {str(name).lower() for name in mail})


def _is_report(mail: MailPart) -> bool:
    content_type: Any = mail.get("content-type")
    kind = content_type.params.get("report-type", "delivery-status") if content_type is not None else ""
    return mail.get_media_type() == "multipart/report" and str(kind).lower() == "delivery-status"


def _list_bounced_ids(files: Sequence[MailFile], text: str) -> tuple[str, ...]:
    places = [file.octets[:LOOKED_THROUGH] for file in files if file.media_type in RETURNED]
    places.append(text.encode()[:LOOKED_THROUGH])  # programs that send no reports quote the returned mail
    found = [match.decode("ascii", "replace") for place in places for match in ITS_ID.findall(place)]
    return tuple(dict.fromkeys(found))[:MOST_BOUNCED]


def _gather_content(mail: MailPart, limits: ParseLimits) -> _MailContent:
    content, parts = _MailContent(), list(_iter_leaves(mail))
    bodies = {id(part) for part in parts if _is_text(part) and not _get_file_name(part)} or {
        id(part) for part in parts[:1] if _is_text(part)
    }
    for part in parts:
        kind, octets = _get_kind(part), _get_octets(part)
        words = _decode_part(part) if id(part) in bodies else None
        if kind == REPORT:
            content.reports.append(charsets.decode_text(octets[:LOOKED_THROUGH]).strip())
        elif words is not None and kind == "text/plain":
            content.texts.append(words)
        elif words is not None and html_sanitizer.is_html_cheap_to_parse(words, limits):
            content.htmls.append(words)
        elif octets or _get_file_name(part):
            content.files.append(MailFile(_get_file_name(part), kind, octets))
            content.costly_parts += [part] if words is not None else []
    if sum(map(len, content.texts)) > limits.text:
        raise Unreadable(TEXT_TOO_LONG)
    return content


def _iter_leaves(part: MailPart) -> Iterator[MailPart]:
    found: Any = part.get_payload() if part.is_multipart() else None
    if found is None:
        yield part
    for each in found or ():
        yield from _iter_leaves(each)


def _get_kind(part: MailPart) -> str:
    """Return the media type; a part that claims to be multipart but has no parts is text."""
    return "text/plain" if part.get_content_maintype() == "multipart" else charsets.collapse_lines(part.get_media_type(), 120).lower()


def _is_text(part: MailPart) -> bool:
    """Whether the part may be the message's text; callers prefer parts without a file name."""
    return _get_kind(part) in ("text/plain", "text/html") and not part.is_attachment()


def _get_octets(part: MailPart) -> bytes:
    found: Any = part.get_payload(decode=True)
    return found if isinstance(found, bytes) else b""


def _decode_part(part: MailPart) -> str:
    return charsets.decode_text(_get_octets(part), _get_charset(part))


def _get_charset(part: MailPart) -> str:
    content_type: Any = part.get("content-type")
    return str(content_type.params.get("charset", "")) if content_type is not None else ""


def _get_file_name(part: MailPart) -> str:
    disposition, content_type = part.get("content-disposition"), part.get("content-type")
    given = (getattr(each, "params", {}).get(key, "") for each, key in ((disposition, "filename"), (content_type, "name")))
    return header_parser.decode_header(next((str(each) for each in given if each), "")).replace("\\", "/").rpartition("/")[2][-150:]

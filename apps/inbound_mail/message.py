"""Received mail as plain values: the parser's output and the mail handler's input. Knows neither Django nor `email`.

Every text is Unicode without NUL and lone surrogates, every header one line. Strangers wrote all of it: none of it proves anything, least
of all the sender.
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class MailAddress:
    """A mail address. `name` as given, "" if none. `address`: local@domain, the domain in lower case."""

    name: str
    address: str


@dataclass(frozen=True)
class MailFile:
    """A file of a mail. `name` (without path, "" if none) and `media_type` (type/subtype, lower case) are claims and may be wrong.

    `octets`: as sent, decoded from base64 or quoted-printable, never unpacked.
    """

    name: str
    media_type: str
    octets: bytes


@dataclass(frozen=True)
class ReceivedMail:
    """One parsed mail (RFC 5322).

    `message_id`, `references`, `bounced_ids`: with their angle brackets, "" or () if there are none; `references` contains References and
    In-Reply-To, each id once, the nearest last. `recipients`: those of the envelope first, then To and Cc, each address once. `date`: the
    sender's, with a zone; None if missing or not plausible. `text`: the message's text, made from HTML if there is nothing else. `html`:
    sanitised, loads nothing from elsewhere, "" if none. `files`: attachments and embedded pictures. `automatic`: a machine wrote it
    (RFC 3834 Auto-Submitted, Precedence, List-*), so it gets no automatic answer. `bounce`: a multipart/report about delivery (RFC 3464),
    or an empty envelope sender; `bounced_ids`: the Message-IDs of the returned mails. `authenticated`: our own receiving server says that
    the domain of `sender` sent the mail (authentication.py); it cannot say which user of that domain did.
    """

    message_id: str
    references: tuple[str, ...]
    sender: MailAddress | None
    reply_to: tuple[MailAddress, ...]
    recipients: tuple[MailAddress, ...]
    subject: str
    date: datetime | None
    text: str
    html: str
    files: tuple[MailFile, ...]
    automatic: bool
    bounce: bool
    bounced_ids: tuple[str, ...]
    authenticated: bool = False

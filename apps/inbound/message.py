"""A mail that arrived, as values: what the parser gives and whoever takes mail reads. Knows neither Django nor `email`.

Every text is Unicode without NUL and without lone surrogates, every header one line. All of it was written by a stranger: nothing in it
proves anything, the sender least of all.
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class MailAddress:
    """`name` as it was given, "" if none. `address`: local@domain, the domain in lower case."""

    name: str
    address: str


@dataclass(frozen=True)
class MailFile:
    """What came with a mail. Neither `name` (no path, "" if none) nor `media_type` (type/subtype, lower case) says what it really is.

    `octets`: as they were sent, decoded from base64 or quoted-printable and never unpacked.
    """

    name: str
    media_type: str
    octets: bytes


@dataclass(frozen=True)
class ReceivedMail:
    """One mail (RFC 5322), taken apart.

    `message_id`, `references`, `bounced_ids`: with their angle brackets, "" or () where there is none; References and In-Reply-To together,
    each once, the nearest last. `recipients`: those of the envelope first, then To and Cc, each address once. `date`: as the sender says,
    with a zone; None if it says nothing sensible. `text`: of the message itself, made from HTML where there is nothing else. `html`:
    sanitised, loads nothing from elsewhere, "" if none. `files`: attachments and pictures within. `automatic`: a machine wrote it
    (RFC 3834 Auto-Submitted, Precedence, List-*), so nothing answers it by itself. `bounce`: a multipart/report about delivery (RFC 3464),
    or an empty envelope sender; `bounced_ids`: the Message-IDs of what came back in it. `authenticated`: our own receiving server says that
    the domain of `sender` sent the mail (authentication.py), who of that domain did, it cannot say.
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

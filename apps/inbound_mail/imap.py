"""Fetches mail from a mailbox (IMAP, RFC 9051), for sites to which no mail server delivers. Unseen mail is stored, and marked as seen
once it is committed.

Nothing is deleted there. A mail is identified by its UID: after a crash between storing and marking it is fetched again, but not stored
again.
"""

import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from imaplib import IMAP4, IMAP4_SSL
from threading import Timer
from typing import Any, Final

import structlog
from django.conf import settings
from django.utils.translation import gettext_noop

from apps.inbound_mail.imap_mailbox import ImapAccount
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.raw_headers import MAX_HEADER_OCTETS, extract_headers
from apps.inbound_mail.services import store_arrival
from apps.lib.foreign_text import make_printable

SECONDS: Final = 50.0  # for one run; the next is a minute later
ANSWER_SECONDS: Final = 10.0
MAX_MAILS_PER_RUN: Final = 200  # mails in one run
STAYS: Final = gettext_noop("It is larger than a mail may be: only its headers were fetched, the whole mail is still in the mailbox.")
LONGEST_ERROR: Final = 500  # characters
SIZE: Final = re.compile(rb"RFC822\.SIZE (\d{1,12})")
RETURN_PATH: Final = re.compile(rb"^Return-Path:[ \t]*<([^<>\s]{0,320})>", re.IGNORECASE | re.MULTILINE)
DELIVERED: Final = re.compile(rb"^(?:Delivered-To|X-Original-To):[ \t]*<?([^<>\s]{3,320})>?[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
log = structlog.get_logger()


@dataclass(frozen=True)
class MailboxFetchResult:
    """Result of one run. mails: how many were fetched and stored, now or before; error: why it ended early, "" if it did not."""

    mails: int = 0
    error: str = ""


def fetch_unseen(box: ImapAccount) -> MailboxFetchResult:
    """Store unseen mails, the oldest first, within SECONDS. Errors of the mailbox are returned; those of the database are raised."""
    number = 0
    try:
        with _open(box) as line:
            validity = _select_folder(line, box)
            for uid in _check_answer(line.uid("SEARCH", "UNSEEN"))[0].split()[:MAX_MAILS_PER_RUN]:
                number += _fetch_one(line, box, validity, uid.decode("ascii"))
    except (IMAP4.error, OSError, ValueError) as error:
        said = make_printable(str(error), LONGEST_ERROR) or type(error).__name__
        log.warning("mailbox not fetched", mailbox=str(box), error=said)
        return MailboxFetchResult(number, said)
    return MailboxFetchResult(number)


@contextmanager
def _open(box: ImapAccount) -> Iterator[IMAP4]:
    """Connect and sign in. The connection is cut when time is up: a server may answer one octet at a time for ever."""
    with _connect(box) as line:
        timer = Timer(SECONDS, _cut, (line.sock,))
        timer.daemon = True
        timer.start()
        try:
            line.login(box.user, box.password)
            yield line
        finally:
            timer.cancel()


def _connect(box: ImapAccount) -> IMAP4:
    if box.tls:
        return IMAP4_SSL(box.host, box.port, ssl_context=ssl.create_default_context(), timeout=ANSWER_SECONDS)
    return IMAP4(box.host, box.port, timeout=ANSWER_SECONDS)


def _cut(sock: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _select_folder(line: IMAP4, box: ImapAccount) -> str:
    """Open the folder and return its UIDVALIDITY."""
    _check_answer(line.select(f'"{box.folder}"'))
    told = line.response("UIDVALIDITY")[1]
    return (told[0] or b"0").decode("ascii") if told else "0"


def _fetch_one(line: IMAP4, box: ImapAccount, validity: str, uid: str) -> int:
    """Fetch and store one mail. Return 1, also if it was stored before, or 0 if it was deleted meanwhile."""
    size = SIZE.search(_flatten(_check_answer(line.uid("FETCH", uid, "(RFC822.SIZE)"))))
    fits = size is None or int(size[1]) <= settings.MAIL_IN_OCTETS
    octets = _find_literal(
        _check_answer(line.uid("FETCH", uid, "(BODY.PEEK[])" if fits else f"(BODY.PEEK[HEADER]<0.{MAX_HEADER_OCTETS}>)"))
    )
    if octets is None:
        return 0
    headers, fits = extract_headers(octets), fits and len(octets) <= settings.MAIL_IN_OCTETS
    path = RETURN_PATH.search(headers)
    store_arrival(
        octets=octets if fits else headers,
        way=Arrival.Way.IMAP,
        sender=_decode_address(path[1]) if path else None,
        recipients=[_decode_address(each) for each in DELIVERED.findall(headers)[:10]],
        place=f"{box.host} {box.user} {box.folder} {validity} {uid}"[-500:],
        reason="" if fits else STAYS,
    )
    _check_answer(line.uid("STORE", uid, "+FLAGS.SILENT", r"(\Seen)"))
    return 1


def _decode_address(octets: bytes) -> str:
    return octets.decode("utf-8", "replace")


def _check_answer(answer: tuple[str, list[Any]]) -> list[Any]:
    if answer[0] != "OK":
        raise IMAP4.error(f"{answer[0]} {_flatten(answer[1]).decode('ascii', 'replace')}")
    return answer[1]


def _flatten(said: list[Any]) -> bytes:
    return b" ".join(each[0] if isinstance(each, tuple) else each for each in said if each)


def _find_literal(said: list[Any]) -> bytes | None:
    return next((bytes(each[1]) for each in said if isinstance(each, tuple)), None)

"""Fetches mail from a mailbox (IMAP, RFC 9051), for sites to which no mail server delivers. Unseen mail is stored, and marked as seen
once it is committed.

Nothing is deleted there. A mail is identified by its UID: after a crash between storing and marking it is fetched again, but not stored
again. A mail that cannot be fetched holds up no other: a connection that breaks at it is opened again for those that are left.
"""

import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from imaplib import IMAP4, IMAP4_SSL
from threading import Timer
from time import monotonic
from typing import Any, Final

import structlog
from django.conf import settings
from django.utils.translation import gettext_noop

from apps.inbound_mail.imap_mailbox import ImapAccount
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.raw_headers import MAX_HEADER_OCTETS, extract_headers
from apps.inbound_mail.services import store_arrival
from apps.lib.foreign_text import make_printable

SECONDS: Final = 50.0  # after which a run begins no further mail; the next run is a minute later
MAIL_SECONDS: Final = 40.0  # for one mail; of a mail that takes longer only the headers are stored
ANSWER_SECONDS: Final = 10.0
MAX_MAILS_PER_RUN: Final = 200  # mails in one run
MAX_CONNECTIONS: Final = 4  # in one run
LARGE: Final = 1 << 20  # octets; larger mails are fetched after all others
STAYS: Final = gettext_noop("It is larger than a mail may be: only its headers were fetched, the whole mail is still in the mailbox.")
TOO_SLOW: Final = gettext_noop("Fetching it took too long: only its headers were fetched, the whole mail is still in the mailbox.")
LONGEST_ERROR: Final = 500  # characters
SIZE: Final = re.compile(rb"RFC822\.SIZE (\d{1,12})")
RETURN_PATH: Final = re.compile(rb"^Return-Path:[ \t]*<([^<>\s]{0,320})>", re.IGNORECASE | re.MULTILINE)
DELIVERED: Final = re.compile(rb"^(?:Delivered-To|X-Original-To):[ \t]*<?([^<>\s]{3,320})>?[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
log = structlog.get_logger()


@dataclass(frozen=True)
class MailboxFetchResult:
    """Result of one run. mails: how many were fetched and stored, now or before; error: what was not fetched and why, or ""."""

    mails: int = 0
    error: str = ""


@dataclass(frozen=True)
class UnseenMail:
    """A mail that is to be fetched. size: in octets, 0 until it is known to be LARGE; slow: it did not come within MAIL_SECONDS."""

    uid: str
    size: int = 0
    slow: bool = False


def fetch_unseen(box: ImapAccount) -> MailboxFetchResult:
    """Store unseen mails, the oldest first and large ones last, for about SECONDS. Errors of the mailbox are returned, those of the
    database raised.
    """
    run = _MailboxRun(box)
    run.fetch_all()
    said = make_printable("; ".join(run.errors), LONGEST_ERROR)
    if said:
        log.warning("mailbox not fetched", mailbox=str(box), error=said)
    return MailboxFetchResult(run.mails, said)


class _MailboxRun:
    """One run over the unseen mails of a mailbox. mails: as in its result; errors: the server's words, with the mail's UID."""

    def __init__(self, box: ImapAccount) -> None:
        self.mails, self.errors = 0, list[str]()
        self._box, self._until = box, monotonic() + SECONDS
        self._left, self._is_listed = list[UnseenMail](), False

    def fetch_all(self) -> None:
        """Fetch over one connection, or over several if it breaks at a mail."""
        try:
            for _connection in range(MAX_CONNECTIONS):
                self._use_connection()
                if not self._left or monotonic() >= self._until:
                    break
        except (IMAP4.error, OSError, ValueError) as error:
            self._note_error(error)

    def _use_connection(self) -> None:
        """Fetch until nothing is left, time is up, or the connection is of no more use."""
        with _open(self._box, self._until + ANSWER_SECONDS - monotonic()) as line:
            validity = _select_folder(line, self._box)
            if not self._is_listed:
                self._left, self._is_listed = _list_unseen(line), True
            while self._left and monotonic() < self._until:
                mail = min(self._left, key=lambda each: each.size)
                self._left.remove(mail)
                if not self._try_mail(line, validity, mail):
                    return

    def _try_mail(self, line: IMAP4, validity: str, mail: UnseenMail) -> bool:
        """Fetch one mail, and note if that fails. Return False if the connection is of no more use."""
        began = monotonic()
        try:
            with _cut_after(line, MAIL_SECONDS):
                self._fetch_or_defer(line, validity, mail)
        except (IMAP4.abort, OSError) as error:
            self._note_error(error, mail)
            if not mail.slow and monotonic() - began >= MAIL_SECONDS:
                self._left.append(replace(mail, slow=True))
                self._until = max(self._until, monotonic() + ANSWER_SECONDS)
            return False
        except (IMAP4.error, ValueError) as error:
            self._note_error(error, mail)
            line.response("FETCH")  # forgets what came before a refusal: it would be taken for the next mail
        return True

    def _fetch_or_defer(self, line: IMAP4, validity: str, mail: UnseenMail) -> None:
        """Fetch the mail, unless it turns out to be large: that one waits for its turn."""
        size = mail.size or _fetch_size(line, mail.uid)
        if size > LARGE and not mail.size:
            self._left.append(replace(mail, size=size))
            return
        reason = TOO_SLOW if mail.slow else STAYS if size > settings.MAIL_IN_OCTETS else ""
        self.mails += _fetch_one(line, self._box, validity, mail.uid, reason)

    def _note_error(self, error: Exception, mail: UnseenMail | None = None) -> None:
        words = str(error) or type(error).__name__
        self.errors.append(f"UID {mail.uid}: {words}" if mail else words)


@contextmanager
def _open(box: ImapAccount, seconds: float) -> Iterator[IMAP4]:
    """Connect and sign in, for at most so many seconds."""
    line = _connect(box)
    with _cut_after(line, seconds):
        try:
            line.login(box.user, box.password)
            yield line
        finally:
            _leave(line)


def _connect(box: ImapAccount) -> IMAP4:
    if box.tls:
        return IMAP4_SSL(box.host, box.port, ssl_context=ssl.create_default_context(), timeout=ANSWER_SECONDS)
    return IMAP4(box.host, box.port, timeout=ANSWER_SECONDS)


@contextmanager
def _cut_after(line: IMAP4, seconds: float) -> Iterator[None]:
    """Cut the connection when time is up: a server may answer one octet at a time for ever."""
    timer = Timer(seconds, _cut, (line.sock,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _cut(sock: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _leave(line: IMAP4) -> None:
    """Sign out, if the connection still allows it, and close it."""
    with suppress(IMAP4.error, OSError):
        line.logout()
    with suppress(OSError):
        line.shutdown()


def _select_folder(line: IMAP4, box: ImapAccount) -> str:
    """Open the folder and return its UIDVALIDITY."""
    _check_answer(line.select(f'"{box.folder}"'))
    told = line.response("UIDVALIDITY")[1]
    return (told[0] or b"0").decode("ascii") if told else "0"


def _list_unseen(line: IMAP4) -> list[UnseenMail]:
    uids = _check_answer(line.uid("SEARCH", "UNSEEN"))[0].split()
    return [UnseenMail(uid.decode("ascii")) for uid in uids[:MAX_MAILS_PER_RUN]]


def _fetch_size(line: IMAP4, uid: str) -> int:
    """Return the octets of a mail; 0 if the server does not tell, because it was deleted meanwhile."""
    found = SIZE.search(_flatten(_check_answer(line.uid("FETCH", uid, "(RFC822.SIZE)"))))
    return int(found[1]) if found else 0


def _fetch_one(line: IMAP4, box: ImapAccount, validity: str, uid: str, reason: str) -> int:
    """Fetch and store one mail; with a reason only its headers, in quarantine. Return 1, also if it was stored before, or 0 if it was
    deleted meanwhile.
    """
    part = f"(BODY.PEEK[HEADER]<0.{MAX_HEADER_OCTETS}>)" if reason else "(BODY.PEEK[])"
    octets = _find_literal(_check_answer(line.uid("FETCH", uid, part)))
    if octets is None:
        return 0
    headers = extract_headers(octets)
    if not reason and len(octets) > settings.MAIL_IN_OCTETS:
        reason = STAYS
    path = RETURN_PATH.search(headers)
    store_arrival(
        octets=headers if reason else octets,
        way=Arrival.Way.IMAP,
        sender=_decode_address(path[1]) if path else None,
        recipients=[_decode_address(each) for each in DELIVERED.findall(headers)[:10]],
        place=f"{box.host} {box.user} {box.folder} {validity} {uid}"[-500:],
        reason=reason,
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

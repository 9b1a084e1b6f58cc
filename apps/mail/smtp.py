"""One SMTP connection (RFC 5321) that hands over any number of mails, each within a bounded time.

Comes in: a server and bytes. Goes out: a `HandoverOutcome` for each mail, never an exception. Knows nothing of rows.
"""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from smtplib import SMTP, SMTP_SSL, SMTPDataError, SMTPException
from threading import Event, Timer
from types import TracebackType
from typing import Final, Self

from apps.mail.handover import HandoverOutcome, HandoverStatus, clean_server_reply

STARTTLS: Final = "starttls"
TLS: Final = "tls"
SERVER_SAYS_NO: Final = frozenset({503, 530, 534, 535, 538})  # also in reply to RCPT: sign in first, encrypt first
TOO_LARGE: Final = 552


@dataclass(frozen=True)
class SmtpServer:
    """Address and limits of a mail server. tls: "" for none, `starttls` (must be offered), `tls` from the first octet. Times in seconds."""

    host: str
    port: int = 25
    tls: str = ""
    user: str = ""
    password: str = ""
    answer_within: float = 10  # for each answer
    ready_within: float = 20  # until a mail may be handed over
    mail_within: float = 30  # for a whole mail

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class SmtpConnection:
    """A connection that is opened when it is needed and closed after an error on it."""

    def __init__(self, server: SmtpServer) -> None:
        self._server = server
        self._smtp: SMTP | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._smtp:
            with suppress(OSError, ValueError), self._limit_time(self._smtp, self._server.answer_within):
                self._smtp.quit()
            self._drop()

    def open(self) -> str:
        """Connect, encrypt and sign in, unless already done."""
        if self._smtp:
            return ""
        self._smtp = self._make_connection()
        try:
            with self._limit_time(self._smtp, self._server.ready_within):
                self._greet(self._smtp)
        except (OSError, ValueError) as error:
            self._drop()
            return _render_error(error)
        return ""

    def hand_over(self, sender: str, to: str, content: bytes) -> HandoverOutcome:
        """Hand over one mail. An outcome in doubt (the connection broke after the last octet) is LATER: the mail may arrive twice."""
        if self._smtp is None:
            return HandoverOutcome(HandoverStatus.LATER, "the connection was closed", lost=True)
        stage = _Stage()
        try:
            with self._limit_time(self._smtp, self._server.mail_within) as over:
                outcome = _run_dialogue(self._smtp, sender, to, content, stage)
                if over.is_set() and outcome.what is not HandoverStatus.TAKEN:
                    raise TimeoutError  # smtplib takes half a line for an answer when the connection ends
        except (OSError, ValueError) as error:
            outcome = HandoverOutcome(HandoverStatus.LATER, f"{_render_error(error)}{stage.doubt}", lost=True)
        if outcome.lost or outcome.what is HandoverStatus.AWAY:
            self._drop()
        return outcome

    def _make_connection(self) -> SMTP:
        if self._server.tls == TLS:
            return SMTP_SSL(timeout=self._server.answer_within, context=ssl.create_default_context())
        return SMTP(timeout=self._server.answer_within)

    def _greet(self, smtp: SMTP) -> None:
        # smtplib checks certificates against `_host`, but sets it only when its constructor connects.
        smtp._host = self._server.host  # type: ignore[attr-defined]  # the stubs do not know it
        code, said = smtp.connect(self._server.host, self._server.port)
        if code != 220:
            raise SMTPException(f"{code} {clean_server_reply(said)}")
        smtp.ehlo_or_helo_if_needed()
        if self._server.tls == STARTTLS:
            smtp.starttls(context=ssl.create_default_context())
            smtp.ehlo()
        if self._server.user:
            smtp.login(self._server.user, self._server.password)

    @contextmanager
    def _limit_time(self, smtp: SMTP, seconds: float) -> Iterator[Event]:
        """Cut the connection when time is up: a server may answer one octet at a time for ever."""
        over = Event()
        timer = Timer(seconds, _cut, (smtp, over))
        timer.daemon = True
        timer.start()
        try:
            yield over
        except (OSError, ValueError) as error:
            if over.is_set():
                raise TimeoutError(f"no end within {seconds:g} s") from error
            raise
        finally:
            timer.cancel()

    def _drop(self) -> None:
        smtp, self._smtp = self._smtp, None
        if smtp:
            with suppress(OSError, ValueError):
                smtp.close()


class _Stage:
    """Stage of a handover. `doubt`: text for the outcome while the server may already have the whole mail."""

    doubt = ""


def _run_dialogue(smtp: SMTP, sender: str, to: str, content: bytes, stage: _Stage) -> HandoverOutcome:
    options = [f"size={len(content)}"] if smtp.has_extn("size") else []
    code, said = smtp.mail(sender, options)
    if code != 250:
        return _build_failure(smtp, code, said, HandoverStatus.REFUSED if code == TOO_LARGE else HandoverStatus.AWAY)
    code, said = smtp.rcpt(to)
    if code not in (250, 251):
        return _build_failure(smtp, code, said, HandoverStatus.AWAY if code in SERVER_SAYS_NO else HandoverStatus.REFUSED)
    stage.doubt = "; it may have been taken all the same"
    try:
        code, said = smtp.data(content)
    except SMTPDataError as error:  # refused before the first octet of the mail was sent
        code, said = error.smtp_code, error.smtp_error if isinstance(error.smtp_error, bytes) else error.smtp_error.encode()
    stage.doubt = ""
    return (
        HandoverOutcome(HandoverStatus.TAKEN, clean_server_reply(said))
        if code == 250
        else _build_failure(smtp, code, said, HandoverStatus.REFUSED)
    )


def _build_failure(smtp: SMTP, code: int, said: bytes, for_good: HandoverStatus) -> HandoverOutcome:
    """Build the outcome of a refusal: 4xx is worth another try (RFC 5321, 4.2.1), 421 ends the connection, 5xx is for good."""
    lost = code == 421 or not 400 <= code < 600 or not _is_reusable(smtp)
    return HandoverOutcome(for_good if 500 <= code < 600 else HandoverStatus.LATER, f"{code} {clean_server_reply(said)}", lost)


def _is_reusable(smtp: SMTP) -> bool:
    try:
        return smtp.rset()[0] == 250
    except (OSError, ValueError):
        return False


def _cut(smtp: SMTP, over: Event) -> None:
    over.set()
    if smtp.sock:
        with suppress(OSError):
            socket.socket.shutdown(smtp.sock, socket.SHUT_RDWR)  # the plain socket's own: SSLSocket's would break a read in progress


def _render_error(error: Exception) -> str:
    code, said = getattr(error, "smtp_code", None), getattr(error, "smtp_error", None)
    return f"{code} {clean_server_reply(said)}" if code else clean_server_reply(error)

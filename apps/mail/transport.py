"""Interface for handing mail over to a server, and its outcomes: by SMTP (`smtp.py`), or as files where no server is configured."""

import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from time import time_ns
from types import TracebackType
from typing import Any, Protocol, Self

from django.conf import settings

MAX_REPLY_LENGTH = 500  # characters kept of a server's reply


class HandoverStatus(Enum):
    """Result of handing over one mail."""

    TAKEN = "taken"
    REFUSED = "refused"  # for good: because of this recipient or this content
    LATER = "later"  # this mail is worth another try
    AWAY = "away"  # the server accepts no mail at all now


@dataclass(frozen=True)
class HandoverOutcome:
    """Outcome of handing over one mail. `words`: the server's reply, for people. `lost`: the connection is closed or unusable."""

    what: HandoverStatus
    words: str = ""
    lost: bool = False


class MailTransport(Protocol):
    """Context manager that hands mails over one after the other."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    def open(self) -> str:
        """Get ready to hand over. Return "" on success, otherwise the reason. Does nothing if already open."""

    def hand_over(self, sender: str, to: str, content: bytes) -> HandoverOutcome:
        """Hand over one mail to one address, within a bounded time. Call it only after `open` returned ""."""


class FileMailTransport:
    """Writes each mail to a file TIME.eml in a directory, for trying the portal out. No file ever overwrites another.

    The mails contain links that open accounts, so only the portal's user may read them (0700, 0600), even if the directory existed before.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None

    def open(self) -> str:
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._directory.chmod(0o700)
        except OSError as error:
            return clean_server_reply(error)
        return ""

    def hand_over(self, sender: str, to: str, content: bytes) -> HandoverOutcome:
        try:
            with open(self._directory / f"{time_ns()}.eml", "xb", opener=_open_privately) as file:
                file.write(content)
        except OSError as error:
            return HandoverOutcome(HandoverStatus.AWAY, clean_server_reply(error))
        return HandoverOutcome(HandoverStatus.TAKEN)


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)


def clean_server_reply(error: object) -> str:
    """Return a reply or error as text that the database can hold: one line, without NUL, at most MAX_REPLY_LENGTH characters."""
    text = error.decode(errors="replace") if isinstance(error, bytes) else str(error)
    return " ".join(text.replace("\0", "").split())[:MAX_REPLY_LENGTH] or type(error).__name__


def build_mail_transport() -> MailTransport:
    """Return the carrier that the settings ask for."""
    from apps.mail.smtp import SmtpConnection, SmtpServer

    given: dict[str, Any] = settings.MAIL_SERVER
    return SmtpConnection(SmtpServer(**given)) if given["host"] else FileMailTransport(settings.VAR / "mail")

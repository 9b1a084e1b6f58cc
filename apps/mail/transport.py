"""How mail leaves this machine, and what came of it: by SMTP (`smtp.py`), or as files where there is no server."""

import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from time import time_ns
from types import TracebackType
from typing import Any, Protocol, Self

from django.conf import settings

MOST = 500  # characters of what a server said


class HandoverStatus(Enum):
    """What came of handing a mail over."""

    TAKEN = "taken"
    REFUSED = "refused"  # for good: this reader or these words
    LATER = "later"  # this mail is worth another try
    AWAY = "away"  # the server takes nobody's mail now


@dataclass(frozen=True)
class HandoverOutcome:
    """`words`: what the server said, for people. `lost`: the connection is gone, or fit for nothing more."""

    what: HandoverStatus
    words: str = ""
    lost: bool = False


class Carrier(Protocol):
    """Hands mails over one after the other."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    def open(self) -> str:
        """Be ready. "" when it is, otherwise why not. Harmless when it was."""

    def hand_over(self, sender: str, to: str, content: bytes) -> HandoverOutcome:
        """One mail to one address, within a bounded time. Only after `open` said ""."""


class FileCarrier:
    """For whoever tries the portal out: mails become files in a directory, TIME.eml, and none ever takes another's place.

    Links that open accounts stand in them, so the portal's user alone reads them (0700, 0600), also where the directory was there before.
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
            return clean_reply(error)
        return ""

    def hand_over(self, sender: str, to: str, content: bytes) -> HandoverOutcome:
        try:
            with open(self._directory / f"{time_ns()}.eml", "xb", opener=_open_privately) as file:
                file.write(content)
        except OSError as error:
            return HandoverOutcome(HandoverStatus.AWAY, clean_reply(error))
        return HandoverOutcome(HandoverStatus.TAKEN)


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)


def clean_reply(error: object) -> str:
    """What somebody else said, as the database can hold it."""
    text = error.decode(errors="replace") if isinstance(error, bytes) else str(error)
    return " ".join(text.replace("\0", "").split())[:MOST] or type(error).__name__


def build_carrier() -> Carrier:
    """The one that the settings ask for."""
    from apps.mail.smtp import SmtpConnection, SmtpServer

    given: dict[str, Any] = settings.MAIL_SERVER
    return SmtpConnection(SmtpServer(**given)) if given["host"] else FileCarrier(settings.VAR / "mail")

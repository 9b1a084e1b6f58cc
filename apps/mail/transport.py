"""Interface for handing mail over to a server: by SMTP (`smtp.py`), or as files where no server is configured."""

import os
from pathlib import Path
from time import time_ns
from types import TracebackType
from typing import Any, Protocol, Self

from django.conf import settings

from apps.mail.handover import HandoverOutcome, HandoverStatus, clean_server_reply
from apps.mail.smtp import SmtpConnection, SmtpServer


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


def build_mail_transport() -> MailTransport:
    """Return the carrier that the settings ask for."""
    given: dict[str, Any] = settings.MAIL_SERVER
    return SmtpConnection(SmtpServer(**given)) if given["host"] else FileMailTransport(settings.VAR / "mail")

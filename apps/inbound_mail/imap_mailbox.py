"""Address and login of the mailbox that mail is fetched from, as the setting NETZWART_MAIL_IN_IMAP gives them."""

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from django.conf import settings


@dataclass(frozen=True)
class ImapAccount:
    """Address and login of a mailbox. tls: from the first octet, with the certificate checked."""

    host: str
    user: str
    password: str = field(repr=False)
    port: int = 993
    tls: bool = True
    folder: str = "INBOX"

    def __str__(self) -> str:
        return f"{self.user}@{self.host}:{self.port}/{self.folder}"


def find_mailbox() -> ImapAccount | None:
    """Return the mailbox of the settings. Raises ValueError when the setting is not valid."""
    return parse_mailbox(settings.MAIL_IN_IMAP, settings.MAIL_IN_PASSWORD) if settings.MAIL_IN_IMAP else None


def parse_mailbox(url: str, password: str) -> ImapAccount:
    """Parse `imaps://USER@HOST:PORT/FOLDER`. Raises ValueError."""
    parts = urlsplit(url)
    folder = unquote(parts.path.strip("/")) or "INBOX"
    if parts.scheme not in ("imap", "imaps") or not parts.hostname or not parts.username or not folder.isascii():
        raise ValueError("NETZWART_MAIL_IN_IMAP is not valid. Write it like imaps://netzwart%40example.org@imap.example.org/INBOX.")
    tls = parts.scheme == "imaps"
    return ImapAccount(parts.hostname, unquote(parts.username), password, parts.port or (993 if tls else 143), tls, folder)

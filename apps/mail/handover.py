"""How the handover of one mail to a server ends, and the server's words about it."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

MAX_REPLY_LENGTH: Final = 500  # characters kept of a server's reply


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


def clean_server_reply(error: object) -> str:
    """Return a reply or error as text that the database can hold: one line, without NUL, at most MAX_REPLY_LENGTH characters."""
    text = error.decode(errors="replace") if isinstance(error, bytes) else str(error)
    return " ".join(text.replace("\0", "").split())[:MAX_REPLY_LENGTH] or type(error).__name__

"""Redaction of paths in logs: removes the part of a link that is as good as a password."""

import re
from typing import Final

SECRETS: Final = re.compile(
    r"^(/account/(?:invited|password/reset/key|confirm-email)/|/me/join/|/mail/off/|/status/subscribe/|/alarms/duty/feed/)[^/]+"
)
"""Links that grant access to their holder: invitations, new passwords, confirmation of addresses, subscribing, unsubscribing, and the feed
of the duty rota."""


def redact_path(path: str) -> str:
    """Return the path without tokens, printable and on one line."""
    return SECRETS.sub(r"\1…", path).encode("unicode_escape").decode().replace("\\u2026", "…")[:500]

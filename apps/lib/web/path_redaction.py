"""Redaction of paths in logs: removes the part of a link that is as good as a password."""

import re
from typing import Final

SECRETS: Final = re.compile(r"^(/account/(?:invited|password/reset/key|confirm-email)/|/me/join/|/mail/off/|/status/subscribe/)[^/]+")
"""Links that grant access to their holder: invitations, new passwords, confirmation of addresses, subscribing and unsubscribing."""


def redact_path(path: str) -> str:
    """Return the path without tokens, printable and on one line."""
    return SECRETS.sub(r"\1…", path).encode("unicode_escape").decode().replace("\\u2026", "…")[:500]

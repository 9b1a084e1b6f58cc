"""Composes the wire format of an outbox row (RFC 5322). The same row gives the same bytes at every try.

Pure. Headers below 998 octets are not folded: a long List-Unsubscribe would become an encoded word, which is not a link (RFC 8058).
"""

from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from hashlib import blake2b
from typing import Final

import idna

from apps.mail.models import Message

ON_THE_WIRE: Final = policy.SMTP.clone(cte_type="7bit", max_line_length=998)


def compose_mail(row: Message) -> bytes:
    """Return the whole message, with CRLF. Raises ValueError when a header cannot be written."""
    made = EmailMessage(policy.SMTP.clone(cte_type="7bit"))
    for name, value in _build_headers(row):
        if value:
            made[name] = value
    made.set_content(row.text)
    if row.html:
        made.add_alternative(row.html, subtype="html")
        made.set_boundary(f"=_{blake2b(row.message_id.encode(), digest_size=16).hexdigest()}")
    return made.as_bytes(policy=ON_THE_WIRE)


def parse_envelope_address(text: str) -> str:
    """Return the bare address of `Name <address>`, its domain as ASCII (IDNA 2008). Raises ValueError when SMTP cannot carry it."""
    local, at, domain = parseaddr(text)[1].rpartition("@")
    if not at or not local.isascii():
        raise ValueError(f"{text} is not a valid mail address.")
    try:
        return f"{local}@{domain if domain.isascii() else idna.encode(domain, uts46=True).decode()}"
    except idna.IDNAError as error:
        raise ValueError(f"{text} is not a valid mail address.") from error


def _build_headers(row: Message) -> list[tuple[str, str | Address]]:
    unsubscribe = f"<{row.unsubscribe}>" if row.unsubscribe else ""
    return [
        ("From", _build_address(row.sender)),
        ("To", _build_address(row.to)),
        ("Reply-To", _build_address(row.reply_to) if row.reply_to else ""),
        ("Subject", row.subject),
        ("Date", format_datetime(row.written)),
        ("Message-ID", row.message_id),
        ("In-Reply-To", row.in_reply_to),
        ("References", " ".join(row.references.split())),
        ("Auto-Submitted", "auto-generated" if row.automatic else ""),
        ("List-Unsubscribe", unsubscribe),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click" if unsubscribe else ""),
        ("Content-Language", row.language),
    ]


def _build_address(text: str) -> Address:
    return Address(display_name=parseaddr(text)[0], addr_spec=parse_envelope_address(text))

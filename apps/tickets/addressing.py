"""Addresses that say which ticket an answer by mail belongs to, and which of the staff writes: `support+t1203.SIGNATURE@example.org`.

The signature is an HMAC with the portal's key (RFC 2104), so that nobody makes up an address for a ticket that they have no mail of. One
for staff counts for a person and a ticket, and until that person's password changes; no page shows it (apps/mail/redaction.py).
"""

import re
from base64 import b32encode
from dataclasses import dataclass
from email.utils import parseaddr
from typing import Final

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from apps.accounts.models import User
from apps.accounts.permissions import has_right
from apps.accounts.roles import Right
from apps.lib.email_address import lower_ascii
from apps.lib.secret_keys import list_secret_keys

OCTETS: Final = 15  # of the signature: 120 bits
_TICKET: Final = re.compile(r"t([1-9][0-9]{0,17})\.([a-z2-7]{24})")
_STAFF: Final = re.compile(r"s([1-9][0-9]{0,17})\.([1-9][0-9]{0,17})\.([a-z2-7]{24})")


@dataclass(frozen=True)
class SignedAddress:
    """What a signed address names: a ticket, and whoever of the staff it was given to, None if it is the ticket's own."""

    ticket: int
    staff: User | None = None


def build_ticket_address(ticket: int) -> str:
    """Where answers to this ticket go; "" while mail does not come in."""
    return _build_address(f"t{ticket}.{_sign_value('ticket', str(ticket))}")


def build_staff_address(user: User, ticket: int) -> str:
    """Where this person's own answers go, which count as theirs; "" while mail does not come in."""
    return _build_address(f"s{user.pk}.{ticket}.{_sign_value('staff', _build_staff_value(user, ticket))}")


def parse_signed_address(address: str) -> SignedAddress | None:
    """What the address names; None when it is none of ours, or its signature is another's."""
    local, _at, domain = lower_ascii(address).rpartition("@")
    ours, _at, our_domain = lower_ascii(parseaddr(settings.SUPPORT_ADDRESS)[1]).rpartition("@")
    if not ours or domain != our_domain or not local.startswith(f"{ours}+"):
        return None
    tag = local.removeprefix(f"{ours}+")
    if found := _TICKET.fullmatch(tag):
        return SignedAddress(int(found[1])) if _is_signed(found[2], "ticket", found[1]) else None
    found = _STAFF.fullmatch(tag)
    return _parse_staff_tag(int(found[1]), int(found[2]), found[3]) if found else None


def _parse_staff_tag(pk: int, ticket: int, signature: str) -> SignedAddress | None:
    user = User.objects.filter(pk=pk, is_active=True).first()
    right = _is_signed(signature, *(("staff", _build_staff_value(user, ticket)) if user else ("nobody", f"{pk} {ticket}")))
    return SignedAddress(ticket, user) if user and right and has_right(user, Right.ANSWER) else None


def _build_staff_value(user: User, ticket: int) -> str:
    return f"{user.pk} {ticket} {user.password}"


def _is_signed(signature: str, kind: str, value: str) -> bool:
    """By any of the portal's keys: people answer mails that are older than a key."""
    return any(constant_time_compare(signature, _sign_value(kind, value, key)) for key in list_secret_keys())


def _sign_value(kind: str, value: str, key: str | None = None) -> str:
    digest = salted_hmac(f"apps.tickets.addressing {kind}", value, secret=key, algorithm="sha256").digest()
    return b32encode(digest[:OCTETS]).decode().lower()


def _build_address(tag: str) -> str:
    local, at, domain = parseaddr(settings.SUPPORT_ADDRESS)[1].rpartition("@")
    return f"{local}+{tag}@{domain}" if at else ""

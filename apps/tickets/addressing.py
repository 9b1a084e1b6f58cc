"""Signed addresses that name the ticket of an answer by mail, and the user of staff who writes: `support+t1203.SIGNATURE@example.org`.

The signature is an HMAC with the portal's key (RFC 2104), so that only readers of a ticket's mails know its address. An address for staff
is valid for one user and one ticket, until the user's password changes; no page shows it (apps/mail/redaction.py).
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

OCTETS: Final = 15  # length of the signature: 120 bits
_TICKET: Final = re.compile(r"t([1-9][0-9]{0,17})\.([a-z2-7]{24})")
_STAFF: Final = re.compile(r"s([1-9][0-9]{0,17})\.([1-9][0-9]{0,17})\.([a-z2-7]{24})")


@dataclass(frozen=True)
class SignedAddress:
    """Content of a signed address: a ticket, and the user of staff who was given it, None for the ticket's own address."""

    ticket: int
    staff: User | None = None


def build_ticket_address(ticket: int) -> str:
    """Return the address for answers to this ticket; "" without inbound mail."""
    return _build_address(f"t{ticket}.{_sign_value('ticket', str(ticket))}")


def build_staff_reply_address(user: User, ticket: int) -> str:
    """Return the address at which this user answers the ticket by mail; "" without inbound mail."""
    return _build_address(f"s{user.pk}.{ticket}.{_sign_value('staff', _build_staff_value(user, ticket))}")


def parse_signed_address(address: str) -> SignedAddress | None:
    """Return what the address names; None when it is not ours, its signature is wrong, or its user may not answer tickets any more."""
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
    """True if any of the portal's keys made the signature: answers may come to mails that are older than the present key."""
    return any(constant_time_compare(signature, _sign_value(kind, value, key)) for key in list_secret_keys())


def _sign_value(kind: str, value: str, key: str | None = None) -> str:
    digest = salted_hmac(f"apps.tickets.addressing {kind}", value, secret=key, algorithm="sha256").digest()
    return b32encode(digest[:OCTETS]).decode().lower()


def _build_address(tag: str) -> str:
    local, at, domain = parseaddr(settings.SUPPORT_ADDRESS)[1].rpartition("@")
    return f"{local}+{tag}@{domain}" if at else ""

"""Encryption of calendars' addresses: whoever knows a calendar's private address can read it."""

from typing import Final

from apps.alarms.duty.models import DutyCalendar
from apps.lib.secret_keys import build_cipher, register_reencryption

PURPOSE: Final = b"duty-calendar"
UNREADABLE_ADDRESS: Final = "another key"
"""The fault of a calendar whose address none of the portal's keys decrypts."""


def encrypt_address(address: str) -> str:
    """Return the address as it is stored."""
    return build_cipher(PURPOSE).encrypt(address.encode()).decode()


def decrypt_address(calendar: DutyCalendar) -> str:
    """Return the address. Raises cryptography.fernet.InvalidToken if none of the portal's keys decrypts it."""
    return build_cipher(PURPOSE).decrypt(calendar.target.encode()).decode()


@register_reencryption
def reencrypt_addresses() -> int:
    """Encrypt all addresses with the current key. Returns their number."""
    rows = list(DutyCalendar.objects.exclude(target="").defer("content").select_for_update())
    for row in rows:
        row.target = build_cipher(PURPOSE).rotate(row.target.encode()).decode()
    DutyCalendar.objects.bulk_update(rows, ["target"])
    return len(rows)

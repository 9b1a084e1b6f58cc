"""Encryption of channels' addresses: reading the database is not enough to send in their name."""

from typing import Final

from apps.alarms.channels.models import AlarmChannel
from apps.lib.secret_keys import build_cipher, register_reencryption

PURPOSE: Final = b"alarm-channel"


def encrypt_target(target: str) -> str:
    """Return the address as it is stored."""
    return build_cipher(PURPOSE).encrypt(target.encode()).decode()


def decrypt_target(channel: AlarmChannel) -> str:
    """Return the address. Raises cryptography.fernet.InvalidToken if none of the portal's keys decrypts it."""
    return build_cipher(PURPOSE).decrypt(channel.target.encode()).decode()


@register_reencryption
def reencrypt_targets() -> int:
    """Encrypt all addresses with the current key. Returns their number."""
    rows = list(AlarmChannel.objects.select_for_update())
    for row in rows:
        row.target = build_cipher(PURPOSE).rotate(row.target.encode()).decode()
    AlarmChannel.objects.bulk_update(rows, ["target"])
    return len(rows)

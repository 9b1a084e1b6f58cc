"""Secrets of endpoints, and what they sign. A secret is HMAC-SHA256 of the endpoint's salt under the portal's key: it stands nowhere."""

import hmac
import secrets
from typing import Final

from django.utils.crypto import salted_hmac

START: Final = "nwh_"
SALT: Final = 32  # octets


def new_salt() -> bytes:
    return secrets.token_bytes(SALT)


def secret_of(salt: bytes | memoryview) -> str:
    """What the receiver is given, once, and signs with."""
    return START + salted_hmac("apps.webhooks.secret", bytes(salt).hex(), algorithm="sha256").hexdigest()


def signature(secret: str, at: int, body: bytes) -> str:
    """`t=…,v1=…`: seconds since 1970, and HMAC-SHA256 (RFC 2104) of "t.body" in hexadecimal digits."""
    return f"t={at},v1={hmac.digest(secret.encode(), b'%d.' % at + body, 'sha256').hex()}"

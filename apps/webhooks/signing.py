"""Secrets of endpoints, and signatures made with them.

A secret is the HMAC-SHA256 of the endpoint's salt under the portal's key. It is not stored.
"""

import hmac
import secrets as random
from collections.abc import Sequence
from typing import Final

from django.utils.crypto import salted_hmac

from apps.lib.secret_keys import list_secret_keys

START: Final = "nwh_"
SALT: Final = 32  # octets


def make_salt() -> bytes:
    return random.token_bytes(SALT)


def derive_secret(salt: bytes | memoryview) -> str:
    """Return the secret under the portal's current key: the one that is shown to the receiver once."""
    return derive_secrets(salt)[0]


def derive_secrets(salt: bytes | memoryview) -> list[str]:
    """Return the secret under each of the portal's keys, the current one first.

    Receivers may still use one from before a key was replaced.
    """
    made = (salted_hmac("apps.webhooks.secret", bytes(salt).hex(), secret=key, algorithm="sha256") for key in list_secret_keys())
    return [START + each.hexdigest() for each in made]


def compute_signature(secrets: str | Sequence[str], at: int, body: bytes) -> str:
    """Return `t=…,v1=…`: seconds since 1970, and for each secret the HMAC-SHA256 (RFC 2104) of "t.body" in hexadecimal digits."""
    of = [secrets] if isinstance(secrets, str) else secrets
    return ",".join([f"t={at}", *(f"v1={hmac.digest(each.encode(), b'%d.' % at + body, 'sha256').hex()}" for each in of)])

"""Secret keys of the portal: the current one signs and encrypts, former ones still verify and decrypt.

So the key can be replaced without ending links, mails and second factors made with the former one. A leaked key must not stay among the
former ones: with it, anybody can forge what it signs.
"""

import base64
import hashlib
from collections.abc import Callable

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings

type Reencryption = Callable[[], int]
"""Encrypts the secrets of one kind of rows with the current key, in the caller's transaction. Returns the number of rows.

Raises cryptography.fernet.InvalidToken if none of the keys decrypts one.
"""
_reencryptions: list[Reencryption] = []


def list_secret_keys() -> tuple[str, ...]:
    """Return all keys, the current one first."""
    return (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


def build_cipher(purpose: bytes) -> MultiFernet:
    """Return a cipher with keys derived from the portal's secret keys for this purpose only, whose name has at most 16 octets.

    It encrypts with the current key, and decrypts with all.
    """
    return MultiFernet([_derive_cipher(key, purpose) for key in list_secret_keys()])


def _derive_cipher(secret: str, purpose: bytes) -> Fernet:
    key = hashlib.blake2b(secret.encode()[:64], person=purpose, digest_size=32).digest()
    return Fernet(base64.urlsafe_b64encode(key))


def register_reencryption(function: Reencryption) -> Reencryption:
    """Register what `manage.py reencrypt` does for rows with encrypted secrets."""
    _reencryptions.append(function)
    return function


def list_reencryptions() -> tuple[Reencryption, ...]:
    """Return the registered functions."""
    return tuple(_reencryptions)

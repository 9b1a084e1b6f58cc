"""Secret keys of the portal: the current one signs and encrypts, former ones still verify and decrypt.

So the key can be replaced without ending links, mails and second factors made with the former one. A leaked key must not stay among the
former ones: with it, anybody can forge what it signs.
"""

from django.conf import settings


def list_secret_keys() -> tuple[str, ...]:
    """Return all keys, the current one first."""
    return (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)

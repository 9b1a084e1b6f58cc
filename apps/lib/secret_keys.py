"""Secret keys of the portal: the current one signs and encrypts, former ones still verify and decrypt.

So a leaked key can be replaced, while links, mails and second factors made with it work for some more time.
"""

from django.conf import settings


def list_secret_keys() -> tuple[str, ...]:
    """Return all keys, the current one first."""
    return (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)

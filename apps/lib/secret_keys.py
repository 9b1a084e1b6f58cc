"""Keys of the portal: the current one, with which it signs and encrypts, and former ones, with which it still verifies and decrypts.

So a key that leaked can be replaced while links, mails and second factors that were made with it go on working for a time.
"""

from django.conf import settings


def list_secret_keys() -> tuple[str, ...]:
    """The current key first."""
    return (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)

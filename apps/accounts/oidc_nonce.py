"""Nonce of a sign-in with OpenID Connect (Core 1.0, 3.1.2.1): an id token counts only for the sign-in that requested it.

The nonce is an HMAC of the sign-in's `state`, which is random, bound to the session and used once; so nothing needs to be stored.
"""

from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from django.utils.crypto import constant_time_compare, salted_hmac

from apps.lib.secret_keys import list_secret_keys


def add_oidc_nonce(url: str) -> str:
    """Return the provider's URL with the nonce of its state added."""
    parts = urlsplit(url)
    state = parse_qs(parts.query).get("state", [""])[0]
    if not state:
        return url
    return urlunsplit(parts._replace(query=f"{parts.query}&{urlencode({'nonce': _compute_nonce(state, list_secret_keys()[0])})}"))


def is_valid_oidc_nonce(state: str, said: object) -> bool:
    """True if `said`, the nonce in the id token, is the nonce of this state."""
    return bool(state) and any(constant_time_compare(str(said), _compute_nonce(state, key)) for key in list_secret_keys())


def _compute_nonce(state: str, key: str) -> str:
    return salted_hmac("apps.accounts.oidc_nonce", state, secret=key, algorithm="sha256").hexdigest()

"""Sign-in with a passkey, with the challenge in a signed cookie: visitors who have not signed in leave no rows in the database.

Each challenge is valid for CHALLENGE_SECONDS and for one attempt, as WebAuthn requires (W3C Web Authentication, 13.4.3).
"""

import hashlib
from typing import Any, Final

from allauth.mfa.webauthn.internal.auth import STATE_SESSION_KEY
from allauth.mfa.webauthn.views import LoginWebAuthnView
from django.conf import settings
from django.core import signing
from django.core.cache import cache
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render

from apps.accounts import client_address
from apps.accounts.throttle import RequestRate

CHALLENGE_SECONDS: Final = 300
COOKIE: Final = "passkey-challenge"
SALT: Final = "passkey challenge"
CHALLENGES: Final = RequestRate(each_minute=30, at_once=15)
"""Of one computer."""


class PasskeyLogin(LoginWebAuthnView):  # type: ignore[misc]  # allauth has no types
    """allauth's passkey view, which keeps the challenge in the session; here the session holds it only during the request."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if wait := CHALLENGES.admit_request(f"passkey:{client_address.get_limit_key(request)}"):
            refused = render(request, "429.html", status=429)
            refused["Retry-After"] = str(max(1, round(wait)))
            return refused
        response: HttpResponseBase = super().get(request, *args, **kwargs)
        state = request.session.pop(STATE_SESSION_KEY, None)
        if state:
            self._hand_out(response, state)
        return response

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if state := _claim_challenge(request):
            request.session[STATE_SESSION_KEY] = state
        try:
            response: HttpResponseBase = super().post(request, *args, **kwargs)
        finally:
            request.session.pop(STATE_SESSION_KEY, None)
        return response

    def _hand_out(self, response: HttpResponseBase, state: Any) -> None:
        signed = signing.dumps(state, salt=SALT)
        response.set_cookie(
            COOKIE, signed, max_age=CHALLENGE_SECONDS, path=self.request.path, secure=settings.SESSION_COOKIE_SECURE, httponly=True,
            samesite="Strict",
        )  # fmt: skip


def _claim_challenge(request: HttpRequest) -> Any:
    """Return the challenge that this browser was given, once; None for a forged, old or used one."""
    signed = request.COOKIES.get(COOKIE, "")
    try:
        state = signing.loads(signed, salt=SALT, max_age=CHALLENGE_SECONDS)
    except signing.BadSignature:
        return None
    used = hashlib.sha256(signed.encode()).hexdigest()
    return state if cache.add(f"passkey:{used}", 1, timeout=CHALLENGE_SECONDS) else None

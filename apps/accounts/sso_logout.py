"""Single sign-out: what a session stores about the OpenID provider that opened it, and how the provider ends sessions here.

OpenID Connect RP-Initiated Logout 1.0 and Back-Channel Logout 1.0. A logout token is accepted only if it meets all requirements of
section 2.6; then the sessions end that this provider opened for that person, or the one that the token names.
"""

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlencode

import jwt
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.cache import cache, caches
from django.http import HttpRequest

from apps.accounts.session_engine import SessionStore

KEPT: Final = "oidc"
EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LONGEST: Final = 16_384  # characters of a token
LEEWAY: Final = 60  # seconds by which clocks may differ
OLDEST: Final = 600  # seconds since a token was issued
KEYS_KEPT: Final = 300  # seconds
ASKED_AGAIN: Final = 30  # seconds until the keys are fetched again because of an unknown key


class LogoutTokenError(Exception):
    """Reason why a logout token is not accepted."""


def build_session_provider(*, provider: str, id_token: str, claims: Mapping[str, Any], end: str) -> dict[str, str]:
    """Return what a session stores about the provider. end: the provider's end_session_endpoint, "" if it has none."""
    return {"provider": provider, "sub": claims.get("sub", ""), "sid": claims.get("sid", ""), "hint": id_token, "end": end}


def save_session_provider(request: HttpRequest, of: Mapping[str, str]) -> None:
    """Store in the session which provider opened it."""
    request.session[KEPT] = dict(of)


def build_logout_url(of: Mapping[str, str], *, client: str, back: str, state: str) -> str:
    """Return the URL of the provider's page that signs out there too; it sends the browser to `back`, with `state`.

    "" if the provider has none.
    """
    if not of.get("end"):
        return ""
    asked = {"id_token_hint": of["hint"], "client_id": client, "post_logout_redirect_uri": back, "state": state}
    return f"{of['end']}{'&' if '?' in of['end'] else '?'}{urlencode(asked)}"


# --- The back channel


def validate_logout_token(token: str, *, issuer: str, client: str, keys_url: str) -> dict[str, Any]:
    """Return the claims of a logout token. Raises LogoutTokenError."""
    claims = _decode_token(token, issuer, client, keys_url)
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(EVENT), dict):
        raise LogoutTokenError("its events do not include a back-channel logout")
    if "nonce" in claims:
        raise LogoutTokenError("it has a nonce, as only an ID token may have")
    if not any(isinstance(claims.get(name), str) and claims[name] for name in ("sub", "sid")):
        raise LogoutTokenError("it has neither a subject nor a session ID")
    if not all(isinstance(claims[name], int | float) for name in ("iat", "exp")) or claims["iat"] < time.time() - OLDEST:
        raise LogoutTokenError("it is too old, or iat or exp is not a number")
    if not isinstance(claims["jti"], str) or not claims["jti"]:
        raise LogoutTokenError("its jti is missing")
    if not cache.add(f"logout:{issuer}:{claims['jti']}", True, timeout=max(1.0, claims["exp"] + LEEWAY - time.time())):
        raise LogoutTokenError("it was used already")
    return claims


def _decode_token(token: str, issuer: str, client: str, keys_url: str) -> dict[str, Any]:
    if len(token) > LONGEST:
        raise LogoutTokenError("it is too long")
    try:
        head = jwt.get_unverified_header(token)
        if head.get("alg") not in ALGORITHMS or head.get("typ", "JWT").lower() not in ("jwt", "logout+jwt"):
            raise LogoutTokenError("its algorithm or its type is not accepted")
        claims: dict[str, Any] = jwt.decode(
            token, _get_key(str(head.get("kid", "")), keys_url), algorithms=[head["alg"]], audience=client, issuer=issuer, leeway=LEEWAY,
            options={"require": ["iss", "aud", "iat", "exp", "jti"]},
        )  # fmt: skip
    except (jwt.PyJWTError, AttributeError, TypeError) as error:
        raise LogoutTokenError(str(error)) from error
    return claims


def _get_key(kid: str, url: str) -> jwt.PyJWK:
    """Return the provider's key with this id.

    An unknown key has the keys fetched again, but not at every attempt. Raises LogoutTokenError.
    """
    for again in (False, True):
        keys = [each for each in _list_keys(url, again=again) if not kid or each.get("kid") == kid]
        if len(keys) == 1:
            return jwt.PyJWK.from_dict(keys[0])
    raise LogoutTokenError("no single key of the provider matches it")


def _list_keys(url: str, *, again: bool) -> list[dict[str, Any]]:
    kept = caches["local"]
    found = kept.get(f"oidc-keys:{url}")
    if found is None or (again and kept.add(f"oidc-keys-asked:{url}", True, ASKED_AGAIN)):
        found = json.dumps(_fetch_json(url).get("keys", []))
        kept.set(f"oidc-keys:{url}", found, KEYS_KEPT)
    return list(json.loads(found))


def _fetch_json(url: str) -> dict[str, Any]:
    with get_adapter().get_requests_session() as asking:
        answer = asking.get(url)
        answer.raise_for_status()
        return dict(answer.json())


def end_sessions(claims: Mapping[str, Any], *, provider: str) -> int:
    """End the sessions that the provider means: with `sid` that one, with `sub` alone all that it opened for the person.

    Return their number.
    """
    ended = 0
    for key, of in _iter_opened_sessions(provider, claims.get("sub")):
        if claims.get("sid") in (None, "", of.get("sid")) and claims.get("sub") in (None, "", of.get("sub")):
            SessionStore().delete(key)
            UserSession.objects.filter(session_key=key).delete()
            ended += 1
    return ended


def _iter_opened_sessions(provider: str, sub: str | None) -> Iterable[tuple[str, Mapping[str, str]]]:
    """Yield session keys with what the sessions store about the provider; of one person, or of all if the token names none."""
    accounts = SocialAccount.objects.filter(provider=provider, **({"uid": sub} if sub else {}))
    keys = UserSession.objects.filter(user__in=accounts.values("user")).values_list("session_key", flat=True)
    for row in Session.objects.filter(session_key__in=list(keys)):
        of = row.get_decoded().get(KEPT)
        if of and of.get("provider") == provider:
            yield row.session_key, of

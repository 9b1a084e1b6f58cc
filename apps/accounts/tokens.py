"""API tokens, keys for scripts: `Authorization: Bearer nw_…`. The database keeps only their SHA-256.

A key allows what its owner may do now, within the key's scope: see ApiToken.
"""

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from ipaddress import ip_address
from typing import Final

from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from apps.accounts import client_address
from apps.accounts.models import ApiToken, User
from apps.accounts.route_rights import API, SAFE
from apps.accounts.security_log import SecurityEvent, log_security_event
from apps.accounts.throttle import throttle_key_guessing
from apps.lib.database.compiled_query import CompiledQuery
from apps.lib.errors import Problem
from apps.lib.fields import Prefix

USE_IS_NOTED_EVERY = timedelta(minutes=5)
START, SHOWN = "nw_", 8  # the beginning of each key, and how many of its characters lists show
READ, WRITE = "read", "write"
EVERY = "*"  # in a scope: all collections, also those that are added later
MAX_TOKENS_PER_ACCOUNT = 50  # tokens of one account
STAND_IN: Final = "the hash of a key"


def create_token(
    *,
    user: User,
    name: str,
    expires: datetime | None = None,
    scopes: Sequence[str] | None = None,
    member: int | None = None,
    group: int | None = None,
    site: int | None = None,
    networks: Iterable[Prefix] = (),
) -> tuple[ApiToken, str]:
    """Create a token; return it with its key, which is not stored and can be shown only now.

    Raises Problem for an unknown scope, for more than one of member, group and site, and if the account has MAX_TOKENS_PER_ACCOUNT tokens.
    """
    wrong = next((scope for scope in scopes or () if scope not in list_scopes()), None)
    if wrong is not None:
        raise Problem(_("Unknown scope “%(scope)s”. Write it like forward:read or forward:write.") % {"scope": wrong[:80]}, "scopes")
    if sum(each is not None for each in (member, group, site)) > 1:
        at = "site" if site is not None else "group"
        raise Problem(_("A token is for one member, one gateway group or one house, not for two of these."), at)
    if ApiToken.objects.filter(user=user).count() >= MAX_TOKENS_PER_ACCOUNT:
        raise Problem(_("You have %(most)d tokens already. Revoke one that you no longer need.") % {"most": MAX_TOKENS_PER_ACCOUNT})
    key = START + secrets.token_urlsafe(32)
    limits = {"scopes": None if scopes is None else sorted(set(scopes)), "networks": list(networks)}
    things = {"member_id": member, "group_id": group, "site_id": site}
    made = ApiToken.objects.create(user=user, name=name, start=key[:SHOWN], sha256=hash_key(key), expires=expires, **limits, **things)
    log_security_event(SecurityEvent.TOKEN_MADE, user=user, token=made.start, scopes=limits["scopes"])
    return made, key


def list_scopes() -> list[str]:
    """Return every scope that exists."""
    return [f"{name}:{what}" for name in (EVERY, *API) for what in (READ, WRITE)]


def revoke_token(*, user: User, pk: int) -> bool:
    """Revoke a token: its key is refused from now on, its history stays. Return False if the account has no such token."""
    ended = bool(ApiToken.objects.filter(user=user, pk=pk).delete()[0])
    if ended:
        log_security_event(SecurityEvent.TOKEN_REVOKED, user=user, token=pk)
    return ended


def revoke_all_tokens(*, user: User) -> int:
    """Revoke all tokens of the account; return their number."""
    return sum(revoke_token(user=user, pk=pk) for pk in ApiToken.objects.filter(user=user).values_list("pk", flat=True))


def hash_key(key: str) -> str:
    """Return the hash under which the database keeps the key."""
    return hashlib.sha256(key.encode()).hexdigest()


def find_token(key: str) -> ApiToken | None:
    """Return the token with this key and its owner, if it has not expired and the owner is active."""
    return next(iter(_compile_token_query().read({STAND_IN: hash_key(key)})), None)


@cache
def _compile_token_query() -> CompiledQuery[ApiToken]:
    alive = ApiToken.objects.filter(Q(expires=None) | Q(expires__gt=Now()), user__is_active=True)
    return CompiledQuery(alive.select_related("user").filter(sha256=STAND_IN))


def is_in_scope(token: ApiToken, name: str, method: str) -> bool:
    """True if the token's scope includes this collection, for reading or for writing."""
    if token.scopes is None:
        return True
    enough = (WRITE, READ) if method in SAFE else (WRITE,)
    return any(f"{which}:{what}" in token.scopes for which in (EVERY, name) for what in enough)


class TokenAuthentication(BaseAuthentication):
    """Authenticates the owner of the token in the Authorization header."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _sep, key = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        now, asked_from = timezone.now(), client_address.get_client_address(request._request)
        token = find_token(key.strip())
        if token is None:
            log_security_event(SecurityEvent.TOKEN_UNKNOWN, request=request._request)
            throttle_key_guessing(client_address.get_limit_key(request._request))
            raise AuthenticationFailed(_("This token is unknown, expired or revoked. Create a new one on your account page."))
        if token.networks and not any(ip_address(asked_from) in network for network in token.networks):
            raise PermissionDenied(_("This token is not for requests from %(address)s.") % {"address": asked_from})
        if token.last_used is None or now - token.last_used > USE_IS_NOTED_EVERY:
            ApiToken.objects.filter(pk=token.pk).update(last_used=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="Netzwart"'

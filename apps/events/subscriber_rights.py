"""Authenticates subscribers by session or token, with the same rights as on pages and in the API.

Takes an ASGI HTTP connection scope (asgi.readthedocs.io). Returns a Subscriber, or raises SubscriberRefused.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, parse_cookie
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from apps.accounts.models import ApiToken, User
from apps.accounts.permissions import has_right
from apps.accounts.route_rights import API
from apps.accounts.second_factor_required import lacks_second_factor
from apps.accounts.session_limits import is_session_over
from apps.accounts.tokens import TokenAuthentication, is_in_scope
from apps.events.event_types import KINDS, Subscriber
from apps.events.wsgi_environ import build_variables
from apps.members.models import Member

READ: Final = "GET"


class SubscriberRefused(Exception):  # noqa: N818 - an expected answer, not an error
    """Raised when a request is refused, with the HTTP status and a sentence that says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True)
class SubscriberRequest:
    """The parts of a request that decide who the subscriber is. of_api: the path is one of the API."""

    headers: tuple[tuple[bytes, bytes], ...]
    client: str
    secure: bool
    of_api: bool


def parse_asgi_scope(scope: Any) -> SubscriberRequest:
    """Take these parts from an ASGI scope."""
    client = scope.get("client") or ("", 0)
    return SubscriberRequest(tuple(scope["headers"]), client[0], scope.get("scheme") == "https", scope["path"].startswith("/api/"))


def authenticate_subscriber(of: SubscriberRequest) -> Subscriber:
    """Authenticate the request. Raises SubscriberRefused with status 400, 401, 403 or 429.

    Only paths of the API accept a token; they accept a session, too.
    """
    request = _build_request(of)
    try:
        request.get_host()
        found = TokenAuthentication().authenticate(Request(request)) if of.of_api else None
    except DisallowedHost as wrong:
        raise SubscriberRefused(400, _("This host name does not belong to the portal.")) from wrong
    except APIException as refused:
        raise SubscriberRefused(refused.status_code, str(refused.detail)) from refused
    return _authorize_token(*found) if found else _authorize_session(request)


def _authorize_token(user: User, token: ApiToken) -> Subscriber:
    """Return the subscriber of a token.

    Events name their member, but not their gateway group or site: tokens that are limited to a group or a site are refused.
    """
    if token.group_id is not None or token.site_id is not None:
        raise SubscriberRefused(403, _("This is outside the token’s scope."))
    kinds = _list_visible_kinds(user, by_token=True, of=(kind for kind, rows in KINDS.items() if is_in_scope(token, rows, READ)))
    return Subscriber(user.pk, kinds, only=token.member_id)


def _authorize_session(request: HttpRequest) -> Subscriber:
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    request.user = user = get_user(request)
    if not isinstance(user, User) or (user.is_staff and is_session_over(request.session, time.time())):
        raise SubscriberRefused(401, _("Sign in first."))
    if lacks_second_factor(request):
        raise SubscriberRefused(403, _("Set up a second factor first, on the page of your account."))
    member = Member.objects.filter(user=user).values_list("pk", flat=True).first()
    return Subscriber(user.pk, _list_visible_kinds(user, by_token=False, of=KINDS), member=member)


def _list_visible_kinds(user: User, *, by_token: bool, of: Iterable[str]) -> frozenset[str]:
    return frozenset(kind for kind in of if has_right(user, API[KINDS[kind]].read, by_token=by_token))


def _build_request(of: SubscriberRequest) -> HttpRequest:
    """Build a Django request with what authentication needs."""
    request = HttpRequest()
    request.method = READ
    request.META |= build_variables(of.headers) | {"REMOTE_ADDR": of.client, "SERVER_NAME": "", "SERVER_PORT": "443" if of.secure else "80"}
    request.COOKIES = parse_cookie(request.META.get("HTTP_COOKIE", ""))
    return request


def validate_origin(of: SubscriberRequest) -> str:
    """Return the origin to allow for requests with cookies: that of the pages, or "" for the same origin.

    Raises SubscriberRefused for others.
    """
    said = next((value.decode("latin-1") for name, value in of.headers if name == b"origin"), "")
    host = next((value.decode("latin-1") for name, value in of.headers if name == b"host"), "")
    if not said or said.partition("://")[2] == host:
        return ""
    if said != settings.PORTAL_URL:
        raise SubscriberRefused(403, _("Events are available only to the portal’s own pages."))
    return said

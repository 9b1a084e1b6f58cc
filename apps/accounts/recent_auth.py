"""Recent authentication: what decides for others needs a person at a screen who has just confirmed who they are, by second factor.

Where staff need no second factor and a person has none, a password that was just given counts. A token is nobody at a screen.
"""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.reauthentication import suspend_request
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import resolve, reverse
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.request import Request

from apps.accounts.models import ApiToken, User
from apps.accounts.permissions import can_use_page

SECOND_FACTOR: Final = "mfa"  # as allauth notes it in the session, for codes and passkeys


def is_recent(request: HttpRequest) -> bool:
    """Did the person of this session confirm who they are within ACCOUNT_REAUTHENTICATION_TIMEOUT seconds?"""
    user = request.user
    if not isinstance(user, User):
        return False
    since = time.time() - settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
    recent = [record["method"] for record in get_authentication_records(request, user) if record["at"] > since]
    return SECOND_FACTOR in recent if needs_second_factor(user) else bool(recent)


def needs_second_factor(user: User) -> bool:
    """Does only a second factor count for this person?"""
    return settings.REQUIRE_SECOND_FACTOR or bool(is_mfa_enabled(user, ["totp", "webauthn"]))


def require_recent_auth(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """What a page sends needs recent authentication: else the person is asked for it, and then the page goes on with what was sent.

    Going on happens inside of the request that confirmed, which passed the door of another page: so rights are looked at once more.
    """

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method != "POST":
            return view(request, *args, **kwargs)
        if not can_use_page(request.user, resolve(request.path_info).view_name):
            raise PermissionDenied
        return view(request, *args, **kwargs) if is_recent(request) else _redirect_to_confirm(request)

    return checked


def _redirect_to_confirm(request: HttpRequest) -> HttpResponse:
    """To the page that confirms who somebody is. What was sent waits in the session, but for passwords, which belong in no database."""
    sent = request.POST.copy()
    for name in [name for name in sent if "password" in name]:
        del sent[name]
    request.POST = sent  # type: ignore[assignment]  # the stubs want one that cannot change
    way = "mfa_reauthenticate" if isinstance(request.user, User) and needs_second_factor(request.user) else "account_reauthenticate"
    answer: HttpResponse = suspend_request(request, reverse(way))
    return HttpResponse(status=204, headers={"HX-Redirect": answer["Location"]}) if request.headers.get("HX-Request") else answer


def check_recent(request: Request) -> None:
    """The same for the API. Raises PermissionDenied for tokens, and for sessions whose person has not confirmed lately who they are."""
    if isinstance(request.auth, ApiToken):
        raise exceptions.PermissionDenied(_("This needs a person who has just signed in, not a token. Do it on its page."))
    if not is_recent(request._request):
        raise exceptions.PermissionDenied(_("Confirm who you are first: open the page of this in the browser, and do it there."))

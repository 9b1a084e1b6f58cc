"""Recent authentication: decisions for others need a person at a screen who has just confirmed their identity with a second factor.

A recent password counts for a person who has no second factor and needs none: members, and staff where that is allowed. A token never
decides: no person is at a screen. Whatever else RECENT_AUTH in route_rights.py names, a token does as its rights allow.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Final

from allauth.account.authentication import get_authentication_records
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import resolve, reverse
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.accounts.models import ApiToken, User
from apps.accounts.permissions import can_use_page
from apps.accounts.route_rights import RECENT_AUTH_ACTIONS
from apps.accounts.second_factor_required import lacks_second_factor, redirect_to_second_factor
from apps.accounts.suspended_submission import suspend_submission

SECOND_FACTOR: Final = "mfa"  # the name that allauth stores in the session for codes and passkeys
SECOND_FACTORS: Final = ["totp", "webauthn"]


def is_recently_authenticated(request: HttpRequest) -> bool:
    """True if this session's user authenticated within the last ACCOUNT_REAUTHENTICATION_TIMEOUT seconds."""
    user = request.user
    if not isinstance(user, User):
        return False
    recent = {record["method"] for record in _list_recent_proofs(request, user)}
    return SECOND_FACTOR in recent if needs_second_factor_reauth(user) else bool(recent)


def is_beginning_second_factor(request: HttpRequest) -> bool:
    """True if this session's user signed in within that time and had no second factor then: the password again would prove nothing new."""
    user = request.user
    if not isinstance(user, User) or not (proofs := _list_recent_proofs(request, user)):
        return False
    before = datetime.fromtimestamp(proofs[0]["at"], UTC)
    return not Authenticator.objects.filter(user=user, type__in=SECOND_FACTORS, created_at__lt=before).exists()


def needs_second_factor_reauth(user: User) -> bool:
    """True if only a second factor counts for this account."""
    return has_second_factor(user) or (settings.REQUIRE_SECOND_FACTOR and user.is_staff)


def has_second_factor(user: User | AnonymousUser) -> bool:
    """True if the account has an app for codes or a passkey."""
    return bool(is_mfa_enabled(user, SECOND_FACTORS))


def _list_recent_proofs(request: HttpRequest, user: User) -> list[dict[str, Any]]:
    """Return what this session's user proved within that time, the oldest first: each with `method` and `at`, in Unix seconds."""
    since = time.time() - settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
    return [record for record in get_authentication_records(request, user) if record["at"] > since]


def require_recent_auth(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """Decorate a page whose POST needs recent authentication: it asks for that first, and then continues with what was sent.

    allauth continues inside the request that confirmed. That request's rights were checked for another page, so the rights for this
    page are checked again.
    """

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method != "POST":
            return view(request, *args, **kwargs)
        if not can_use_page(request.user, resolve(request.path_info).view_name):
            raise PermissionDenied
        return view(request, *args, **kwargs) if is_recently_authenticated(request) else _redirect_to_confirm(request)

    checked.needs_recent_auth = True  # type: ignore[attr-defined]  # for the test that compares these pages with RECENT_AUTH
    return checked


def _redirect_to_confirm(request: HttpRequest) -> HttpResponse:
    """Redirect to the page that confirms identity, and then resumes what was sent; staff without a second factor to its page first."""
    if lacks_second_factor(request):
        return redirect_to_second_factor(request)
    return suspend_submission(request, reverse("mfa_reauthenticate" if has_second_factor(request.user) else "account_reauthenticate"))


def check_recent_api_auth(request: Request) -> None:
    """Check the same for the API. Raises PermissionDenied for tokens, and for sessions without recent authentication."""
    if isinstance(request.auth, ApiToken):
        raise exceptions.PermissionDenied(_("This needs a person who has just signed in, not a token. Use the page in the portal."))
    _check_session(request)


class RecentAuthPermission(BasePermission):
    """Permission of the API: a session does what RECENT_AUTH names only after recent authentication. A token may, by its rights."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if (getattr(view, "basename", ""), getattr(view, "action", "")) in RECENT_AUTH_ACTIONS and not isinstance(request.auth, ApiToken):
            _check_session(request)
        return True


def _check_session(request: Request) -> None:
    if not is_recently_authenticated(request._request):
        raise exceptions.PermissionDenied(
            _("Confirm who you are first: open the matching page of the portal in the browser, and do it there.")
        )

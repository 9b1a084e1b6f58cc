"""Lets people and scripts through to what their roles allow. Which right each route needs stands in route_rights.py."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.accounts.models import ApiToken, User
from apps.accounts.return_after_sign_in import find_return_path
from apps.accounts.roles import Right, compute_rights
from apps.accounts.route_rights import API, PAGES, ROOT_OF_API, SAFE
from apps.accounts.security_log import SecurityEvent, record
from apps.accounts.tokens import covers
from apps.lib.api.token_scope import is_collection_closed

type View = Callable[..., HttpResponseBase]


def has_right(user: object, right: Right, *, by_token: bool = False) -> bool:
    """Whether this person, or somebody who has not signed in, has the right."""
    return right in (compute_rights(user.roles, by_token=by_token) if isinstance(user, User) and user.is_active else {Right.ANYONE})


def can_use_page(user: object, name: str, *, see: bool = False) -> bool:
    """Whether this person may use the page of this name: send something where it takes that, unless asked for `see` alone."""
    page = PAGES.get(name)
    if page is None:
        return False
    right = page.see if see else page.change or page.see
    return right is not None and has_right(user, right)


def can_view_page(user: object, name: str) -> bool:
    """Whether this person may look at the page of this name."""
    return can_use_page(user, name, see=True)


class RolePermission(BasePermission):
    """The API: the right of the view's basename and action. With a session only pages' people, with a token automation too."""

    @property
    def message(self) -> str:
        return _("Your roles do not allow this. An administrator can give you others.")

    def has_permission(self, request: Request, view: Any) -> bool:
        match = request.resolver_match
        is_root = match is not None and match.view_name == "api:api-root"
        rows = ROOT_OF_API if is_root else API.get(getattr(view, "basename", None) or "")
        right = rows.right(getattr(view, "action", None) or "", request.method or "") if rows else None
        token = request.auth if isinstance(request.auth, ApiToken) else None
        if right is None or not has_right(request.user, right, by_token=token is not None):
            if isinstance(request.user, User):
                name = match.view_name if match else ""
                record(SecurityEvent.REFUSED, user=request.user, request=request._request, right=right, route=name, method=request.method)
            return False
        return token is None or is_root or _is_in_token_scope(token, view, request.method or "")


def _is_in_token_scope(token: ApiToken, view: Any, method: str) -> bool:
    """Whether the token is for this collection; one that is limited to some things has those alone whose rows can be told apart so."""
    return covers(token, view.basename, method) and not is_collection_closed(token, view)


class PermissionMiddleware:
    """Middleware for all pages: asks who has not signed in to do so, and tells who may not. The API is `RolePermission`'s."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponseBase | None:
        """Called by Django before each view."""
        match = request.resolver_match
        if match is None or ("api" in match.namespaces and hasattr(match.func, "cls")):
            return None
        page, method = PAGES.get(match.view_name), request.method or ""
        if page is None:
            return None if _is_asset(match.func) else _refuse_unknown_route()
        right = page.right(method)
        if right is None:
            return HttpResponseNotAllowed(sorted(SAFE) if page.see else ["POST"])
        if has_right(request.user, right):
            return None
        if not request.user.is_authenticated:
            return ask_to_sign_in(request)
        if match.view_name == "desk:dashboard":
            return redirect("own:home")  # where everybody arrives after signing in
        record(SecurityEvent.REFUSED, user=get_person(request), request=request, right=right, route=match.view_name, method=method)
        raise PermissionDenied


def _is_asset(view: object) -> bool:
    """Static files in a development checkout, which Django itself serves."""
    return getattr(view, "__module__", "") == "django.contrib.staticfiles.views"


def _refuse_unknown_route() -> HttpResponseBase:
    raise PermissionDenied("This route has no line in apps/accounts/route_rights.py.")


def ask_to_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect to the sign-in page, which says so if something was sent; 401 to HTMX, which would swap it into the middle of a page."""
    if request.headers.get("HX-Request") == "true":
        return HttpResponse(_("You are signed out."), status=401, content_type="text/plain; charset=utf-8")
    if request.method not in SAFE:
        said = _(
            "You were signed out, so nothing was saved. Text that you wrote is kept in this tab: sign in, and it stands in its field again."
        )
        messages.warning(request, said)
    return redirect_to_login(find_return_path(request))


def staff_page(view: View) -> View:
    """A page for people who run the network, whatever its line in route_rights.py says: others are asked to sign in, or told."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return ask_to_sign_in(request)
        if not request.user.is_staff:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return checked


def get_person(request: HttpRequest) -> User:
    """Whoever signed in and asks for a staff page: the `by` of services."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user

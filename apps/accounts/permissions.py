"""Checks of rights for pages and for the API. route_rights.py says which right each route needs."""

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
from apps.accounts.security_log import SecurityEvent, log_security_event
from apps.accounts.tokens import is_in_scope
from apps.lib.api.token_scope import is_collection_closed
from apps.lib.web.frame_reads import expect_frame

type View = Callable[..., HttpResponseBase]


def has_right(user: object, right: Right, *, by_token: bool = False) -> bool:
    """True if this account, or an anonymous visitor, has the right."""
    return right in (compute_rights(user.roles, by_token=by_token) if isinstance(user, User) and user.is_active else {Right.ANYONE})


def can_use_page(user: object, name: str, *, see: bool = False) -> bool:
    """True if this account may use the page of this name: send to it if the page accepts that, else look at it.

    With `see`, only looking counts.
    """
    page = PAGES.get(name)
    if page is None:
        return False
    right = page.see if see else page.change or page.see
    return right is not None and has_right(user, right)


def can_view_page(user: object, name: str) -> bool:
    """True if this account may look at the page of this name."""
    return can_use_page(user, name, see=True)


class RolePermission(BasePermission):
    """Permission of the API: checks the right for the view's basename and action.

    The automation role counts only with a token, not with a session.
    """

    @property
    def message(self) -> str:
        return _("Your roles do not allow this. An administrator can give you others.")

    def has_permission(self, request: Request, view: Any) -> bool:
        match = request.resolver_match
        is_root = match is not None and match.view_name == "api:api-root"
        rows = ROOT_OF_API if is_root else API.get(getattr(view, "basename", None) or "")
        right = rows.find_right(getattr(view, "action", None) or "", request.method or "") if rows else None
        token = request.auth if isinstance(request.auth, ApiToken) else None
        if right is None or not has_right(request.user, right, by_token=token is not None):
            if isinstance(request.user, User):
                name = match.view_name if match else ""
                log_security_event(
                    SecurityEvent.REFUSED, user=request.user, request=request._request, right=right, route=name, method=request.method
                )
            return False
        return token is None or is_root or _is_in_token_scope(token, view, request.method or "")


def _is_in_token_scope(token: ApiToken, view: Any, method: str) -> bool:
    """True if the token's scope includes this collection.

    A token that is limited to a member, group or house is refused by collections that cannot be filtered so.
    """
    return is_in_scope(token, view.basename, method) and not is_collection_closed(token, view)


class PermissionMiddleware:
    """Middleware for all pages: asks anonymous visitors to sign in, and refuses with 403 where a right is missing.

    `RolePermission` checks the API.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponseBase | None:
        """Django calls this before each view."""
        match = request.resolver_match
        if match is None or ("api" in match.namespaces and hasattr(match.func, "cls")):
            return None
        page, method = PAGES.get(match.view_name), request.method or ""
        if page is None:
            return None if _is_asset(match.func) else _refuse_unknown_route()
        right = page.find_right(method)
        if right is None:
            return HttpResponseNotAllowed(sorted(SAFE) if page.see else ["POST"])
        if has_right(request.user, right):
            return None
        if not request.user.is_authenticated:
            return ask_to_sign_in(request)
        if match.view_name == "desk:dashboard":
            return redirect("own:home")  # everybody is sent to the dashboard after signing in
        log_security_event(
            SecurityEvent.REFUSED, user=get_signed_in_user(request), request=request, right=right, route=match.view_name, method=method
        )
        raise PermissionDenied


def _is_asset(view: object) -> bool:
    """True for static files, which Django itself serves in a development checkout."""
    return getattr(view, "__module__", "") == "django.contrib.staticfiles.views"


def _refuse_unknown_route() -> HttpResponseBase:
    raise PermissionDenied("This route has no line in apps/accounts/route_rights.py.")


def ask_to_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect to the sign-in page, with a message if a form was sent; answer HTMX with 401, because it would swap the sign-in page
    into the middle of a page.
    """
    if request.headers.get("HX-Request") == "true":
        return HttpResponse(_("You are signed out."), status=401, content_type="text/plain; charset=utf-8")
    if request.method not in SAFE:
        said = _(
            "You were signed out, so nothing was saved. Text that you wrote is kept in this tab: sign in, and it is back in its field."
        )
        messages.warning(request, said)
    return redirect_to_login(find_return_path(request))


def staff_page(view: View) -> View:
    """Decorate a page for staff, beside its line in route_rights.py: asks anonymous visitors to sign in, refuses members with 403."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return ask_to_sign_in(request)
        if not request.user.is_staff:
            raise PermissionDenied
        if "HX-Request" not in request.headers:
            expect_frame()
        return view(request, *args, **kwargs)

    return checked


def get_signed_in_user(request: HttpRequest) -> User:
    """Return the account that is signed in: the `by` of services. Raises PermissionDenied for an anonymous request."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user

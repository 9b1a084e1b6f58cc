"""Requirement of a second factor for staff: accounts without one are led to set one up, and can do nothing else until then."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

OPEN: Final = frozenset({"account_logout", "account_reauthenticate", "set_language", "lib:theme", "lib:language"})


def lacks_second_factor(request: HttpRequest) -> bool:
    """True if this session's user must set up a second factor first."""
    user = request.user
    if not settings.REQUIRE_SECOND_FACTOR or not user.is_authenticated or not user.is_staff:
        return False
    return not is_mfa_enabled(user, ["totp", "webauthn"])


def redirect_to_second_factor(request: HttpRequest) -> HttpResponse:
    """Redirect to the page that sets up a second factor, which says why."""
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": reverse("mfa_index")})
    return redirect("mfa_index")


def build_second_factor_context(request: HttpRequest) -> dict[str, object]:
    """Return the template variable `second_factor_missing`: True if this user must set up a second factor first."""
    return {"second_factor_missing": SimpleLazyObject(partial(lacks_second_factor, request)) if hasattr(request, "user") else False}


class SecondFactorMiddleware:
    """Middleware: lets staff without a second factor reach only the pages that set one up.

    Requests with a token have no session and pass.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponseBase | None:
        """Django calls this before each view."""
        name = request.resolver_match.view_name if request.resolver_match else ""
        if name in OPEN or name.startswith("mfa_") or not lacks_second_factor(request):
            return None
        if name.startswith("api:"):
            return JsonResponse({"detail": _("Set up a second factor first, on the page of your account.")}, status=403)
        return redirect_to_second_factor(request)

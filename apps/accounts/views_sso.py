"""Signing in and out with an OpenID provider: allauth's views, with a nonce and single sign-out."""

import secrets
from typing import Any, Final

import structlog
from allauth.account.views import LogoutView
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.socialaccount.providers.openid_connect.views import login as begin_login
from django.contrib import messages
from django.core.cache import caches
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST
from requests import RequestException

from apps.accounts import sso_logout
from apps.accounts.oidc_nonce import add_oidc_nonce, is_valid_oidc_nonce

_STATE: Final = "signed_out_state"
log = structlog.get_logger()


class OpenIDAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth has no types
    """allauth's adapter, which also checks the nonce, and passes on what signing out at the provider needs (sso.py)."""

    def complete_login(self, request: HttpRequest, app: SocialApp, token: Any, **given: Any) -> SocialLogin:
        """allauth calls this when the provider has identified a person. Raises PermissionDenied for a wrong nonce."""
        login = super().complete_login(request, app, token, **given)
        claims = login.account.extra_data.get("id_token") or {}
        if not is_valid_oidc_nonce(request.GET.get("state", ""), claims.get("nonce")):
            log.warning("id token refused", why="its nonce is not that of this sign-in")
            raise PermissionDenied
        raw, ending = str(given["response"].get("id_token") or ""), str(self.openid_config.get("end_session_endpoint") or "")
        login.opening = sso_logout.build_session_provider(provider=login.account.provider, id_token=raw, claims=claims, end=ending)
        return login


def login(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Redirect the browser to the provider, with a nonce."""
    answer: HttpResponseBase = begin_login(request, provider_id=provider_id)
    if answer.status_code == 302:
        answer["Location"] = add_oidc_nonce(answer["Location"])
    return answer


def callback(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Handle the browser's return from the provider."""
    try:
        view = OAuth2CallbackView.adapter_view(OpenIDAdapter(request, provider_id))
        answer: HttpResponseBase = view(request)
    except SocialApp.DoesNotExist as error:
        raise Http404(provider_id) from error
    return answer


class SignOut(LogoutView):  # type: ignore[misc]  # allauth has no types
    """Signs out here first, whatever the provider does; then at the provider, if it opened this session and supports that."""

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        of = dict(self.request.session.get(sso_logout.KEPT) or {})
        answer: HttpResponse = super().post(*args, **kwargs)
        if not of.get("end"):
            return answer
        state = self.request.session[_STATE] = secrets.token_urlsafe(16)
        back = self.request.build_absolute_uri(reverse("accounts:signed-out"))
        away = sso_logout.build_logout_url(of, client=_get_app(self.request).client_id, back=back, state=state)
        return HttpResponse(status=302, headers={"Location": away})


def _get_app(request: HttpRequest) -> SocialApp:
    return get_adapter().get_app(request, provider="openid_connect")


@require_GET
def finish_sign_out(request: HttpRequest) -> HttpResponse:
    """Finish signing out after the return from the provider.

    The message appears only if the provider returned the state that it was given.
    """
    given = request.session.pop(_STATE, None)
    if given and secrets.compare_digest(given.encode(), request.GET.get("state", "").encode()):
        messages.success(request, _("You are signed out, here and at %(provider)s.") % {"provider": _get_app(request).name})
    return redirect("account_login")


@csrf_exempt  # the token is the proof: the provider itself sends the request, without a session
@require_POST
def back_channel_logout(request: HttpRequest) -> HttpResponse:
    """Handle the provider's message that a person has signed out there (Back-Channel Logout 1.0, 2.5 and 2.8)."""
    try:
        app = _get_app(request)
    except SocialApp.DoesNotExist as error:
        raise Http404("no provider") from error
    try:
        config = _fetch_config(request, app)
        known = {"issuer": config["issuer"], "client": app.client_id, "keys_url": config["jwks_uri"]}
        claims = sso_logout.validate_logout_token(request.POST.get("logout_token", ""), **known)
    except (sso_logout.LogoutTokenError, RequestException, KeyError) as error:
        log.warning("logout token refused", why=str(error))
        return _build_response({"error": "invalid_request", "error_description": str(error)}, 400)
    log.info("signed out by the provider", sessions=sso_logout.end_sessions(claims, provider=app.provider_id))
    return _build_response({}, 200)


def _fetch_config(request: HttpRequest, app: SocialApp) -> dict[str, Any]:
    """Return the provider's configuration; cached for KEYS_KEPT seconds, since anyone can send requests here."""
    kept, name = caches["local"], f"oidc-configuration:{app.settings['server_url']}"
    found: dict[str, Any] | None = kept.get(name)
    if found is None:
        found = dict(OpenIDAdapter(request, app.provider_id).openid_config)
        kept.set(name, found, sso_logout.KEYS_KEPT)
    return found


def _build_response(body: dict[str, str], status: int) -> HttpResponse:
    return JsonResponse(body, status=status, headers={"Cache-Control": "no-store"})

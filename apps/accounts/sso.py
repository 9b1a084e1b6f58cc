"""Single sign-on: an OpenID provider identifies a person, and opens their account here only after they have connected the two.

Connecting takes a session here and an address that both sides have confirmed for this person.
"""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from django.http import HttpRequest
from django.shortcuts import render
from django.utils.translation import gettext as _

from apps.accounts import sso_logout
from apps.accounts.models import User
from apps.lib.email_address import lower_ascii


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Adapter for single sign-on. It makes no accounts from a provider's data, and connects none by an address alone."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """allauth calls this when the provider has identified a person.

        If a session connects a provider, it stays that account's session.
        """
        if sociallogin.is_existing:
            if sociallogin.state.get("process") == AuthProcess.LOGIN:
                sso_logout.save_session_provider(request, sociallogin.opening)
            return
        if not isinstance(request.user, User):
            self._refuse(
                request,
                _("Sign in once with your password, and connect the two accounts under “Your account”. After that, single sign-on works."),
            )
        if not self._has_same_address(request.user, sociallogin):
            words = _("Single sign-on does not confirm an address that is confirmed here as yours, so the accounts are not connected.")
            self._refuse(request, words)

    def _has_same_address(self, user: Any, sociallogin: SocialLogin) -> bool:
        said = {lower_ascii(each.email) for each in sociallogin.email_addresses if each.verified}
        ours = {lower_ascii(each.email) for each in EmailAddress.objects.filter(user=user, verified=True)}
        return bool(said & ours)

    def _refuse(self, request: HttpRequest, reason: str) -> None:
        raise ImmediateHttpResponse(render(request, "socialaccount/unknown.html", {"reason": reason}, status=403))

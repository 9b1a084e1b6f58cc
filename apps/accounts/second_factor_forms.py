"""Forms that ask for a code of the second factor: allauth's, with a longer memory of used codes.

An app's code is accepted in the periods beside its own too (`MFA_TOTP_TOLERANCE`), but allauth remembers for one period that it was used.
"""

from allauth.mfa import app_settings
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.core.cache import cache


class SignInCodeForm(AuthenticateForm):  # type: ignore[misc]  # allauth has no types
    """The code after the password."""

    def clean_code(self) -> str:
        code: str = super().clean_code()
        _remember_use(self.authenticator, code)
        return code


class RecentAuthCodeForm(ReauthenticateForm):  # type: ignore[misc]  # allauth has no types
    """The code that sensitive pages ask for again."""

    def clean_code(self) -> str:
        code: str = super().clean_code()
        _remember_use(self.authenticator, code)
        return code


def _remember_use(authenticator: Authenticator, code: str) -> None:
    """Remember that an app's code was used for as long as any code is accepted. Those of recovery are used up in the database."""
    if authenticator.type == Authenticator.Type.TOTP:
        seconds = (2 * app_settings.TOTP_TOLERANCE + 1) * app_settings.TOTP_PERIOD
        cache.set(TOTP(authenticator)._get_used_cache_key(code), "y", timeout=seconds)

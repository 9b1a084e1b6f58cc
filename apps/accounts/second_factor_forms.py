"""Forms that ask for a code or a passkey: allauth's, with a longer memory of used codes and a stricter count of attempts.

An app's code is accepted in the periods beside its own too (`MFA_TOTP_TOLERANCE`), but allauth remembers for one period that it was used.
And for allauth a right code ends the count of all wrong passwords from its address; here it gives back its own attempt only.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.core import context
from allauth.core.internal import ratelimit
from allauth.mfa import app_settings
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from allauth.mfa.webauthn.forms import AddWebAuthnForm, AuthenticateWebAuthnForm, LoginWebAuthnForm, ReauthenticateWebAuthnForm
from allauth.mfa.webauthn.internal import auth
from django import forms
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.accounts.security_log import SecurityEvent, log_security_event

_MALFORMED: Final = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError, struct.error)
"""What allauth and its parser raise for a passkey's answer that no browser sends."""
_REFUSED: Final = _("This passkey was not accepted. Try again.")


class SignInCodeForm(AuthenticateForm):  # type: ignore[misc]  # allauth has no types
    """The code after the password."""

    def clean_code(self) -> str:
        return _check_code(self)


class RecentAuthCodeForm(ReauthenticateForm):  # type: ignore[misc]  # allauth has no types
    """The code that sensitive pages ask for again."""

    def clean_code(self) -> str:
        return _check_code(self)


class _CredentialField(forms.JSONField):
    """What a browser says of a passkey, as JSON."""

    widget = forms.HiddenInput
    default_error_messages = {"required": _REFUSED}

    def to_python(self, value: Any) -> Any:
        """Return the parsed text. Raises ValidationError also where it is nested too deep to be parsed."""
        with _refuse_malformed_key():
            return super().to_python(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Return what an empty form shows: an answer is good for one try."""
        return initial


class AddKeyForm(AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """A new passkey, and its name."""

    credential = _CredentialField()

    def clean(self) -> dict[str, Any]:
        with _refuse_malformed_key():
            found: dict[str, Any] = super().clean()
        return found


class SignInKeyForm(AuthenticateWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """The passkey after the password."""

    credential = _CredentialField()

    def clean_credential(self) -> Authenticator:
        return _check_key(self.user, self.cleaned_data["credential"])


class KeyAloneForm(LoginWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """The passkey instead of a password. Whose it is only a right one tells."""

    credential = _CredentialField()

    def clean_credential(self) -> Authenticator:
        with _log_wrong_key(None):
            found: Authenticator = super().clean_credential()
        return found


class RecentAuthKeyForm(ReauthenticateWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """The passkey that sensitive pages ask for again."""

    credential = _CredentialField()

    def clean_credential(self) -> Authenticator:
        return _check_key(self.user, self.cleaned_data["credential"])


def _check_code(form: Any) -> str:
    """Return the code of one of allauth's forms, and note in the form which factor it is of. Raises ValidationError for a wrong one."""
    code: str = form.cleaned_data["code"]
    attempt = _count_attempt(form.user)
    form.authenticator = _find_factor(form, code)
    attempt.rollback()
    _remember_use(form.authenticator, code)
    return code


def _find_factor(form: Any, code: str) -> Authenticator:
    """Return the app or the recovery codes that this code belongs to. Raises ValidationError if there is none."""
    factors = sorted(Authenticator.objects.filter(user=form.user).exclude(type="webauthn"), key=lambda each: each.type != "totp")
    for factor in factors:
        if factor.wrap().validate_code(code):
            factor.user = form.user
            return factor
    if factors:
        form._emit_authentication_failed(factors[0])
    raise get_adapter().validation_error("incorrect_code")


def _check_key(user: User, credential: dict[str, Any]) -> Authenticator:
    """Return the passkey that a browser has used. Raises ValidationError if it is not this user's, or not for this challenge."""
    attempt = _count_attempt(user)
    with _log_wrong_key(user):
        auth.parse_authentication_response(credential)
        factor: Authenticator = auth.complete_authentication(user, credential)
    attempt.rollback()
    return factor


@contextmanager
def _refuse_malformed_key() -> Iterator[None]:
    """Raise ValidationError, with words about passkeys, if the block refuses one or cannot read it."""
    try:
        yield
    except (ValidationError, *_MALFORMED) as why:
        raise ValidationError(_REFUSED, code="incorrect_passkey") from why


@contextmanager
def _log_wrong_key(user: User | None) -> Iterator[None]:
    """Refuse as above, and write a line of the security log. allauth sends a signal for wrong codes alone."""
    try:
        with _refuse_malformed_key():
            yield
    except ValidationError:
        log_security_event(SecurityEvent.SIGN_IN_FAILED, user=user, factor=Authenticator.Type.WEBAUTHN.value)
        raise


def _count_attempt(user: User) -> Any:
    """Count an attempt for this user and this address; return it, to be rolled back. Raises ValidationError after too many."""
    key = f"mfa-auth-user-{user.pk}"
    attempt = ratelimit.consume(context.request, app="allauth.account", action="login_failed", key=key)
    if attempt is None:
        log_security_event(SecurityEvent.SIGN_IN_BLOCKED, user=user)
        raise get_account_adapter().validation_error("too_many_login_attempts")
    return attempt


def _remember_use(authenticator: Authenticator, code: str) -> None:
    """Remember that an app's code was used for as long as any code is accepted. Those of recovery are used up in the database."""
    if authenticator.type == Authenticator.Type.TOTP:
        seconds = (2 * app_settings.TOTP_TOLERANCE + 1) * app_settings.TOTP_PERIOD
        cache.set(TOTP(authenticator)._get_used_cache_key(code), "y", timeout=seconds)

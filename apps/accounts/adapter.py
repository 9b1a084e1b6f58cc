"""Adapters for allauth: accounts only by invitation, mail through the outbox, encrypted secrets of second factors."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from allauth.account.models import EmailAddress
from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import MultiFernet
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import get_language, override
from django.utils.translation import gettext_lazy as _

from apps.accounts import client_address
from apps.accounts.backend import find_account
from apps.accounts.hashing import TooManyHashings
from apps.accounts.models import User
from apps.accounts.recent_auth import has_second_factor, is_beginning_second_factor
from apps.accounts.security_log import SecurityEvent, log_security_event
from apps.lib.email_address import is_same_address
from apps.lib.secret_keys import build_cipher
from apps.preferences.declarations import CONTACT, NETWORK_NAME
from apps.preferences.selectors import read_setting

SILENT = frozenset({"account/messages/logged_in.txt", "account/messages/logged_out.txt"})


_MISMATCH = _("Wrong username, e-mail address or password.")


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Adapter for signing in. Accounts are made by invitation or on the command line; there is no open sign-up."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": _MISMATCH,
        "email_password_mismatch": _MISMATCH,
        "too_many_login_attempts": _("Too many tries. Wait five minutes, or use a passkey."),
        "incorrect_password": _("That is not your password."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Return the account, or None. An attempt that was not checked does not count. Raises TooManyHashings."""
        try:
            found: User | None = super().authenticate(request, **credentials)
        except TooManyHashings:
            self._rollback_login_failed_rl_usage()
            raise
        return found

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt. Raises ValidationError after too many."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            log_security_event(SecurityEvent.SIGN_IN_BLOCKED, user=find_account(credentials), request=request)
            raise

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return one key for each account, whether its name or its address was typed, and one for each text that belongs to no account."""
        user = find_account(credentials)
        typed = str(credentials.get("email") or credentials.get("username") or "").lower()
        return f"account:{user.pk}" if user else f"text:{typed}"

    def can_delete_email(self, email_address: EmailAddress) -> bool:
        """True for the address of a change that waits. An account without an address of its own could take any without its link."""
        is_own = is_same_address(email_address.email, email_address.user.email)
        return not (is_own or email_address.primary or email_address.verified)

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """As allauth decides, but not for the first second factor of those who have just signed in."""
        begins = app == "allauth.mfa" and is_beginning_second_factor(self.request)
        return super().is_reauthentication_required(app=app, **kwargs) and not begins

    def get_reauthentication_methods(self, user: User | AnonymousUser) -> list[dict[str, Any]]:
        """As allauth lists them, but for owners of a second factor without the password: it would show the codes that stand in for that."""
        ways = super().get_reauthentication_methods(user)
        return [way for way in ways if way["id"] != "reauthenticate"] if has_second_factor(user) else list(ways)

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address.get_client_address(request)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Queue a mail in the reader's language. A worker sends it after the answer, so the request waits for no mail server."""
        given = {"email": email, "network": read_setting(NETWORK_NAME), "contact": read_setting(CONTACT)} | context
        reader = context.get("user")
        with override(reader.language or get_language() if isinstance(reader, User) else get_language()):
            self.render_mail(template_prefix, email, given).send()

    def format_email_subject(self, subject: str) -> str:
        return f"[{read_setting(NETWORK_NAME)}] {subject}"

    def add_message(self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any, **kwargs: Any) -> None:
        """Skip the messages about signing in and out: the page shows that itself."""
        if message_template not in SILENT:
            super().add_message(request, level, message_template, *args, **kwargs)


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """Adapter for second factors. It encrypts their secrets, so reading the database is not enough to use them."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": _("Wrong code. Enter the one that your app shows now."),
    }

    def get_totp_issuer(self) -> str:
        return f"Netzwart {read_setting(NETWORK_NAME)}"

    def encrypt(self, text: str) -> str:
        return _build_cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _build_cipher().decrypt(encrypted_text.encode()).decode()


def confirm_password(user: User, password: str) -> None:
    """Raise ValidationError unless this is the user's password. Wrong attempts count as they do when signing in, with the same limit."""
    adapter = get_adapter()
    if not adapter.reauthenticate(user, password):
        raise adapter.validation_error("incorrect_password")


def _build_cipher() -> MultiFernet:
    return build_cipher(b"second-factor")


def reencrypt_text(text: str) -> str:
    """Encrypt the same text with the current key. Raises InvalidToken if none of the keys decrypts it."""
    return _build_cipher().rotate(text.encode()).decode()

"""How allauth signs people in here: nobody signs up without an invitation, mail goes into the outbox, secrets are encrypted."""

import base64
import hashlib
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import get_language, override
from django.utils.translation import gettext_lazy as _

from apps.accounts import client_address
from apps.accounts.backend import find_account
from apps.accounts.models import User
from apps.accounts.security_log import SecurityEvent, record
from apps.lib.secret_keys import list_secret_keys

SILENT = frozenset({"account/messages/logged_in.txt", "account/messages/logged_out.txt"})


_MISMATCH = _("That name or address and that password do not belong together.")


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Accounts come by invitation or from the command line."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": _MISMATCH,
        "email_password_mismatch": _MISMATCH,
        "too_many_login_attempts": _("Too many tries. Wait five minutes, or use a passkey."),
        "incorrect_password": _("That is not your password."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Counts the try; raises ValidationError when there were too many."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            record(SecurityEvent.SIGN_IN_BLOCKED, user=find_account(credentials), request=request)
            raise

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """One count for each account, whether its name or its address was typed; and one for each text that is no account's."""
        user = find_account(credentials)
        typed = str(credentials.get("email") or credentials.get("username") or "").lower()
        return f"account:{user.pk}" if user else f"text:{typed}"

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address.get_client_address(request)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """In the language of whoever reads it; a worker sends it after the answer, which waits for no server."""
        given = {"email": email, "network": settings.NETWORK_NAME} | context
        reader = context.get("user")
        with override(reader.language or get_language() if isinstance(reader, User) else get_language()):
            self.render_mail(template_prefix, email, given).send()

    def format_email_subject(self, subject: str) -> str:
        return f"[{settings.NETWORK_NAME}] {subject}"

    def add_message(self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any, **kwargs: Any) -> None:
        """That one is signed in or out, the page shows by itself."""
        if message_template not in SILENT:
            super().add_message(request, level, message_template, *args, **kwargs)


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """Secrets of second factors are of no use to somebody who reads the database alone."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": _("That code does not fit. Take the one that your app shows now."),
    }

    def get_totp_issuer(self) -> str:
        return f"Netzwart {settings.NETWORK_NAME}"

    def encrypt(self, text: str) -> str:
        return _build_cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _build_cipher().decrypt(encrypted_text.encode()).decode()


def confirm_password(user: User, password: str) -> None:
    """Raises ValidationError unless it is the user's; wrong tries count as they do when signing in, and are as few."""
    adapter = get_adapter()
    if not adapter.reauthenticate(user, password):
        raise adapter.validation_error("incorrect_password")


def _build_cipher() -> MultiFernet:
    """With keys made from the portal's secret keys, for this purpose only: encrypts with the current one, decrypts with all."""
    return MultiFernet([_derive_cipher(key) for key in list_secret_keys()])


def _derive_cipher(secret: str) -> Fernet:
    key = hashlib.blake2b(secret.encode()[:64], person=b"second-factor", digest_size=32).digest()
    return Fernet(base64.urlsafe_b64encode(key))


def encrypt_anew(text: str) -> str:
    """The same text under the current key. Raises InvalidToken when none of the keys fits."""
    return _build_cipher().rotate(text.encode()).decode()

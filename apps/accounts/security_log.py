"""Log of security events: sign-ins and failures with their address; changes of factors, roles and tokens, and who made them.

Each is one line by structlog, with `security=EVENT`; docs/security-log.md lists all. The log never contains a password, code, key
or session id, and a typed name only if it is an account's.
"""

import sys
from enum import StrEnum
from typing import Any

import structlog
from allauth.account import signals as account
from allauth.core import context
from allauth.mfa import signals as factors
from django.contrib.auth import signals as auth
from django.http import HttpRequest

from apps.accounts import client_address
from apps.accounts.models import User

log = structlog.wrap_logger(structlog.PrintLogger(sys.stderr))  # stderr, because scripts read the output of commands


class SecurityEvent(StrEnum):
    """Every event that is recorded."""

    SIGNED_IN = "signed in"
    SIGNED_OUT = "signed out"
    SIGN_IN_FAILED = "sign-in failed"
    SIGN_IN_BLOCKED = "sign-in blocked"
    PASSWORD_CHANGED = "password changed"  # noqa: S105 - not a password
    PASSWORD_RESET = "password reset"  # noqa: S105 - not a password
    ADDRESS_CHANGED = "address changed"
    FACTOR_ADDED = "factor added"
    FACTOR_REMOVED = "factor removed"
    FACTOR_RENEWED = "factor renewed"
    SESSIONS_ENDED = "sessions ended"
    ROLES_ASKED = "roles asked"
    ROLES_CHANGED = "roles changed"
    ROLES_DROPPED = "roles dropped"
    TOKEN_MADE = "token made"  # noqa: S105 - not a token
    TOKEN_REVOKED = "token revoked"  # noqa: S105 - not a token
    TOKEN_UNKNOWN = "token unknown"  # noqa: S105 - not a token
    EVIDENCE_DOWNLOADED = "evidence downloaded"
    EVIDENCE_DELETED = "evidence deleted"
    REFUSED = "refused"


def log_security_event(
    event: SecurityEvent, *, user: User | None = None, by: User | None = None, request: HttpRequest | None = None, **facts: object
) -> None:
    """Write one line. The address is that of `request`, or else of the request that this thread is answering."""
    asked = request or context.request
    known: dict[str, object] = {
        "user": user and user.username,
        "by": by and by.username,
        "address": asked and client_address.get_client_address(asked),
    }
    told = {name: value for name, value in (known | facts).items() if value is not None}
    (log.warning if event in _WARNINGS else log.info)("security event", security=str(event), **told)


_WARNINGS = frozenset({SecurityEvent.SIGN_IN_FAILED, SecurityEvent.SIGN_IN_BLOCKED, SecurityEvent.TOKEN_UNKNOWN, SecurityEvent.REFUSED})


def connect_signals() -> None:
    """Connect the signals of Django and allauth; called once, when the app is ready."""
    auth.user_logged_in.connect(_record_sign_in)
    auth.user_logged_out.connect(_record_sign_out)
    auth.user_login_failed.connect(_record_failed_sign_in)
    account.password_changed.connect(_record_password_change)
    account.password_set.connect(_record_password_change)
    account.password_reset.connect(_record_password_reset)
    account.email_changed.connect(_record_address_change)
    factors.authentication_failed.connect(_record_wrong_code)
    factors.authenticator_added.connect(_record_added_factor)
    factors.authenticator_removed.connect(_record_removed_factor)
    factors.authenticator_reset.connect(_record_renewed_factor)


def _record_sign_in(user: User, request: HttpRequest, **_given: Any) -> None:
    records = request.session.get("account_authentication_methods", [])
    methods = ", ".join(sorted({str(each.get("type") or each.get("method") or "") for each in records})) or None
    log_security_event(SecurityEvent.SIGNED_IN, user=user, request=request, methods=methods)


def _record_sign_out(user: User | None, request: HttpRequest, **_given: Any) -> None:
    if user is not None:
        log_security_event(SecurityEvent.SIGNED_OUT, user=user, request=request)


def _record_failed_sign_in(credentials: dict[str, Any], request: HttpRequest | None = None, **_given: Any) -> None:
    from apps.accounts.backend import find_account  # the backend is loaded later than the app

    log_security_event(SecurityEvent.SIGN_IN_FAILED, user=find_account(credentials), request=request)


def _record_wrong_code(user: User, authenticator: Any, request: HttpRequest, **_given: Any) -> None:
    log_security_event(SecurityEvent.SIGN_IN_FAILED, user=user, request=request, factor=authenticator.type)


def _record_password_change(user: User, request: HttpRequest, **_given: Any) -> None:
    log_security_event(SecurityEvent.PASSWORD_CHANGED, user=user, request=request)


def _record_password_reset(user: User, request: HttpRequest, **_given: Any) -> None:
    log_security_event(SecurityEvent.PASSWORD_RESET, user=user, request=request)


def _record_address_change(user: User, request: HttpRequest, **_given: Any) -> None:
    log_security_event(SecurityEvent.ADDRESS_CHANGED, user=user, request=request)


def _record_added_factor(user: User, authenticator: Any, request: HttpRequest, **_given: Any) -> None:
    log_security_event(SecurityEvent.FACTOR_ADDED, user=user, request=request, factor=authenticator.type)


def _record_removed_factor(user: User, authenticator: Any, request: HttpRequest, **_given: Any) -> None:
    log_security_event(SecurityEvent.FACTOR_REMOVED, user=user, request=request, factor=authenticator.type)


def _record_renewed_factor(user: User, authenticator: Any, request: HttpRequest, **_given: Any) -> None:
    log_security_event(SecurityEvent.FACTOR_RENEWED, user=user, request=request, factor=authenticator.type)

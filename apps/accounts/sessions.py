"""An account's sessions: device, address and last use of each, and ending them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog
from allauth.usersessions.models import UserSession
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from apps.accounts import client_address
from apps.accounts.models import User
from apps.accounts.security_log import SecurityEvent, log_security_event

SEEN_EVERY: Final = 300  # seconds
_SEEN: Final = "seen"
BROWSERS: Final = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)
log = structlog.get_logger()


@dataclass(frozen=True)
class SessionRow:
    """A session as its owner sees it."""

    pk: int
    device: str
    address: str
    since: datetime
    seen: datetime
    current: bool


def list_sessions(request: HttpRequest, user: User) -> list[SessionRow]:
    """Return the account's live sessions: the current one first, then by last use."""
    rows = UserSession.objects.purge_and_list(user)
    key = request.session.session_key
    told = [
        SessionRow(row.pk, describe_device(row.user_agent), row.ip, row.created_at, row.last_seen_at, row.session_key == key)
        for row in rows
    ]
    return sorted(told, key=lambda each: (not each.current, -each.seen.timestamp()))


def end_session(*, user: User, pk: int) -> bool:
    """End one of the account's sessions. Return False if it has no such session."""
    row = UserSession.objects.filter(user=user, pk=pk).first()
    if row is not None:
        row.end()
    return row is not None


def end_all_sessions(*, user: User, but: str | None = None) -> int:
    """End all of the account's sessions except the one with key `but`; return how many ended."""
    rows = list(UserSession.objects.filter(user=user).exclude(session_key=but or ""))
    for row in rows:
        row.end()
    log_security_event(SecurityEvent.SESSIONS_ENDED, user=user, sessions=len(rows))
    return len(rows)


def describe_device(agent: str) -> str:
    """Return browser and system as people call them: “Firefox, Linux”."""
    found = (next((name for mark, name in kinds if mark in agent), "") for kinds in (BROWSERS, SYSTEMS))
    return ", ".join(each for each in found if each) or agent[:40] or "?"


class LastSeenMiddleware:
    """Middleware: records at most every SEEN_EVERY seconds when a session was last seen, and from which address."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        if request.session.session_key and request.user.is_authenticated:
            self._note(request)
        return response

    def _note(self, request: HttpRequest) -> None:
        now = timezone.now()
        if now.timestamp() - request.session.get(_SEEN, 0) < SEEN_EVERY:
            return
        key = request.session.session_key
        try:
            UserSession.objects.filter(session_key=key).update(last_seen_at=now, ip=client_address.get_client_address(request))
        except (OperationalError, InterfaceError) as error:
            log.warning("session use not recorded", error=str(error).strip())  # the request itself is done, so its answer still counts
            return
        request.session[_SEEN] = now.timestamp()

"""Limits on the age and on the idle time of staff sessions. Members stay signed in as long as Django's cookie lasts.

The middleware checks pages; live events call `is_session_over`.
"""

import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest, HttpResponse

NOTED_EVERY: Final = 60  # seconds
_BEGAN, _ACTIVE = "began", "active"


class SessionLimitsMiddleware:
    """Middleware: signs staff out when their session is too old or idle for too long; the page then asks them to sign in.

    HTMX GET requests do not count as activity, so a page that refreshes itself does not extend the session.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and request.user.is_staff:
            self._check(request, time.time())
        return self._get_response(request)

    def _check(self, request: HttpRequest, now: float) -> None:
        session = request.session
        session.setdefault(_BEGAN, now)
        if is_session_over(session, now):
            logout(request)
        elif now - session.setdefault(_ACTIVE, now) > NOTED_EVERY and not _is_automatic(request):
            session[_ACTIVE] = now


def is_session_over(session: SessionBase, now: float) -> bool:
    """True if a staff session is too old or has been idle for too long. A session that has not requested a page yet is neither."""
    began, active = session.get(_BEGAN, now), session.get(_ACTIVE, now)
    return bool(now - began > settings.STAFF_SESSION_SECONDS or now - active > settings.STAFF_IDLE_SECONDS)


def _is_automatic(request: HttpRequest) -> bool:
    return request.method == "GET" and "HX-Request" in request.headers

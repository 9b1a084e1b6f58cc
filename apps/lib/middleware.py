"""What a request gets while the database is away, or served somebody else first: 503 and a page that says so, not a fault of ours."""

from collections.abc import Callable

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from psycopg.errors import DeadlockDetected, SerializationFailure

from apps.lib.api.problems import away

RETRY_AFTER = "5"  # seconds
log = structlog.get_logger()


class DatabaseAway:
    """Turns a lost database into 503. What was being saved is not half-written: its transaction is gone with the connection."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Called by Django for what a view raised."""
        if not isinstance(error, OperationalError | InterfaceError):
            return None
        at_once = isinstance(error.__cause__, DeadlockDetected | SerializationFailure)
        log.error("changed at once" if at_once else "database away", path=request.path, error=str(error))
        if request.path.startswith("/api/"):
            response = away(_at_once() if at_once else _("The database does not answer. Nothing was changed; try again in a moment."))
        else:
            response = render(request, "503.html", {"at_once": _at_once() if at_once else ""}, status=503)
        response["Retry-After"] = "1" if at_once else RETRY_AFTER
        return response


def _at_once() -> str:
    return _("Somebody changed the same things at the same moment. Nothing of yours was changed; try again.")

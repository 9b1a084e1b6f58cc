"""Answers 503 with a sentence while the database is unavailable or busy, instead of a server error.

`DatabaseOutageMiddleware` handles exceptions of views. Exceptions of middleware (session, account, language) do not reach it,
because Django converts them in each layer; for these, Django calls `handler500`, which is `explain_error` here.
"""

import sys
from collections.abc import Callable

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from psycopg.errors import DeadlockDetected, DiskFull, LockNotAvailable, QueryCanceled, SerializationFailure

from apps.lib.api import problems
from apps.lib.web import context_processors
from apps.lib.web.path_redaction import redact_path

RETRY_AFTER = "5"  # seconds
READS = frozenset({"GET", "HEAD", "OPTIONS"})
log = structlog.get_logger()


class DatabaseOutageMiddleware:
    """Turns a lost or busy database into 503. Nothing is half-saved: the transaction ended with the query."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return the response to an exception of a view. Called by Django."""
        return build_outage_response(request, error)


def explain_error(request: HttpRequest) -> HttpResponseBase:
    """Return the response to an exception of any layer (handler500). Called by Django while it handles the exception."""
    return build_outage_response(request, sys.exc_info()[1]) or problems.server_error(request)


def build_outage_response(request: HttpRequest, error: BaseException | None) -> HttpResponse | None:
    """Return 503 if the database could not do the work now; None for all other exceptions."""
    if not isinstance(error, OperationalError | InterfaceError):
        return None
    at_once = isinstance(error.__cause__, DeadlockDetected | SerializationFailure)
    busy = isinstance(error.__cause__, LockNotAvailable | QueryCanceled)
    full = isinstance(error.__cause__, DiskFull)
    log.error(
        "changed at once" if at_once else "database busy" if busy else "database's disk full" if full else "database away",
        path=redact_path(request.path),
        error=str(error).strip(),
    )
    why = (
        _explain_collision()
        if at_once
        else _explain_full_disk()
        if full
        else f"{_explain_busy() if busy else _explain_no_answer()} {_explain_saved(request)}"
    )
    response = problems.build_unavailable_response(why) if request.path.startswith("/api/") else _build_page(request, why)
    response["Retry-After"] = "1" if at_once else RETRY_AFTER
    response["Cache-Control"] = "no-store"
    return response


def _build_page(request: HttpRequest, why: str) -> HttpResponse:
    """Return the page, rendered without the request, because its context processors may query the database again."""
    return HttpResponse(render_to_string("503.html", {"theme": context_processors.get_theme(request), "why": why}), status=503)


def _explain_collision() -> str:
    return _("The same data was changed by someone else at the same moment. None of your changes were saved; try again.")


def _explain_no_answer() -> str:
    return _("The database does not answer.")


def _explain_busy() -> str:
    return _("The database is busy with something else, and did not answer in time.")


def _explain_full_disk() -> str:
    return _("The disk of the database is full. Nothing was partly saved. Tell an administrator, and try again when there is space.")


def _explain_saved(request: HttpRequest) -> str:
    """Return what may have been saved: a write may have been committed before the connection was lost, a read changed nothing."""
    if request.method in READS:
        return _("Nothing was changed; try again in a moment.")
    return _("Nothing was partly saved. Check in a moment whether your change is there; if not, send it again.")

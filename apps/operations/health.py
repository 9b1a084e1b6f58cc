"""Health reports for outside monitors: whether this process answers, whether it can serve, and whether every role works.

It contains only names, roles and ages, because the caller is not signed in.
"""

from functools import cache
from typing import Any

from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.operations import heartbeats
from apps.operations.models import RoleHeartbeat


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """Return 200 if this process answers requests at all. Asks nothing else: a dead database is no reason to restart the web server."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


@never_cache
@require_safe
def readyz(_request: HttpRequest) -> HttpResponse:
    """Return 200 if pages can be served: the database answers, and has this release's schema. Else 503, with the reason."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        _require_current_schema()
    except DatabaseError:
        return _refuse("the database does not answer")
    except OutdatedSchemaError:
        return _refuse("the database has the schema of another release: run manage.py migrate")
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


class OutdatedSchemaError(Exception):
    """Migrations of this release have not run."""


@cache
def _require_current_schema() -> None:
    """Raise OutdatedSchemaError if migrations are missing. Checked until it is so: a schema does not get older while a process runs."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise OutdatedSchemaError


def _refuse(reason: str) -> HttpResponse:
    return HttpResponse(f"{reason}\n", status=503, content_type="text/plain; charset=utf-8")


@never_cache
@require_safe
def health(_request: HttpRequest) -> JsonResponse:
    """Return 200 while the database answers and every role does its work, else 503."""
    try:
        report = _build_report()
    except DatabaseError:
        report = {"status": "failing", "database": False, "roles": {}}
    return JsonResponse(report, status=200 if report["status"] == "ok" else 503)


def _build_report() -> dict[str, Any]:
    now = timezone.now()
    faults = {fault.role: fault.fault.value for fault in heartbeats.list_process_faults(now)}
    known = heartbeats.list_heartbeats()
    roles = {
        role.value: {"fault": faults.get(role), "seconds_since_seen": _compute_age(known.get(role), now)}
        for role in heartbeats.list_expected_roles()
    }
    return {"status": "failing" if faults else "ok", "database": True, "roles": roles}


def _compute_age(row: RoleHeartbeat | None, now: Any) -> int | None:
    return max(0, round((now - row.seen).total_seconds())) if row and row.seen else None

"""Health report for an outside monitor: whether the database answers, and the age of each role's last sign of life.

It contains only names, roles and ages, because the caller is not signed in.
"""

from typing import Any

from django.db import Error as DatabaseError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.operations import heartbeats
from apps.operations.models import RoleHeartbeat


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

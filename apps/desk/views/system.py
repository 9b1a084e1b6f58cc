"""Pages of the portal's own state: programs, jobs and sizes of tables; its health, which refreshes itself."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from apps.accounts.permissions import staff_page
from apps.desk.portal_health.presentation import build_portal_view
from apps.desk.portal_health.size_chart import draw_sizes
from apps.desk.selectors.system import build_system_status as everything


@staff_page
def system(request: HttpRequest) -> HttpResponse:
    """Show each role's last heartbeat, each job's last run, each table's size and bound."""
    return render(request, "desk/system.html", {"system": everything(timezone.now())})


@staff_page
def portal_health(request: HttpRequest) -> HttpResponse:
    """Show what the last reading of database, queues and backups says, and the size of the database over time."""
    now = timezone.now()
    context = {"health": build_portal_view(now), "at": now}
    if request.headers.get("HX-Target") == "now":
        return render(request, "desk/portal_health.html#now", context | {"oob": True})
    return render(request, "desk/portal_health.html", context | {"sizes": draw_sizes(now)})

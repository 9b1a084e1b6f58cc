"""The page of the portal's own state: programs, jobs, and sizes of tables."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from apps.accounts.permissions import staff_page
from apps.desk.selectors.system import build_system_status as everything


@staff_page
def system(request: HttpRequest) -> HttpResponse:
    """Show each role's last heartbeat, each job's last run, each table's size and bound."""
    return render(request, "desk/system.html", {"system": everything(timezone.now())})

"""Connection check for staff, “Is it this connection or the network?”, linked from the member's page and from tickets."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from apps.accounts.permissions import staff_page
from apps.desk.connection_check.report import build_report
from apps.members.models import Member


@staff_page
def check(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the verdict and every finding; as a panel, the verdict only."""
    member = get_object_or_404(Member.objects.select_related("tariff", "room__site"), pk=pk)
    part = "#panel" if request.headers.get("HX-Target") == "check" else ""
    return render(request, f"desk/check.html{part}", {"member": member, "report": build_report(member, timezone.now(), own=False)})

"""A ticket's page says every few seconds that it is open, and is told who else is there."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_person, staff_page
from apps.tickets import presence
from apps.tickets.models import Ticket


@staff_page
@require_POST
def report_presence(request: HttpRequest, pk: int) -> HttpResponse:
    """A sign of life; the answer is what stands in the page about others."""
    ticket = get_object_or_404(Ticket.objects.select_related("assignee"), pk=pk)
    presence.record_presence(ticket=ticket, writing=request.POST.get("writing") == "1", by=get_person(request))
    around = presence.build_presence_report(ticket, presence.parse_page_state(request.POST), get_person(request))
    return render(request, "tickets/_around.html", {"ticket": ticket, "around": around})

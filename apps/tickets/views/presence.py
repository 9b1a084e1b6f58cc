"""View that a ticket's page calls every few seconds to report that it is open, and to learn of other users there."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.tickets import presence
from apps.tickets.models import Ticket


@staff_page
@require_POST
def report_presence(request: HttpRequest, pk: int) -> HttpResponse:
    """Record the user's presence and return the page's fragment about other users and changes."""
    ticket = get_object_or_404(Ticket.objects.select_related("assignee"), pk=pk)
    presence.record_presence(ticket=ticket, writing=request.POST.get("writing") == "1", by=get_signed_in_user(request))
    around = presence.build_presence_report(ticket, presence.parse_page_state(request.POST), get_signed_in_user(request))
    return render(request, "tickets/_around.html", {"ticket": ticket, "around": around})

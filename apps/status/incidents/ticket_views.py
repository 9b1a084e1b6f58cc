"""Staff pages of an incident's tickets: attach, detach, and one answer to all."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.lib.web.query_params import parse_ids, parse_number
from apps.status.incidents import attached_tickets
from apps.status.incidents.forms import AnswerTicketsForm
from apps.status.incidents.models import Incident
from apps.tickets.bulk import compute_answer_reach
from apps.tickets.models import Ticket


@staff_page
@require_POST
def attach(request: HttpRequest, pk: int) -> HttpResponse:
    """Attach one ticket (`ticket`: its number), or all that are suggested."""
    row = get_object_or_404(Incident, pk=pk)
    if "ticket" in request.POST:
        tickets = list(Ticket.objects.filter(pk=parse_number(request.POST, "ticket"), merged_into=None))
        if not tickets:
            messages.error(request, _("There is no such ticket, or it was merged into another."))
            return redirect("status:incident", pk)
    else:
        tickets = list(attached_tickets.list_suggested_tickets(row)[: attached_tickets.MOST_AT_ONCE])
    try:
        made = attached_tickets.attach_tickets(incident=row, tickets=tickets, by=get_signed_in_user(request))
        words = ngettext("%(n)s ticket is attached.", "%(n)s tickets are attached.", made)
        messages.success(request, words % {"n": formats.format_number(made)})
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("status:incident", pk)


@staff_page
@require_POST
def detach(request: HttpRequest, pk: int, ticket: int) -> HttpResponse:
    """Say that a ticket is not about this incident."""
    row, found = get_object_or_404(Incident, pk=pk), get_object_or_404(Ticket, pk=ticket)
    attached_tickets.detach_ticket(incident=row, ticket=found, by=get_signed_in_user(request))
    return redirect("status:incident", pk)


@staff_page
def answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Answer all attached tickets that are not solved, and mark them as solved; more than the page named only after it has named them."""
    row = get_object_or_404(Incident, pk=pk)
    tickets = list(attached_tickets.list_answerable_tickets(row))
    form = AnswerTicketsForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            named = parse_ids(request.POST.getlist("ticket"))
            made = attached_tickets.answer_attached(incident=row, named=named, by=get_signed_in_user(request), **form.cleaned_data)
            return redirect("tickets:sent", made.pk)
        except Problem as problem:
            form.add_problem(problem)
    shown = {"row": row, "form": form, "tickets": tickets, "reach": compute_answer_reach(tickets)}
    return render(request, "status/answer.html", shown, status=422 if form.is_bound else 200)

"""Views of the list of tickets, of a new ticket, and of notices about new tickets."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Problem
from apps.lib.web.query_params import parse_number, parse_text_param
from apps.mail.services import switch_notice_off, switch_notice_on
from apps.mail.unsubscribing import is_notice_off
from apps.members.models import Member
from apps.tickets import listing, selectors, services, ticket_selection
from apps.tickets.forms import WriteToForm
from apps.tickets.notifications import KIND
from apps.tickets.selectors import STATES, WHOSE, TicketFilter


@staff_page
def tickets(request: HttpRequest) -> HttpResponse:
    """List the tickets of the filter; by default those that wait for staff."""
    asked, user = parse_filter(request.GET), get_signed_in_user(request)
    found = selectors.get_page(asked, user, request.GET.get("after", ""))
    counts = selectors.count_by_turn()
    tabs = [(name, label, counts.get(name)) for name, label in STATES.items()]
    shown = {
        "asked": asked,
        "found": found,
        "tabs": tabs,
        "whose": WHOSE.items(),
        "counts": counts,
        "times": selectors.compute_first_answers(),
    }
    shown["rows"] = listing.iter_rows(found.tickets)
    number, further = len(found.tickets), "after" in request.GET
    shown["reach"] = ticket_selection.count_selectable_tickets(asked, user, number) if found.next or further else number
    told = bool(user.email) and not is_notice_off(user.email, KIND)
    return render(request, "tickets/tickets.html", shown | {"told": told, "further": further})


def parse_filter(given: QueryDict) -> TicketFilter:
    """Return the filter that the query parameters of the list choose."""
    search = parse_text_param(given, "q")
    state = given.get("state", "all" if search else "ours")
    whose = given.get("whose", "")
    return TicketFilter(
        state if state in STATES else "ours", whose if whose in WHOSE else "", parse_text_param(given, "tag", 30).lower(), search
    )


@staff_page
def new_ticket(request: HttpRequest) -> HttpResponse:
    """Open a ticket with a message to a member."""
    asked = Member.objects.filter(pk=parse_number(request.GET, "member")).first()
    initial = {"member": f"M-{asked.number}"} if asked else {}
    posted = request.method == "POST"
    form = WriteToForm(request.POST if posted else None, request.FILES if posted else None, initial=initial)
    if form.is_valid():
        try:
            made = services.write_to(by=get_signed_in_user(request), **form.to_kwargs())
            return redirect("tickets:ticket", made.pk)
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "tickets/new.html", {"form": form, "member": asked}, status=422 if posted else 200)


@staff_page
@require_POST
def notices(request: HttpRequest) -> HttpResponse:
    """Switch the user's mails about new tickets on or off."""
    user = get_signed_in_user(request)
    if not user.email:
        messages.error(request, _("Your account has no e-mail address."))
    else:
        (switch_notice_on if request.POST.get("on") == "1" else switch_notice_off)(address=user.email, notice=KIND)
    return redirect("tickets:list")

"""Views for merging tickets, undoing a merge, and splitting a ticket."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.lib.web.query_params import parse_ids, parse_text_param
from apps.tickets import merging, selectors, splitting
from apps.tickets.bulk import MAX_TICKETS
from apps.tickets.forms_many import SplitForm
from apps.tickets.models import Message, Move, Ticket

OFFERED = 20  # other tickets of the member


@staff_page
def merge(request: HttpRequest) -> HttpResponse:
    """Choose the tickets to merge, show the effects, then merge."""
    given = request.POST if request.method == "POST" else request.GET
    numbers = parse_ids([*given.getlist("ticket"), *_split_numbers(parse_text_param(given, "more"))])
    chosen = merging.list_by_numbers(numbers[:MAX_TICKETS])
    if not chosen:
        return redirect("tickets:list")
    into = _choose_target(chosen, given.get("into", ""))
    sources, problem, preview = [each for each in chosen if each.pk != into.pk], None, None
    try:
        if request.method == "POST":
            merging.merge_tickets(into=into, tickets=sources, by=get_signed_in_user(request))
            messages.success(request, _("Merged. The numbers of the other tickets now lead to this one."))
            return redirect("tickets:ticket", into.pk)
        preview = merging.preview_merge(into=into, tickets=sources) if sources else None
    except Problem as refused:
        problem = refused
    known = {each.pk for each in chosen}
    offered = [each for each in selectors.list_member_tickets(into.member, OFFERED) if each.pk not in known] if into.member else []
    shown = {
        "chosen": chosen,
        "into": into,
        "offered": offered,
        "preview": preview,
        "problem": problem,
        "more": parse_text_param(given, "more"),
    }
    return render(request, "tickets/merge.html", shown, status=422 if problem else 200)


def _split_numbers(text: str) -> list[str]:
    return text.replace("#", " ").replace(",", " ").split()


def _choose_target(chosen: list[Ticket], asked: str) -> Ticket:
    """Return the requested target; by default the oldest ticket with a member, or the oldest if none has one."""
    best = min(chosen, key=lambda each: (each.member_id is None, each.pk))
    return next((each for each in chosen if str(each.pk) == asked), best)


@staff_page
@require_POST
def unmerge(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo a merge."""
    move = get_object_or_404(Move, pk=pk, kind=Move.Kind.MERGE)
    try:
        merging.undo_merge(move=move, by=get_signed_in_user(request))
        messages.success(request, _("#%(ticket)d is a ticket of its own again.") % {"ticket": move.source_id})
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("tickets:ticket", move.target_id)


@staff_page
def split(request: HttpRequest, pk: int) -> HttpResponse:
    """Choose messages, then split them off into a ticket of their own."""
    found = get_object_or_404(Ticket.objects.select_related("member"), pk=pk)
    form = SplitForm(found, [(each.pk, _format_message(each)) for each in selectors.list_messages(found)], request.POST or None)
    if form.is_valid():
        try:
            made = splitting.split_ticket(ticket=found, by=get_signed_in_user(request), **form.to_kwargs())
            return redirect("tickets:ticket", made.pk)
        except Problem as problem:
            form.add_problem(problem)
    back = reverse("tickets:ticket", args=[pk])
    return render(request, "tickets/split.html", {"ticket": found, "form": form, "back": back}, status=422 if form.is_bound else 200)


def _format_message(message: Message) -> str:
    who = message.author.name if message.author else message.sender or _("unknown sender")
    who = who if message.verified else f"{who}, {_('unverified sender')}"
    if message.kind == Message.Kind.NOTE:
        who = f"{who}, {_('internal note')}"
    return f"{who}, {formats.format_full_time(message.at)}: {Truncator(' '.join(message.text.split())).chars(100)}"

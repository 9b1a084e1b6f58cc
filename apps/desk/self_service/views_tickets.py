"""Pages of a member's own tickets."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from apps.accounts.permissions import get_signed_in_user
from apps.desk.self_service.own_page import own_page
from apps.lib.errors import Problem
from apps.members.models import Member
from apps.tickets import own_tickets
from apps.tickets.attachment_quota import get_member_attachment_quota
from apps.tickets.attachments import build_download
from apps.tickets.forms import AskForm, WriteForm

PER_PAGE = 20


@own_page
def tickets(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the member's tickets, the last written to first."""
    page = Paginator(own_tickets.list_own_tickets(member), PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "desk/own/tickets.html", {"page": page})


@own_page
def open_ticket(request: HttpRequest, member: Member) -> HttpResponse:
    """Open a ticket."""
    posted = request.method == "POST"
    form = AskForm(request.POST if posted else None, request.FILES if posted else None)
    if form.is_valid():
        try:
            made = own_tickets.open_own_ticket(member=member, by=get_signed_in_user(request), **form.to_kwargs())
            return redirect("own:ticket", made.pk)
        except Problem as problem:
            form.add_problem(problem)
    form.show_free_quota(get_member_attachment_quota(member))
    return render(request, "desk/own/ticket_new.html", {"form": form, "member": member}, status=422 if posted else 200)


@own_page
def ticket(request: HttpRequest, member: Member, pk: int) -> HttpResponse:
    """Show the thread, or add a message.

    A message posted to a ticket that was merged meanwhile goes to the merged ticket.
    """
    posted, moved = request.method == "POST", own_tickets.find_merge_target(member, pk)
    if moved and not posted:
        return redirect("own:ticket", moved)
    found = get_object_or_404(own_tickets.list_own_tickets(member), pk=moved or pk)
    form = WriteForm(request.POST if posted else None, request.FILES if posted else None)
    if form.is_valid():
        try:
            own_tickets.reply_to_ticket(member=member, ticket=found, by=get_signed_in_user(request), **form.to_kwargs())
            return redirect("own:ticket", found.pk)
        except Problem as problem:
            form.add_problem(problem)
    form.show_free_quota(get_member_attachment_quota(member))
    shown = {"ticket": found, "thread": own_tickets.list_messages(found), "form": form}
    return render(request, "desk/own/ticket.html", shown, status=422 if posted else 200)


@own_page
def attachment(_request: HttpRequest, member: Member, pk: int) -> HttpResponse:
    """Download a file of the member's tickets."""
    return build_download(get_object_or_404(own_tickets.list_downloadable_attachments(member), pk=pk))

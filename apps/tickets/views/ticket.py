"""Views of one ticket: its thread, answers, notes, properties, links and attachments."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Conflict, Problem
from apps.lib.web.query_params import parse_number
from apps.members.selectors import list_by_email
from apps.tickets import canned, links, selectors, services
from apps.tickets.attachments import build_download
from apps.tickets.forms import FactsForm, LinkForm, MemberNumberForm, WriteForm
from apps.tickets.member_sidebar import build_sidebar
from apps.tickets.models import Attachment, Canned, Link, Ticket
from apps.tickets.notifications import get_answer_recipient
from apps.tickets.subjects import list_subjects


def _get_ticket(pk: int) -> Ticket:
    return get_object_or_404(Ticket.objects.select_related("member__tariff", "member__room__site", "assignee"), pk=pk)


@staff_page
def ticket(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the thread; on POST, write an answer or a note, or insert a canned answer into the form."""
    found = _get_ticket(pk)
    if found.merged_into_id and request.method != "POST":
        messages.info(request, _("#%(ticket)d “%(subject)s” was merged into this one.") % {"ticket": pk, "subject": found.subject})
        return redirect("tickets:ticket", found.merged_into_id)
    if request.method != "POST":
        return _render_page(request, found)
    if request.POST.get("do") == "canned":
        return _insert_canned(request, found)
    form = WriteForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            _write(request, found, form)
            return redirect("tickets:ticket", pk)
        except Problem as problem:
            form.add_problem(problem)
    return _render_page(request, found, form=form, status=422)


def _write(request: HttpRequest, found: Ticket, form: WriteForm) -> None:
    do, given = request.POST.get("do"), form.to_kwargs()
    if do == "note":
        services.add_note(ticket=found, by=get_signed_in_user(request), **given)
        messages.success(request, _("Noted. Only staff sees it."))
    else:
        services.answer_ticket(ticket=found, solved=do == "solve", by=get_signed_in_user(request), **given)
        address = get_answer_recipient(found)[0]
        words = _("Sent to %(address)s.") if address else _("Saved. No mail is sent.")
        messages.success(request, words % {"address": address})


def _insert_canned(request: HttpRequest, found: Ticket) -> HttpResponse:
    """Show the form with the canned answer appended. Files must be chosen again, because browsers do not keep them."""
    kept = Canned.objects.filter(pk=parse_number(request.POST, "canned")).first()
    written = request.POST.get("text", "").strip()
    added = canned.fill_canned_answer(kept, found, get_signed_in_user(request)) if kept else ""
    return _render_page(request, found, form=WriteForm(initial={"text": "\n\n".join(filter(None, (written, added)))}))


def _render_page(
    request: HttpRequest,
    found: Ticket,
    *,
    form: WriteForm | None = None,
    facts: FactsForm | None = None,
    about: LinkForm | None = None,
    whose: MemberNumberForm | None = None,
    status: int = 200,
) -> HttpResponse:
    hints = list_by_email(found.address) if found.member is None else []
    shown: dict[str, Any] = {
        "ticket": found,
        "thread": selectors.list_messages(found),
        "address": get_answer_recipient(found)[0],
        "aside": build_sidebar(found),
        "links": links.list_links(found),
        "subjects": list_subjects(found),
        "moves": selectors.list_merges_and_splits(found),
        "form": form or WriteForm(),
        "facts_form": facts or FactsForm(found),
        "link_form": about or LinkForm(found),
        "hints": hints,
        "member_form": whose or MemberNumberForm(initial={"member": f"M-{hints[0].number}"} if len(hints) == 1 else None),
        "canned": Canned.objects.order_by("name"),
    }
    return render(request, "tickets/ticket.html", shown, status=status)


@staff_page
@require_POST
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Change state, priority, assignee and tags."""
    found = _get_ticket(pk)
    form = FactsForm(found, request.POST)
    if form.is_valid():
        try:
            services.change_ticket(
                ticket=found, version=form.cleaned_data["version"], facts=form.to_kwargs(), by=get_signed_in_user(request)
            )
            return redirect("tickets:ticket", pk)
        except Problem as problem:
            form.add_problem(problem)
            if isinstance(problem, Conflict):
                form.data = {
                    **request.POST.dict(),
                    "version": str(_get_ticket(pk).version),
                }  # the next save replaces what was saved meanwhile
    return _render_page(request, found, facts=form, status=422)


@staff_page
@require_POST
def take(request: HttpRequest, pk: int) -> HttpResponse:
    """Assign the ticket to the user."""
    try:
        services.take_ticket(ticket=_get_ticket(pk), by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("tickets:ticket", pk)


@staff_page
@require_POST
def assign_member(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a ticket without a member to a member."""
    found = _get_ticket(pk)
    form = MemberNumberForm(request.POST)
    if form.is_valid():
        try:
            services.assign_member(ticket=found, member=form.cleaned_data["member"], by=get_signed_in_user(request))
            return redirect("tickets:ticket", pk)
        except Problem as problem:
            form.add_problem(problem)
    return _render_page(request, found, whose=form, status=422)


@staff_page
@require_POST
def link(request: HttpRequest, pk: int) -> HttpResponse:
    """Link the ticket to a row that it is about."""
    found = _get_ticket(pk)
    form = LinkForm(found, request.POST)
    if form.is_valid():
        try:
            _add_link(found, form.cleaned_data, request)
            return redirect("tickets:ticket", pk)
        except Problem as problem:
            form.add_problem(problem)
    return _render_page(request, found, about=form, status=422)


def _add_link(found: Ticket, given: dict[str, str], request: HttpRequest) -> None:
    if given["ban"]:
        links.link_ban(ticket=found, text=given["ban"], by=get_signed_in_user(request))
    else:
        kind, _colon, pk = given["what"].partition(":")
        links.add_link(ticket=found, kind=kind, object_id=int(pk), by=get_signed_in_user(request))


@staff_page
@require_POST
def unlink(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a link."""
    found = get_object_or_404(Link, pk=pk)
    links.remove_link(link=found, by=get_signed_in_user(request))
    return redirect("tickets:ticket", found.ticket_id)


@staff_page
def attachment(_request: HttpRequest, pk: int) -> HttpResponse:
    """Download a file."""
    return build_download(get_object_or_404(Attachment.objects.select_related("content"), pk=pk))


@staff_page
def remove_attachment(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what removing a file does, then remove it."""
    file = get_object_or_404(Attachment.objects.select_related("message"), pk=pk)
    if request.method != "POST":
        return render(request, "tickets/attachment_remove.html", {"file": file})
    services.remove_file(file=file, by=get_signed_in_user(request))
    messages.success(request, _("“%(name)s” is removed.") % {"name": file.name})
    return redirect("tickets:ticket", file.message.ticket_id)

"""Views for many tickets at once: answering and changing them, and the progress of an answer."""

from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.lib.web.preview_mark import PreviewMark
from apps.lib.web.query_params import parse_number
from apps.tickets import bulk, ticket_selection
from apps.tickets.forms_many import AnswerManyForm, ChangeManyForm
from apps.tickets.models import Bulk, Canned, Ticket
from apps.tickets.notifications import get_asker_contact
from apps.tickets.views.tickets import parse_filter


@staff_page
@require_POST
def bulk_action(request: HttpRequest) -> HttpResponse:
    """Carry out the action of the pressed button: show first what it would do, and do it once confirmed."""
    found = ticket_selection.list_selected_tickets(request.POST, parse_filter(request.GET), get_signed_in_user(request))
    do = request.POST.get("do", "")
    if not found or do not in ("answer", "canned", "change", "merge"):
        return redirect(_build_back_url(request))
    if do == "merge":
        query = QueryDict(mutable=True)
        query.setlist("ticket", [str(each.pk) for each in found])
        return redirect(f"{reverse('tickets:merge')}?{query.urlencode()}")
    return _change_selected(request, found) if do == "change" else _answer_selected(request, found)


def _answer_selected(request: HttpRequest, found: list[Ticket]) -> HttpResponse:
    first = "text_de" not in request.POST
    form = AnswerManyForm(initial={"key": uuid4()}) if first else AnswerManyForm(_insert_canned(request.POST))
    if not first and form.is_valid() and request.POST.get("do") == "answer":
        try:
            bulk.validate_texts(form.get_texts())
            if "confirmed" in request.POST:
                made = bulk.answer_tickets(tickets=found, by=get_signed_in_user(request), **form.to_kwargs())
                return redirect("tickets:sent", made.pk)
            samples = _build_samples(found, form.get_texts(), request)
            return _render_page(request, found, form, samples=samples)
        except Problem as problem:
            form.add_problem(problem)
    return _render_page(request, found, form, status=422 if form.is_bound and form.errors else 200)


def _insert_canned(post: QueryDict) -> QueryDict:
    """Return the form's data with the chosen canned answer appended to the text, in both languages."""
    kept = Canned.objects.filter(pk=parse_number(post, "canned")).first() if post.get("do") == "canned" else None
    given = post.copy()
    if kept:
        for name in ("text_de", "text_en"):
            given[name] = "\n\n".join(filter(None, (post.get(name, "").strip(), getattr(kept, name))))
    return given


def _build_samples(found: list[Ticket], texts: dict[str, str], request: HttpRequest) -> list[tuple[Ticket, str]]:
    """Return the answer as rendered for the first ticket of each language."""
    firsts = {get_asker_contact(each)[1]: each for each in reversed(found)}
    return [
        (each, bulk.render_answer(each, texts, get_signed_in_user(request))) for each in sorted(firsts.values(), key=lambda each: each.pk)
    ]


def _change_selected(request: HttpRequest, found: list[Ticket]) -> HttpResponse:
    form = ChangeManyForm(request.POST if "state" in request.POST else None)
    mark, difference = None, ""
    if form.is_valid():
        try:
            changes = form.to_changes()
            affected = bulk.list_affected(found, changes)
            mark = PreviewMark.build([each.pk for each in affected], form.cleaned_data.values())
            if "confirmed" in request.POST:
                difference = mark.describe_difference(PreviewMark.parse(request.POST))
                if not difference:
                    return _carry_out_change(request, affected, changes)
        except Problem as problem:
            form.add_problem(problem)
    status = 422 if form.errors or difference else 200
    return _render_page(request, found, form, mark=mark, difference=difference, status=status)


def _carry_out_change(request: HttpRequest, tickets: list[Ticket], changes: bulk.TicketChanges) -> HttpResponse:
    done = bulk.change_tickets(tickets=tickets, changes=changes, by=get_signed_in_user(request))
    words = ngettext("%(n)s ticket is changed.", "%(n)s tickets are changed.", done)
    messages.success(request, words % {"n": formats.format_number(done)})
    return redirect(_build_back_url(request))


def _render_page(
    request: HttpRequest,
    found: list[Ticket],
    form: AnswerManyForm | ChangeManyForm,
    *,
    samples: list[tuple[Ticket, str]] | None = None,
    mark: PreviewMark | None = None,
    difference: str = "",
    status: int = 200,
) -> HttpResponse:
    answering = isinstance(form, AnswerManyForm)
    shown = {
        "found": found, "form": form, "answering": answering, "samples": samples, "mark": mark, "difference": difference,
        "spared": len(found) - mark.number if mark else 0, "reached": bulk.compute_answer_reach(found),
        "polled": bool(request.headers.get("HX-Request")),
        "canned": Canned.objects.order_by("name") if answering else (), "back": _build_back_url(request),
    }  # fmt: skip
    return render(request, "tickets/many.html", shown, status=status)


def _build_back_url(request: HttpRequest) -> str:
    return f"{reverse('tickets:list')}?{request.GET.urlencode()}"


@staff_page
def bulk_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the progress of an answer to many tickets, and the tickets left out with the reason."""
    found = get_object_or_404(Bulk.objects.select_related("by"), pk=pk)
    total, left = found.items.count(), found.items.filter(done_at=None).count()
    out = found.items.exclude(why="").select_related("ticket").order_by("ticket")
    words = [_("German") if found.text_de else "", _("English") if found.text_en else ""]
    shown = {"bulk": found, "total": total, "left": left, "done": total - left, "out": out, "answered": total - left - len(out)}
    return render(request, "tickets/sent.html", shown | {"languages": ", ".join(filter(None, words))})

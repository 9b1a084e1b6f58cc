"""Staff pages of incidents: the list, one incident with what changed before it began, and what is told of it."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.audit.selectors import list_row_history
from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.lib.ui.states import StateLabel
from apps.status.incidents import selectors, services
from apps.status.incidents.forms import IncidentForm, ReportForm, UpdateForm
from apps.status.incidents.models import Incident
from apps.status.incidents.phase import build_phase_label
from apps.status.incidents.presentation import build_incident_view
from apps.status.incidents.report_draft import write_draft
from apps.status.incidents.scope_texts import describe_scope
from apps.status.incidents.timeline import build_timeline

PER_PAGE: Final = 30
WORK_LASTS: Final = timedelta(minutes=30)


@staff_page
def incidents(request: HttpRequest) -> HttpResponse:
    """List incidents: what goes on, what is planned, and what is over."""
    now = timezone.now()
    page = Paginator(selectors.list_ended_incidents(), PER_PAGE).get_page(request.GET.get("page"))
    shown = {"rows": _describe(selectors.list_unfinished_incidents(), now), "page": page, "ended": _describe(page, now)}
    return render(request, "status/incidents.html", shown)


def _describe(rows: Iterable[Incident], now: datetime) -> list[tuple[Incident, StateLabel, str]]:
    """Return each with its state, and what it affects."""
    return [(each, build_phase_label(each, now), describe_scope(each)) for each in rows]


@staff_page
def incident(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an incident: where it stands, the figures, the charts, the time line, and its tickets."""
    row = get_object_or_404(selectors.list_incidents(), pk=pk)
    return render(request, "status/incident.html", build_incident_view(row, request.GET, timezone.now()))


@staff_page
def add(request: HttpRequest, kind: str) -> HttpResponse:
    """Open an incident, or announce planned work, with what is told first."""
    if kind not in Incident.Kind:
        return redirect("status:incidents")
    data = request.POST if request.method == "POST" else None
    initial = _suggest_facts(request, kind)
    form, first = IncidentForm(kind, data, initial=initial), UpdateForm(kind, data)
    if data is not None and form.is_valid() and first.is_valid():
        try:
            made = services.open_incident(facts=form.to_facts(), first=first.to_facts(), by=get_signed_in_user(request))
            return redirect("status:incident", made.pk)
        except Problem as problem:
            (first if problem.fieldname in first.fields else form).add_problem(problem)
    return _render_form(request, {"form": form, "first": first, "planned": kind == Incident.Kind.MAINTENANCE}, form.is_bound)


def _suggest_facts(request: HttpRequest, kind: str) -> dict[str, Any]:
    """Return what the form begins with: the title that a link brings along, in the reader's language, and times for planned work."""
    title = " ".join(request.GET.get("title", "").replace("\0", "").split())[:120]
    given: dict[str, Any] = {f"title_{'de' if formats.is_german() else 'en'}": title} if title else {}
    if kind == Incident.Kind.MAINTENANCE:
        begins = timezone.now().replace(minute=0, second=0, microsecond=0) + timedelta(days=2)
        given |= {"began": begins, "planned_end": begins + WORK_LASTS}
    return given


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change what an incident is about."""
    row = get_object_or_404(Incident, pk=pk)
    form = IncidentForm(row.kind, request.POST if request.method == "POST" else None, row)
    if form.is_valid():
        try:
            version = form.cleaned_data["version"] or 0
            services.change_incident(incident=row, version=version, facts=form.to_facts(), by=get_signed_in_user(request))
            return redirect("status:incident", pk)
        except Problem as problem:
            form.add_problem(problem)
    shown = {"form": form, "row": row, "planned": row.is_maintenance, "history": list_row_history(row)}
    return _render_form(request, shown, form.is_bound)


@staff_page
def tell(request: HttpRequest, pk: int) -> HttpResponse:
    """Tell something new of an incident."""
    row = get_object_or_404(Incident, pk=pk)
    data = request.POST if request.method == "POST" else None
    form = UpdateForm(row.kind, data, ended=row.ended is not None, next_update=row.next_update)
    if form.is_valid():
        try:
            services.post_update(incident=row, facts=form.to_facts(), by=get_signed_in_user(request))
            messages.success(request, _("Published.") if form.cleaned_data["public"] and row.public else _("Noted."))
            return redirect("status:incident", pk)
        except Problem as problem:
            form.add_problem(problem)
    last = row.updates.filter(public=True).first()
    return render(request, "status/tell.html", {"row": row, "form": form, "last": last}, status=422 if form.is_bound else 200)


@staff_page
def report(request: HttpRequest, pk: int) -> HttpResponse:
    """Write down what was learned. It begins with the time line."""
    row = get_object_or_404(Incident, pk=pk)
    now = timezone.now()
    form = ReportForm(request.POST or None, initial={"version": row.version, "report": row.report or _write_draft(row)})
    if form.is_valid():
        try:
            version = form.cleaned_data["version"] or 0
            services.save_report(incident=row, version=version, text=form.cleaned_data["report"], by=get_signed_in_user(request))
            return redirect("status:incident", pk)
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "status/report.html", {"row": row, "form": form, "now": now}, status=422 if form.is_bound else 200)


def _write_draft(row: Incident) -> str:
    now = timezone.now()
    return write_draft(row, build_timeline(row, now, edits=True), row.attached.filter(detached=None).count(), now)


def _render_form(request: HttpRequest, shown: dict[str, Any], bound: bool) -> HttpResponse:
    return render(request, "status/incident_form.html", shown, status=422 if bound else 200)

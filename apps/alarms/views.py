"""Alarm pages, for staff: what is wrong now, who takes care of it, and when mails are silenced."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.alarms import selectors, services
from apps.alarms.duty.selectors import find_on_duty, is_rota_used
from apps.alarms.forms import SilenceForm
from apps.alarms.models import Alarm, Severity, Silence
from apps.alarms.notices import list_readers
from apps.alarms.silencing import read_silences
from apps.lib.errors import Problem

PER_PAGE = 50
MOST_DIGITS = 19  # of an id that the database can hold


@staff_page
def alarms(request: HttpRequest) -> HttpResponse:
    """List open alarms, silences, and alarms that are over."""
    now = timezone.now()
    quiet, rows = read_silences(now), selectors.list_open_alarms()
    shown = {
        "rows": [(row, quiet.find_for(row)) for row in rows],
        "silences": [(each, selectors.find_title(each.key)) for each in quiet.silences],
        "works": quiet.works,
        "silent": next((each for each in quiet.silences if not each.key), None),
        "page": Paginator(selectors.list_past_alarms(), PER_PAGE).get_page(request.GET.get("page")),
        "readers": list_readers(),
        "on_duty": find_on_duty(now),
        "has_rota": is_rota_used(),
        "critical": sum(row.severity == Severity.CRITICAL for row in rows if not row.gone),
        "lasting": any(not row.gone for row in rows),
    }
    return render(request, "alarms/list.html", shown)


@staff_page
@require_POST
def mark_as_seen(request: HttpRequest, pk: int) -> HttpResponse:
    """Note that the user takes care of an alarm."""
    row = get_object_or_404(Alarm, pk=pk)
    try:
        services.mark_seen(alarm=row, by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("alarms:list")


@staff_page
def silence(request: HttpRequest) -> HttpResponse:
    """GET asks for how long and why. POST silences one condition (`alarm`), or all."""
    row = _find_alarm(request.GET.get("alarm", ""))
    form = SilenceForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            services.silence_alarms(key=row.key if row else "", by=get_signed_in_user(request), **form.to_kwargs())
            return redirect("alarms:list")
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "alarms/silence.html", {"row": row, "form": form}, status=422 if form.is_bound else 200)


def _find_alarm(asked: str) -> Alarm | None:
    """Return the alarm with this id; None without one, which means all alarms. Raises Http404 for anything else, so that a wrong link does
    not silence everything.
    """
    if not asked:
        return None
    if not (asked.isdecimal() and len(asked) < MOST_DIGITS):
        raise Http404
    return get_object_or_404(Alarm, pk=int(asked))


@staff_page
@require_POST
def end_silence(request: HttpRequest, pk: int) -> HttpResponse:
    """End a silence now."""
    row = get_object_or_404(Silence, pk=pk)
    try:
        services.end_silence(silence=row, by=get_signed_in_user(request))
        messages.success(request, _("The silence is over. What is open is reported with the next look."))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("alarms:list")

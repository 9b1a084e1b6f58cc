"""Pages of the rota: who is on duty when, shifts, and the calendars that they come from; and the feed to subscribe to."""

from datetime import timedelta
from typing import Final

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.alarms.duty import calendar_services, rota_feed, selectors, services
from apps.alarms.duty.calendar_texts import explain_error, iter_unmatched
from apps.alarms.duty.forms import CalendarForm, ShiftForm
from apps.alarms.duty.models import DutyCalendar, DutyShift
from apps.alarms.notices import list_readers
from apps.audit.selectors import list_row_history
from apps.lib.errors import Problem
from apps.preferences.declarations import DUTY_MINUTES
from apps.preferences.selectors import read_setting

SHOWN: Final = timedelta(days=60)


@staff_page
def duty(request: HttpRequest) -> HttpResponse:
    """Show who is on duty, the coming shifts with their gaps, and the calendars."""
    now = timezone.now()
    rota, on_duty = selectors.read_rota(now, now + SHOWN), selectors.find_on_duty(now)
    gaps = [each for each in rota.gaps if each.begins < now + selectors.LOOKAHEAD]
    shown = {
        "rota": rota,
        "gaps": gaps,
        "kind": "warn" if gaps else "ok",
        "on_duty": on_duty,
        "is_reached": on_duty is None or on_duty.person in list_readers(),
        "minutes": read_setting(DUTY_MINUTES),
        "calendars": [(each, explain_error(each), list(iter_unmatched(each.unmatched))) for each in selectors.list_calendars(now)],
        "feed": rota_feed.build_feed_url(get_signed_in_user(request)),
    }
    return render(request, "alarms/duty/rota.html", shown)


@staff_page
def add_shift(request: HttpRequest) -> HttpResponse:
    """Enter a shift."""
    by = get_signed_in_user(request)
    form = ShiftForm(request.POST if request.method == "POST" else None, by)
    if form.is_valid():
        try:
            services.add_shift(by=by, **form.cleaned_data)
            return redirect("alarms:duty")
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "alarms/duty/shift.html", {"form": form}, status=422 if form.is_bound else 200)


@staff_page
@require_POST
def take_shift(request: HttpRequest, pk: int) -> HttpResponse:
    """Take over a shift."""
    try:
        services.take_over(shift=get_object_or_404(DutyShift, pk=pk), by=get_signed_in_user(request))
        messages.success(request, _("The shift is yours. Remove it to give it back."))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("alarms:duty")


@staff_page
def remove_shift(request: HttpRequest, pk: int) -> HttpResponse:
    """GET says what would be removed. POST removes a shift that a person entered."""
    row = get_object_or_404(DutyShift.objects.select_related("person"), pk=pk)
    if request.method != "POST":
        return render(request, "alarms/duty/shift_remove.html", {"row": row, "history": list_row_history(row)})
    try:
        services.remove_shift(shift=row, by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("alarms:duty")


@staff_page
def add_calendar(request: HttpRequest) -> HttpResponse:
    """Add a calendar that shifts come from."""
    form = CalendarForm(request.POST, request.FILES) if request.method == "POST" else CalendarForm()
    if form.is_valid():
        try:
            calendar_services.add_calendar(facts=form.to_facts(), by=get_signed_in_user(request))
            messages.success(request, _("Added. Its shifts are here within a minute or so."))
            return redirect("alarms:duty")
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "alarms/duty/calendar.html", {"form": form}, status=422 if form.is_bound else 200)


@staff_page
def edit_calendar(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a calendar, upload it again, or switch it off."""
    row = get_object_or_404(DutyCalendar, pk=pk)
    form = CalendarForm(request.POST, request.FILES, row) if request.method == "POST" else CalendarForm(row=row)
    if form.is_valid():
        try:
            version = form.cleaned_data["version"] or 0
            calendar_services.change_calendar(calendar=row, version=version, facts=form.to_facts(), by=get_signed_in_user(request))
            return redirect("alarms:duty")
        except Problem as problem:
            form.add_problem(problem)
    shown = {"form": form, "row": row, "history": list_row_history(row)}
    return render(request, "alarms/duty/calendar.html", shown, status=422 if form.is_bound else 200)


@staff_page
def remove_calendar(request: HttpRequest, pk: int) -> HttpResponse:
    """GET says what would be removed. POST removes the calendar with its shifts."""
    row = get_object_or_404(DutyCalendar, pk=pk)
    if request.method != "POST":
        coming = row.shifts.filter(ends__gt=timezone.now()).count()
        return render(request, "alarms/duty/calendar_remove.html", {"row": row, "coming": coming})
    calendar_services.remove_calendar(calendar=row, by=get_signed_in_user(request))
    return redirect("alarms:duty")


@staff_page
@require_POST
def read_calendar(request: HttpRequest, pk: int) -> HttpResponse:
    """Have a calendar read now."""
    try:
        calendar_services.request_reading(calendar=get_object_or_404(DutyCalendar, pk=pk), by=get_signed_in_user(request))
        messages.success(request, _("The calendar is being read."))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("alarms:duty")


@staff_page
@require_POST
def renew_feed(request: HttpRequest) -> HttpResponse:
    """Make a link to subscribe to, or replace it."""
    rota_feed.renew_feed(user=get_signed_in_user(request))
    messages.success(request, _("Here is your new link. An older one leads nowhere any more."))
    return redirect("alarms:duty")


def feed(_request: HttpRequest, token: str) -> HttpResponse:
    """Return the rota as a calendar, to whoever has a link that holds."""
    subscriber = rota_feed.find_subscriber(token)
    if subscriber is None:
        raise Http404
    with override(subscriber.mail_language):
        content = rota_feed.write_rota_feed(timezone.now())
    return HttpResponse(content, content_type="text/calendar; charset=utf-8", headers={"Cache-Control": "private, no-store"})

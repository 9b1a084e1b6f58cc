"""Pages for departures and moves, and the export of all data about a member."""

from collections.abc import Callable
from datetime import date
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.desk.lifecycle import export, schedule
from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.ui.row_choice_field import CachedModelChoiceField
from apps.lib.web.preview_mark import PreviewMark
from apps.members import departures, services
from apps.members.forms import DateInput, RoomField
from apps.members.models import Departure, Member
from apps.nat.moving import services as moving
from apps.nat.moving.models import Move
from apps.network.models import Pool


class LeaveForm(forms.Form):
    """The day on which a member leaves."""

    on = forms.DateField(
        label=gettext_lazy("Effective from"),
        widget=DateInput,
        required=False,
        help_text=gettext_lazy("The beginning of that day. Empty: now, within a second"),
    )


@staff_page
def leave(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what ends when the member leaves, and when; on POST, end the membership or plan the departure."""
    member = get_object_or_404(Member.objects.select_related("room__site"), pk=pk)
    form = LeaveForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            messages.success(request, _leave(member, form, request))
            return redirect("desk:member", pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    context = {
        "member": member,
        "form": form,
        "planned_move": moving.find_planned_move(member),
        "follows": schedule.list_leaving_effects(member, timezone.now()),
    }
    return render(request, "desk/member/leave.html", context, status=422 if form.errors else 200)


def _leave(member: Member, form: LeaveForm, request: HttpRequest) -> str:
    facts: dict[str, Any] = {"member": member}
    if day := form.cleaned_data["on"]:
        departures.plan_departure(member=member, on=day, by=get_signed_in_user(request))
        return _("%(member)s leaves on %(day)s. Until then you can cancel the departure.") % (facts | {"day": formats.format_day(day)})
    services.end_membership(member=member, by=get_signed_in_user(request))
    member.refresh_from_db()
    follows = [f"{formats.format_day(each.at)}: {each.what}" for each in schedule.list_scheduled(member)]
    return " ".join([_("%(member)s has left.") % facts, *follows])


@staff_page
@require_POST
def cancel_departure(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a planned departure."""
    departure = get_object_or_404(Departure.objects.select_related("member"), pk=pk)
    return _drop_plan(request, departure, departures.cancel_departure, _("The departure of %(member)s was cancelled."))


def _drop_plan[Plan: (Departure, Move)](request: HttpRequest, plan: Plan, drop: Callable[[Plan], None], said: str) -> HttpResponse:
    try:
        drop(plan)
        messages.success(request, said % {"member": plan.member})
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("desk:member", plan.member_id)


class MoveForm(forms.Form):
    """The day of a move, the new room, and what happens to addresses, forwards and pinholes."""

    on = forms.DateField(
        label=gettext_lazy("Effective from"),
        widget=DateInput,
        required=False,
        help_text=gettext_lazy("The beginning of that day. Empty: now, within a second"),
    )
    room = RoomField(
        label=gettext_lazy("Room"),
        max_length=40,
        required=False,
        help_text=gettext_lazy("House and door, like B-214. Empty: same room"),
    )
    pool = CachedModelChoiceField(
        Pool.objects.filter(retired=None).exclude(kind=Pool.Kind.PUBLIC4).order_by("prefix"),
        label=gettext_lazy("New address from"),
        required=False,
        empty_label=gettext_lazy("addresses stay"),
    )
    follow = forms.BooleanField(label=gettext_lazy("Port forwards and pinholes follow to the new address"), required=False, initial=True)

    def clean_on(self) -> date | None:
        """Return the day, None if empty: what is to happen now must not depend on the day on which it was sent. A past day is an error."""
        on: date | None = self.cleaned_data["on"]
        if on and on < timezone.localdate():
            raise forms.ValidationError(_("This day is in the past."))
        return on


@staff_page
def move(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what a move does; once exactly this is confirmed, plan it, or do it if its day is today."""
    member = get_object_or_404(Member.objects.select_related("room__site"), pk=pk)
    form = MoveForm(request.POST if request.method == "POST" else None)
    context: dict[str, Any] = {"member": member, "form": form}
    if form.is_valid():
        try:
            context |= _preview_move(member, form, request)
            if "confirmed" in request.POST and not context["difference"]:
                moved = moving.plan_or_carry_out_move(member=member, by=get_signed_in_user(request), **form.cleaned_data)
                messages.success(request, _describe_move(moved))
                return redirect("desk:member", pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    context["valid"] = form.is_valid()
    return render(request, "desk/member/move.html", context, status=422 if form.errors or context.get("difference") else 200)


def _preview_move(member: Member, form: MoveForm, request: HttpRequest) -> dict[str, Any]:
    """Return for the page what the move does, and what is not as in the confirmed preview."""
    given = form.cleaned_data
    effects = moving.list_move_effects(member, given["pool"], follow=given["follow"])
    preview = [line for effect in effects for line in schedule.describe_effect(effect, str(given["pool"]))]
    mark = PreviewMark.build(preview, given.values())
    difference = mark.describe_difference(PreviewMark.parse(request.POST)) if "confirmed" in request.POST else ""
    return {"preview": preview, "mark": mark, "difference": difference, "at_once": given["on"] in (None, timezone.localdate())}


def _describe_move(move: Move) -> str:
    facts = {"member": move.member, "day": formats.format_day(move.on)}
    if move.state == Move.State.DONE:
        return _("%(member)s has moved.") % facts
    return _("%(member)s moves on %(day)s. Until then you can cancel the move.") % facts


@staff_page
@require_POST
def cancel_move(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a planned move."""
    planned = get_object_or_404(Move.objects.select_related("member"), pk=pk)
    return _drop_plan(request, planned, moving.cancel_move, _("The move of %(member)s was cancelled."))


@staff_page
def download_everything(_request: HttpRequest, pk: int) -> HttpResponse:
    """Download all data that are kept about a member, including staff's notes."""
    return export.build_zip(get_object_or_404(Member.objects.select_related("tariff", "room__site", "user"), pk=pk))

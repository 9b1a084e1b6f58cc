"""Pages for adding, changing and activating a member."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.desk.edit_conflicts import merge_edit
from apps.lib.errors import Conflict, Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.members import services
from apps.members.forms import MemberForm, NewMemberForm, build_initial
from apps.members.models import Member, Room, Tariff
from apps.members.selectors import MOST_ROOMS


def _list_rooms() -> QuerySet[Room]:
    """Return the suggestions of the room field."""
    return Room.objects.select_related("site")[:MOST_ROOMS]


def _get_member(pk: int) -> Member:
    return get_object_or_404(Member.objects.select_related("tariff", "room__site"), pk=pk)


@staff_page
def add(request: HttpRequest) -> HttpResponse:
    """Add a member."""
    form = NewMemberForm(request.POST or None, today=timezone.localdate())
    if request.method == "POST" and form.is_valid():
        wanted = {name: form.cleaned_data[name] for name in ("number", "active")}
        try:
            return redirect("desk:member", services.add_member(facts=form.build_facts(), by=get_signed_in_user(request), **wanted).pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    context = {"form": form, "tariffs": Tariff.objects.filter(offered=True).exists(), "rooms": _list_rooms()}
    return render(request, "desk/member/add.html", context, status=422 if form.errors else 200)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a member's facts. On a conflict, show both values, so that neither is lost."""
    member, merged = _get_member(pk), None
    form = MemberForm(request.POST or None, initial=build_initial(member))
    if request.method == "POST" and form.is_valid():
        try:
            services.change_member(
                member=member, version=form.cleaned_data["version"] or 0, facts=form.build_facts(), by=get_signed_in_user(request)
            )
            return redirect("desk:member", pk)
        except Conflict:
            merged = merge_edit(form, _get_member(pk))
        except Problem as problem:
            add_problem_to_form(form, problem)
    context = {"form": merged.form if merged else form, "member": member, "merged": merged, "rooms": _list_rooms()}
    return render(request, "desk/member/edit.html", context, status=409 if merged else 422 if form.errors else 200)


@staff_page
@require_POST
def activate(request: HttpRequest, pk: int) -> HttpResponse:
    """Activate the membership, so that the member can use the network."""
    member = _get_member(pk)
    try:
        services.activate_member(member=member, by=get_signed_in_user(request))
        messages.success(request, _("%(member)s is active. What the member holds is on its way to the gateways.") % {"member": member})
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("desk:member", pk)

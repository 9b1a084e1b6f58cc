"""The page of a member's own IPv6 pinholes."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user
from apps.desk.self_service.own_page import own_page
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Problem
from apps.lib.ui.activation_status import build_poll_trigger, list_activation_statuses
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.web.query_params import parse_number
from apps.members.models import Member
from apps.nat.models import Pinhole
from apps.nat.pinholes import own_pinholes, services
from apps.nat.pinholes.forms import OwnPinholeForm
from apps.nat.pinholes.selectors import list_member_pinholes
from apps.nat.switched_off import list_switched_off_by_others


@own_page
def pinholes(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the pinholes and the form for another one, or open it."""
    form = OwnPinholeForm(member, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = own_pinholes.open_own_pinhole(
                member=member, holding=form.find_holding(), until=form.get_end(), by=get_signed_in_user(request), **form.to_kwargs()
            )
            return _redirect_to_page(saved=made.pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return _render_page(request, member, form)


def _render_page(request: HttpRequest, member: Member, form: OwnPinholeForm, problem: str = "") -> HttpResponse:
    closed = parse_number(request.GET, "closed")
    rows = list_activation_statuses(list_member_pinholes(member))
    gone = list_activation_statuses(Pinhole.objects.filter(pk=closed, holding__member=member).exclude(is_valid_now())) if closed else []
    part = "#pinholes" if request.headers.get("HX-Target") == "pinholes" else ""
    context = {
        "member": member,
        "rows": rows,
        "saved": parse_number(request.GET, "saved"),
        "closed": gone[0] if gone else None,
        "undo": bool(gone) and own_pinholes.may_undo_closing(gone[0].thing, get_signed_in_user(request)),
        "most": member.tariff.most_forwards,
        "form": form,
        "problem": problem,
        "poll": build_poll_trigger([*rows, *gone]),
        "off_by_others": list_switched_off_by_others([row.thing for row in rows], get_signed_in_user(request)),
    }
    return render(request, f"desk/own/pinholes.html{part}", context, status=422 if form.errors or problem else 200)


def _redirect_to_page(**said: int) -> HttpResponse:
    response = redirect("own:pinholes")
    response["Location"] += "".join(f"?{name}={pk}" for name, pk in said.items())
    return response


@require_POST
@own_page
def switch(request: HttpRequest, member: Member, pk: int) -> HttpResponse:
    """Switch the pinhole on or off; it stays the member's."""
    pinhole = get_object_or_404(list_member_pinholes(member), pk=pk)
    on = request.POST.get("enabled") == "1"
    try:
        own_pinholes.switch_pinhole(
            pinhole=pinhole, version=parse_number(request.POST, "version"), enabled=on, by=get_signed_in_user(request)
        )
    except Problem as problem:
        return _render_page(request, member, OwnPinholeForm(member), str(problem))
    return _redirect_to_page(saved=pk)


@own_page
def close(request: HttpRequest, member: Member, pk: int) -> HttpResponse:
    """Show what closing the pinhole does; on POST, close it."""
    pinhole = get_object_or_404(list_member_pinholes(member), pk=pk)
    if request.method != "POST":
        undo = own_pinholes.may_undo_closing(pinhole, get_signed_in_user(request))
        return render(request, "desk/own/close_pinhole.html", {"pinhole": pinhole, "undo": undo})
    services.remove_pinhole(pinhole=pinhole, by=get_signed_in_user(request))
    return _redirect_to_page(closed=pk)


@require_POST
@own_page
def reopen(request: HttpRequest, member: Member, pk: int) -> HttpResponse:
    """Reopen a pinhole that was just closed."""
    pinhole = get_object_or_404(Pinhole.objects.select_related("holding"), pk=pk, holding__member=member)
    try:
        again = own_pinholes.reopen_own_pinhole(member=member, pinhole=pinhole, by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
        return _redirect_to_page()
    said = _("%(pinhole)s is open again.") if again.enabled else _("%(pinhole)s is back, and still switched off.")
    messages.success(request, said % {"pinhole": again})
    return _redirect_to_page(saved=again.pk)

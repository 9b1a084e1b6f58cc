"""The panel of a member's IPv6 pinholes. Each response is the panel again, or without HTMX the member's page."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib import dependents
from apps.lib.errors import Conflict, Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.web.query_params import parse_number
from apps.members.models import Member
from apps.nat.pinholes import pinholes_panel as shown
from apps.nat.pinholes import services
from apps.nat.pinholes.forms import PinholeForm, RenumberForm
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.selectors import list_pinholes
from apps.network.models import Holding, Pool


def _render_answer(request: HttpRequest, member: Member, **said: Any) -> HttpResponse:
    """Respond to HTMX with the panel; to a browser without it with a redirect to the member's page, and what was saved in its URL."""
    wrong = said.get("form") or said.get("problem")
    if request.headers.get("HX-Request") or wrong:
        template = "nat/pinholes.html#panel" if request.headers.get("HX-Request") else "nat/pinholes.html"
        return render(request, template, shown.build_pinholes_context(member, **said), status=422 if wrong else 200)
    words = "&".join(f"pinhole_{name}={pk}" for name, pk in said.items() if pk)
    return redirect(f"{_get_member_url(member)}?{words}#pinholes")


def _get_member_url(member: Member) -> str:
    return reverse("desk:member", args=[member.pk])


@staff_page
def pinholes_panel(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the panel; it polls this URL while a gateway does not have the change."""
    saved, removed = parse_number(request.GET, "pinhole_saved"), parse_number(request.GET, "pinhole_removed")
    return _render_answer(request, get_object_or_404(Member, pk=pk), saved=saved, removed=removed)


@staff_page
@require_POST
def add(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a pinhole."""
    member = get_object_or_404(Member, pk=pk)
    form = PinholeForm(member, data=request.POST)
    if form.is_valid():
        try:
            made = services.add_pinhole(
                holding=form.find_holding(), until=form.get_end(), by=get_signed_in_user(request), **form.to_kwargs()
            )
            return _render_answer(request, member, saved=made.pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return _render_answer(request, member, form=form)


def _get_pinhole(pk: int) -> Pinhole:
    return get_object_or_404(Pinhole.objects.select_related("holding__member"), pk=pk)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a pinhole. After a conflict, show what the other user made of it."""
    pinhole = _get_pinhole(pk)
    member = pinhole.holding.member
    form = PinholeForm(member, request.POST if request.method == "POST" else None, pinhole)
    shown_now: dict[str, Any] = {"over": not list_pinholes().filter(pk=pk).exists()}
    if form.is_valid():
        version = form.cleaned_data["version"] or 0
        try:
            changed = form.to_kwargs() | {"until": form.get_changed_end(), "enabled": pinhole.enabled}
            services.change_pinhole(pinhole=pinhole, version=version, by=get_signed_in_user(request), **changed)
            return redirect(f"{_get_member_url(member)}?pinhole_saved={pinhole.pk}#pinholes")
        except Problem as problem:
            add_problem_to_form(form, problem)
            if isinstance(problem, Conflict):
                shown_now["now"] = pinhole
    status = 422 if form.is_bound else 200
    return render(request, "nat/pinhole_edit.html", {"pinhole": pinhole, "member": member, "form": form} | shown_now, status=status)


@staff_page
@require_POST
def switch(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch a pinhole on or off."""
    pinhole = _get_pinhole(pk)
    on = request.POST.get("enabled") == "1"
    try:
        services.switch_pinhole(pinhole=pinhole, version=parse_number(request.POST, "version"), enabled=on, by=get_signed_in_user(request))
    except Problem as problem:
        return _render_answer(request, pinhole.holding.member, problem=str(problem))
    return _render_answer(request, pinhole.holding.member, saved=pinhole.pk)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what removing does, then do it on POST."""
    pinhole = _get_pinhole(pk)
    if request.method != "POST":
        return render(request, "nat/pinhole_remove.html", {"pinhole": pinhole, "member": pinhole.holding.member})
    services.remove_pinhole(pinhole=pinhole, by=get_signed_in_user(request))
    return _render_answer(request, pinhole.holding.member, removed=pinhole.pk)


@staff_page
@require_POST
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo a removal."""
    pinhole = _get_pinhole(pk)
    try:
        again = services.restore_pinhole(pinhole=pinhole, by=get_signed_in_user(request))
    except Problem as problem:
        return _render_answer(request, pinhole.holding.member, problem=str(problem))
    return _render_answer(request, pinhole.holding.member, saved=again.pk)


@staff_page
def renumber_prefix(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what a new prefix means, then assign one on POST."""
    old = get_object_or_404(Holding.objects.select_related("member", "pool", "device", "group"), pk=pk, kind=Pool.Kind.PREFIX6)
    form, problem = RenumberForm(request.POST if request.method == "POST" else None), ""
    if form.is_valid():
        try:
            new = services.replace_member_prefix(holding=old, follow=form.cleaned_data["follow"], by=get_signed_in_user(request))
            messages.success(
                request, _("%(member)s holds %(new)s now, instead of %(old)s.") % {"member": old.member, "new": new, "old": old}
            )
            return redirect(f"{_get_member_url(old.member)}?added={new.pk}#addresses")
        except Problem as found:
            problem = str(found)
    given = {"holding": old, "member": old.member, "form": form, "problem": problem, "ends": dependents.count_dependents(Holding, [old.pk])}
    return render(request, "nat/renumber.html", given, status=422 if problem else 200)

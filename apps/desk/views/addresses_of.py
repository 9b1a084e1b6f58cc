"""The panel of a member's addresses: responses are the panel, or the member's page for requests without HTMX."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.models import User
from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.desk import member_panels
from apps.desk.forms import AssignAddressWithNatForm
from apps.lib import dependents
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.web.query_params import parse_number
from apps.members.models import Member
from apps.nat.services import map_address
from apps.network import services
from apps.network.models import Holding, Pool


def _respond(request: HttpRequest, member: Member, **shown: Any) -> HttpResponse:
    form, part = shown.get("form"), "#panel" if request.headers.get("HX-Request") else ""
    if form or part:
        return render(
            request,
            f"desk/member/_addresses.html{part}",
            member_panels.build_addresses_context(member, **shown),
            status=422 if form else 200,
        )
    return redirect(f"{reverse('desk:member', args=[member.pk])}?added={shown.get('added') or ''}#addresses")


def _mark_changed(response: HttpResponse) -> HttpResponse:
    """Make the page reload what depends on addresses: status line, forwards, pinholes, check, history."""
    response["HX-Trigger"] = "netzwart:member-changed"
    return response


@staff_page
def addresses_panel(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the current panel; the page polls it while a gateway has not confirmed."""
    return _respond(request, get_object_or_404(Member, pk=pk), added=parse_number(request.GET, "added"))


@staff_page
@require_POST
def add(request: HttpRequest, pk: int) -> HttpResponse:
    """Give the member an address."""
    member = get_object_or_404(Member, pk=pk)
    form = AssignAddressWithNatForm(member, data=request.POST)
    if form.is_valid():
        try:
            return _mark_changed(_respond(request, member, added=_give(member, form.cleaned_data, get_signed_in_user(request)).pk))
        except Problem as problem:
            if problem.fieldname == "public":
                problem.fieldname = "leaves"
            add_problem_to_form(form, problem)
    return _respond(request, member, form=form)


@transaction.atomic
def _give(member: Member, wanted: dict[str, Any], by: User) -> Holding:
    """Assign the address and its NAT mapping: both or neither."""
    holding = services.assign_address(member=member, pool=wanted["pool"], prefix=wanted["prefix"], device=wanted["device"], by=by)
    if holding.kind == Pool.Kind.PRIVATE4 and wanted["leaves"]:
        map_address(holding=holding, by=by, **AssignAddressWithNatForm.parse_public_choice(wanted["leaves"]))
    return holding


@staff_page
def release(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what ends with the address; on POST, release it."""
    holding = get_object_or_404(Holding.objects.select_related("member", "device"), pk=pk)
    if request.method != "POST":
        ends = dependents.count_dependents(Holding, [holding.pk])
        return render(request, "desk/member/release.html", {"holding": holding, "member": holding.member, "ends": ends})
    ended = services.release_holding(holding=holding, by=get_signed_in_user(request))
    with_it = _("Also ended: %(what)s.") % {"what": dependents.describe_ended(ended)} if ended else _("Nothing else depended on it.")
    said = _("%(address)s is free. %(with_it)s") % {"address": holding.address, "with_it": with_it}
    if request.headers.get("HX-Request"):
        return _mark_changed(_respond(request, holding.member, released=said))
    messages.success(request, said)
    return _respond(request, holding.member)

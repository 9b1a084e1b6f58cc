"""Pages of roles: who carries what in a group, what would happen if a gateway died, moving families, and installing files."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.gateways.failover_files import find_failover
from apps.gateways.roles.forms import SwitchForm
from apps.gateways.roles.install_plan import plan_file_install
from apps.gateways.roles.models import RoleSwitch
from apps.gateways.roles.presentation import build_roles_page
from apps.gateways.roles.switch_plan import is_deploy_under_way, plan_switch
from apps.gateways.roles.switching import request_switch
from apps.lib.errors import Conflict, Problem
from apps.network.models import Gateway, GatewayGroup


@staff_page
def failover(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the roles of a group's gateways. It is asked for again all the time, and then gives only what changes."""
    found = get_object_or_404(GatewayGroup, pk=pk)
    settings = find_failover(found.pk)
    shown = build_roles_page(settings, timezone.now()) if settings else None
    template = "gateways/_roles.html" if shown and request.headers.get("HX-Target") == "roles" else "gateways/failover.html"
    return render(request, template, {"group": found, "settings": settings, "roles": shown})


@staff_page
def switch(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Say what a switch would do, or what is in the way; let a worker do it on POST."""
    found = get_object_or_404(Gateway.objects.select_related("group"), pk=pk)
    if kind not in RoleSwitch.MOVES:
        raise Http404
    plan = plan_switch(found, RoleSwitch.Kind(kind))
    form = SwitchForm(plan, request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _request(request, found, plan.kind, form.cleaned_data["families"])
    context = {"gateway": found, "plan": plan, "form": form, "deploying": is_deploy_under_way(found.group)}
    return render(request, "gateways/switch.html", context, status=422 if form.is_bound else 200)


@staff_page
def install(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what installing a gateway's failover files would do, or what is in the way; let a worker do it on POST."""
    found = get_object_or_404(Gateway.objects.select_related("group", "server_interface"), pk=pk)
    if request.method == "POST":
        return _request(request, found, RoleSwitch.Kind.INSTALL)
    return render(request, "gateways/failover_install.html", {"gateway": found, "plan": plan_file_install(found)})


def _request(request: HttpRequest, gateway: Gateway, kind: RoleSwitch.Kind, families: Sequence[int] = ()) -> HttpResponse:
    """Request the switch, and lead to the page that shows how it ends."""
    try:
        request_switch(gateway=gateway, kind=kind, families=families, by=get_signed_in_user(request))
        messages.success(request, _("A worker does it now. This page shows how it ends."))
    except (Conflict, Problem) as problem:
        messages.error(request, str(problem))
    return redirect("gateways:failover", gateway.group_id)

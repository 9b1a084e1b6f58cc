"""Pages of a group's agents: their versions and the last upgrade, the press that upgrades them, and the one that stops it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.recent_auth import require_recent_auth
from apps.gateways.agent_upgrade.presentation import build_agents_page
from apps.gateways.agent_upgrade.requesting import find_last_upgrade, request_upgrade, stop_upgrade
from apps.lib.errors import Problem
from apps.network.models import GatewayGroup


@staff_page
def agents(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the agents of a group. While an upgrade goes on, the page asks for its part that changes all the time."""
    found = get_object_or_404(GatewayGroup, pk=pk)
    part = "#now" if request.headers.get("HX-Target") == "agents" else ""
    return render(request, f"gateways/agents.html{part}", {"group": found, "agents": build_agents_page(found)})


@staff_page
@require_recent_auth
def upgrade(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what an upgrade would do; let a worker do it on POST."""
    found = get_object_or_404(GatewayGroup, pk=pk)
    if request.method != "POST":
        return render(request, "gateways/agents_upgrade.html", {"group": found, "agents": build_agents_page(found)})
    try:
        request_upgrade(group=found, by=get_signed_in_user(request))
        messages.success(request, _("A worker does it now. This page shows how it ends."))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("gateways:agents", found.pk)


@staff_page
@require_POST
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop an upgrade before its next gateway."""
    found = get_object_or_404(GatewayGroup, pk=pk)
    last = find_last_upgrade(found)
    if last and stop_upgrade(last):
        messages.success(request, _("Stopped. The other gateways keep their programs."))
    else:
        messages.error(request, _("There is nothing to stop now. A gateway that tries the program decides first."))
    return redirect("gateways:agents", found.pk)

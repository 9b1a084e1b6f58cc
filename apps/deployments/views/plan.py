"""Page of a group's plan: what would be deployed, before and after it goes live; and the button to go live."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.deployments.revision_pages import presentation
from apps.deployments.revision_pages.group_plan import build_go_live_plan
from apps.deployments.rollouts.go_live import go_live
from apps.lib.errors import Conflict, Problem
from apps.network.models import GatewayGroup


@staff_page
def plan(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what the group's gateways would get now; go live with it."""
    group = get_object_or_404(GatewayGroup, pk=pk)
    if request.method == "POST":
        return _go_live(request, group)
    planned = build_go_live_plan(group)
    preview = presentation.build_preview_context(presentation.preview_deploy(group)) if planned.access else {}
    return render(request, "deployments/plan.html", {"group": group, "plan": planned, **preview})


def _go_live(request: HttpRequest, group: GatewayGroup) -> HttpResponse:
    try:
        go_live(group=group, by=get_signed_in_user(request))
    except Conflict as conflict:
        messages.warning(request, str(conflict))
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("deployments:plan", group.pk)
    else:
        messages.success(request, _("%(group)s is live. The first rollout appears here in a moment.") % {"group": group})
    return redirect("deployments:rollouts")

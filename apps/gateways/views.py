"""Gateways: the list, one of them, and the form of its interfaces and management."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.permissions import staff_page
from apps.audit.selectors import history_of
from apps.deployments import progress
from apps.gateways import selectors, services
from apps.gateways.forms import GatewayForm
from apps.lib.errors import Conflict, Problem
from apps.network.models import Gateway, GatewayGroup

LAST_ROLLOUTS = 8


@staff_page
def gateways(request: HttpRequest) -> HttpResponse:
    """Each group's gateways, and which address families nobody carries."""
    shown = selectors.shown(list(selectors.gateways()), timezone.now())
    groups = [
        (group, [each for each in shown if each.gateway.group_id == group.pk], selectors.uncarried(group))
        for group in GatewayGroup.objects.prefetch_related("gateways")
    ]
    part = "#groups" if request.headers.get("HX-Target") == "groups" else ""
    return render(request, f"gateways/list.html{part}", {"groups": groups, "worst": selectors.worst(shown)})


@staff_page
def gateway(request: HttpRequest, pk: int) -> HttpResponse:
    """What it runs and carries, its interfaces and pools, its last rollouts and history."""
    found = get_object_or_404(selectors.gateways(), pk=pk)
    now = timezone.now()
    group = list(selectors.gateways().filter(group=found.group_id))
    context = {
        "shown": next(each for each in selectors.shown(group, now) if each.gateway == found),
        "others": [each for each in group if each != found],
        "pools": selectors.pools_of(found.group),
        "rows": [progress.row(rollout, now) for rollout in selectors.last_rollouts_of(found, LAST_ROLLOUTS)],
        "entries": history_of(found, 8),
    }
    return render(request, "gateways/gateway.html", context)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change interfaces and management; a save on top of somebody else's shows both."""
    found = get_object_or_404(Gateway.objects.select_related("group"), pk=pk)
    form = GatewayForm(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            services.configure(gateway=found, by=request.user, **form.cleaned_data)  # type: ignore[arg-type]  # staff_page: signed in
            messages.success(request, _("Saved. %(gateway)s gets its rules anew with the next rollout, in a moment.") % {"gateway": found})
            return redirect("gateways:gateway", found.pk)
        except Conflict as conflict:
            form.take_up(str(conflict))
        except Problem as problem:
            form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
    return render(request, "gateways/edit.html", {"gateway": found, "form": form}, status=422 if form.is_bound else 200)

"""Pages of gateways: the list, a single one, its interfaces and management, and the settings that a group has for all members."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.undo_page import add_undo_message
from apps.audit.selectors import list_row_history
from apps.deployments import services as deployments
from apps.deployments.models import Hold
from apps.deployments.rollouts import progress
from apps.deployments.selectors import list_revision_holds
from apps.deployments.transport import ssh
from apps.gateways import change_texts, group_settings, kernel_gauges, selectors, services
from apps.gateways.authorized_keys import build_ssh_access_setup
from apps.gateways.flood import set_flood_mode
from apps.gateways.forms import GatewayForm, ProfileForm, ProtectionForm
from apps.gateways.forms_limits import LimitsForm
from apps.gateways.health.presentation import build_health_view
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.packet_probes.presentation import list_probe_lines
from apps.gateways.probe_command import build_probe_setup_command
from apps.gateways.retirement import is_in_history
from apps.gateways.set_gauges import list_gauges
from apps.gateways.views_lifecycle import show_retired_gateway
from apps.lib.activation import Activation, list_activations
from apps.lib.errors import Conflict, Problem
from apps.lib.web.query_params import parse_number
from apps.network.models import Gateway, GatewayGroup, Limits, Profile, Protection
from apps.traffic import counter_collection
from apps.traffic.models import Collected

LAST_ROLLOUTS = 8


@staff_page
def gateways(request: HttpRequest) -> HttpResponse:
    """List the gateways by group, and the address families that no gateway is primary for."""
    shown = selectors.build_overviews(list(selectors.list_gateways()), timezone.now())
    groups = [
        (group, own, selectors.list_families_without_primary(group), selectors.list_outdated_agents(own))
        for group in GatewayGroup.objects.prefetch_related("gateways")
        for own in [[each for each in shown if each.gateway.group_id == group.pk]]
    ]
    part = "#groups" if request.headers.get("HX-Target") == "groups" else ""
    return render(
        request,
        f"gateways/list.html{part}",
        {
            "groups": groups,
            "worst": selectors.find_worst_status(shown),
            "holds": list_revision_holds(),
            "retired": selectors.list_retired(),
            "machines": JoiningMachine.objects.select_related("group"),
        },
    )


@staff_page
def gateway(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what a gateway runs, its address families, interfaces and pools, its last rollouts and history."""
    polled = request.headers.get("HX-Target") == "now"
    if retired := selectors.list_retired().filter(pk=pk).first():
        return HttpResponse(status=204, headers={"HX-Refresh": "true"}) if polled else show_retired_gateway(request, retired)
    found = get_object_or_404(selectors.list_gateways(), pk=pk)
    now = timezone.now()
    group = list(selectors.list_gateways().filter(group=found.group_id))
    shown = next(each for each in selectors.build_overviews(group, now) if each.gateway == found)
    context: dict[str, Any] = {
        "shown": shown,
        "others": [each for each in group if each != found],
        "pools": selectors.list_pools(found.group),
        "rows": [progress.build_rollout_row(rollout, now) for rollout in selectors.list_last_rollouts(found, LAST_ROLLOUTS)],
        "entries": list_row_history(found, 8),
        "gauges": list_gauges(found),
        "collected": Collected.objects.filter(gateway=found).first(),
        "table": kernel_gauges.find_connection_table(selectors.find_gateway_status(found), getattr(found.group, "profile", None)),
        "hold": list_revision_holds().filter(group=found.group_id).first(),
        "setup": build_ssh_access_setup(found),
        "probe_command": build_probe_setup_command(found),
        "probes": list_probe_lines(found, now),
        "health": build_health_view(found, now, carries=bool(shown.carried)),
        "fingerprint": found.host_key and ssh.compute_fingerprint(found.host_key),
        "used": is_in_history(found),
        "oob": polled,
    }
    context["mark"] = _compute_mark(shown, context["collected"], context["hold"])
    context["other_mark"] = request.GET.get("mark") != context["mark"]
    return render(request, f"gateways/gateway.html{'#now' if polled else ''}", context)


def _compute_mark(shown: selectors.GatewayOverview, collected: Collected | None, hold: Hold | None) -> str:
    """Return a digest of what the page says of drift, refused readings and a hold: a page that polls gets these anew when it differs."""
    readings = collected and (collected.refused, collected.refused_at, collected.nobodys, collected.nobodys_first)
    return blake2b(repr((shown.drift, shown.before, readings, hold and hold.pk)).encode(), digest_size=8).hexdigest()


@staff_page
@require_POST
def redeploy_gateway(request: HttpRequest, pk: int) -> HttpResponse:
    """Deploy again to repair a gateway, although nothing has changed in the database."""
    found = get_object_or_404(Gateway, pk=pk)
    if not found.group.live_since:
        messages.error(request, change_texts.describe_not_live(found))
        return redirect("gateways:gateway", found.pk)
    try:
        deployments.request_reconcile(by=get_signed_in_user(request), force=True)
        messages.success(request, _("Requested. %(gateway)s gets its ruleset again in a moment.") % {"gateway": found})
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("gateways:gateway", found.pk)


@staff_page
@require_POST
def accept_next_reading(request: HttpRequest, pk: int) -> HttpResponse:
    """Accept the gateway's next reading as the new start of counting, whatever it contains."""
    found = get_object_or_404(Gateway, pk=pk)
    counter_collection.accept_next_reading(gateway=found)
    messages.success(request, _("Counting restarts with the next reading of %(gateway)s, within a minute or two.") % {"gateway": found})
    return redirect("gateways:gateway", found.pk)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change interfaces, management and probe; on a conflict, show both versions."""
    found = get_object_or_404(Gateway.objects.select_related("group"), pk=pk)
    form = GatewayForm(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            version = form.cleaned_data["version"]
            services.configure_gateway(gateway=found, version=version, facts=form.to_facts(), by=get_signed_in_user(request))
            add_undo_message(request, change_texts.describe_saved_gateway(found), found, version)
            return redirect("gateways:gateway", found.pk)
        except Conflict as conflict:
            form.take_up(str(conflict))
        except Problem as problem:
            form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
    return render(request, "gateways/edit.html", {"gateway": found, "form": form}, status=422 if form.is_bound else 200)


@staff_page
def protection(request: HttpRequest, pk: int) -> HttpResponse:
    """Change what the gateways of a group refuse, and which routers may connect to them."""
    return _handle_settings(
        request, pk, ProtectionForm, group_settings.change_protection, "gateways:protection", "gateways/protection.html"
    )


@staff_page
def limits(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the connection limits of a group."""
    return _handle_settings(request, pk, LimitsForm, group_settings.change_limits, "gateways:limits", "gateways/limits.html")


@staff_page
def profile(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the kernel profile of a group's gateways, and show what their kernels really hold."""
    return _handle_settings(
        request, pk, ProfileForm, group_settings.change_profile, "gateways:profile", "gateways/profile.html", _build_kernel_context
    )


def _build_kernel_context(row: Any) -> dict[str, Any]:
    return {"warnings": kernel_gauges.list_warnings(row), "tables": kernel_gauges.list_connection_tables(row.group, row)}


def _handle_settings(
    request: HttpRequest,
    pk: int,
    kind: type[ProtectionForm | LimitsForm | ProfileForm],
    save: Callable[..., object],
    here: str,
    template: str,
    more: Callable[[Any], dict[str, Any]] = lambda _row: {},
) -> HttpResponse:
    """Handle a form for settings of a group; on a conflict, show both versions."""
    found = get_object_or_404(GatewayGroup, pk=pk)
    form = kind(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            save(group=found, by=get_signed_in_user(request), **form.cleaned_data)
            messages.success(request, change_texts.describe_saved_settings(found))
            return redirect(here, found.pk)
        except Conflict as conflict:
            form.take_up(str(conflict))
        except Problem as problem:
            form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
    row = form.row
    context = {
        "group": found,
        "form": form,
        "known": _list_activations(row),
        "entries": list_row_history(row, 8) if row.pk else [],
        **more(row),
    }
    return render(request, template, context, status=422 if form.is_bound else 200)


def _list_activations(row: Protection | Limits | Profile) -> list[Activation]:
    """Return since when each gateway runs these settings; empty if they have never been saved."""
    return list_activations([row])[0][1] if row.pk else []


@staff_page
def flood(request: HttpRequest, pk: int) -> HttpResponse:
    """Explain what flood mode does and costs; switch it on POST."""
    found = get_object_or_404(GatewayGroup, pk=pk)
    if request.method != "POST":
        names = ", ".join(found.gateways.order_by("name").values_list("name", flat=True))
        return render(request, "gateways/flood.html", {"group": found, "gateways": names})
    on, version = request.POST.get("on") == "1", parse_number(request.POST, "version")
    try:
        set_flood_mode(group=found, version=version, on=on, by=get_signed_in_user(request))
        messages.success(request, _("Flood mode is on.") if on else _("Flood mode is off."))
    except Conflict as conflict:
        messages.error(request, str(conflict))
    return redirect("gateways:group", found.pk)

"""Pages that rename a gateway, replace its machine, retire it, take it back into service, and remove one that was never used."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.recent_auth import require_recent_auth
from apps.accounts.undo_page import add_undo_message
from apps.audit.selectors import list_row_history
from apps.deployments.rollouts import progress
from apps.deployments.transport import ssh
from apps.deployments.transport.agent_channel import Unreachable
from apps.deployments.transport.ssh_keys import scan_host_key
from apps.gateways import change_texts, renaming, replacement, retirement, selectors
from apps.gateways.forms_lifecycle import RenamingForm, ReplacementForm, RetirementForm
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form, replace_input
from apps.lib.web.query_params import parse_number
from apps.network.models import Gateway, GatewayGroup

LAST_ROLLOUTS = 8


def show_retired_gateway(request: HttpRequest, gateway: Gateway) -> HttpResponse:
    """Show what is known of a gateway that is out of service."""
    rows = [progress.build_rollout_row(each, timezone.now()) for each in selectors.list_last_rollouts(gateway, LAST_ROLLOUTS)]
    context = {"gateway": gateway, "status": selectors.find_gateway_status(gateway), "rows": rows}
    return render(request, "gateways/retired.html", context | {"entries": list_row_history(gateway, 8)})


@staff_page
def rename(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a gateway another name."""
    found = get_object_or_404(Gateway, pk=pk)
    form = RenamingForm(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            before = found.name
            renaming.rename_gateway(gateway=found, by=get_signed_in_user(request), **form.cleaned_data)
            words = _("%(before)s is called %(name)s now.") % {"before": before, "name": found.name}
            add_undo_message(request, words, found, form.cleaned_data["version"])
            return redirect("gateways:gateway", pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "gateways/rename.html", {"gateway": found, "form": form}, status=422 if form.errors else 200)


@staff_page
@require_recent_auth
def replace(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask where the new machine is, show the fingerprint of its host key, and replace the machine once a person has compared it."""
    found = get_object_or_404(Gateway.objects.select_related("group"), pk=pk)
    form = ReplacementForm(found, request.POST if request.method == "POST" else None)
    shown = ""
    if form.is_valid():
        try:
            if form.cleaned_data["compared"]:
                replacement.replace_machine(gateway=found, by=get_signed_in_user(request), **form.to_kwargs())
                messages.success(request, change_texts.describe_replaced(found))
                return redirect("gateways:gateway", pk)
            replacement.refuse_without_ssh(found)
            form = form.build_confirmation_form(form.cleaned_data["host_key"] or scan_host_key(*form.get_ssh_endpoint()))
            shown = ssh.compute_fingerprint(form["host_key"].value())
        except Problem as problem:
            add_problem_to_form(form, problem)
            replace_input(form, "compared", "")  # the key is shown again before anything changes
        except (Unreachable, OSError) as fault:
            form.add_error("address", str(fault))
    context = {"gateway": found, "form": form, "shown": shown, "others": found.group.gateways.exclude(pk=pk).order_by("name")}
    context["trusted"] = found.host_key and ssh.compute_fingerprint(found.host_key)
    return render(request, "gateways/replace.html", context, status=422 if form.errors else 200)


@staff_page
def retire(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what retiring the gateway does, or what is in the way; retire it on POST."""
    found = get_object_or_404(Gateway.objects.select_related("group", "status__revision"), pk=pk)
    plan = retirement.plan_retirement(found)
    form = RetirementForm(found, plan, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            retirement.retire_gateway(gateway=found, by=get_signed_in_user(request), **form.cleaned_data)
            words = _("%(gateway)s is out of service.") % {"gateway": found}
            add_undo_message(request, words, found, form.cleaned_data["version"])
            return redirect("gateways:gateway", pk)
        except Problem as problem:
            messages.error(request, str(problem))
            return redirect("gateways:gateway", pk)
    context = {"gateway": found, "plan": plan, "form": form, "status": selectors.find_gateway_status(found)}
    return render(request, "gateways/retire.html", context | _describe_obstacle(plan), status=422 if form.errors else 200)


def _describe_obstacle(plan: retirement.RetirementPlan) -> dict[str, Any]:
    """Return where a person goes on from what is in the way: to another gateway for the members of the last one, or to its page."""
    culprit = plan.obstacle.culprit if plan.obstacle else None
    return {"is_last": isinstance(culprit, GatewayGroup), "culprit_url": selectors.build_culprit_url(culprit)}


@staff_page
def reinstate(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what taking a retired gateway back into service does; do it on POST."""
    found = get_object_or_404(Gateway.ever.select_related("group").exclude(retired=None), pk=pk)
    if request.method != "POST":
        return render(request, "gateways/reinstate.html", {"gateway": found})
    version = parse_number(request.POST, "version")
    try:
        retirement.reinstate_gateway(gateway=found, version=version, by=get_signed_in_user(request))
        words = _("%(gateway)s is back in service, as a standby.") % {"gateway": found}
        add_undo_message(request, words, found, version)
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("gateways:gateway", pk)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what removing a gateway does that never took part in a rollout; remove it on POST."""
    found = get_object_or_404(Gateway, pk=pk)
    if request.method != "POST":
        return render(request, "gateways/remove.html", {"gateway": found, "used": retirement.is_in_history(found)})
    try:
        retirement.remove_gateway(found, by=get_signed_in_user(request))
        messages.success(request, _("%(gateway)s is removed. The history brings it back for a week.") % {"gateway": found})
        return redirect("gateways:list")
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("gateways:gateway", pk)

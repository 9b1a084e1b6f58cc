"""Pages of a group's failover: its settings, the files that each gateway gets from them, and the end of managing it here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.undo_page import add_undo_message, answer_undo
from apps.audit.selectors import list_row_history
from apps.gateways.failover_files import (
    FILENAMES,
    INSTALL_COMMANDS,
    PACKAGES_COMMAND,
    count_on_link_addresses,
    render_failover_files,
)
from apps.gateways.failover_settings import change_failover, get_failover, stop_managing_failover
from apps.gateways.families import join_family_names
from apps.gateways.forms_failover import FailoverForm
from apps.gateways.primaries import list_families
from apps.gateways.roles.file_drift import runs_current_files
from apps.gateways.roles.models import FailoverStatus
from apps.lib.errors import Conflict, Problem
from apps.lib.web.query_params import parse_number
from apps.network.models import Failover, Gateway, GatewayGroup


@dataclass(frozen=True)
class FailoverFilesRow:
    """What a gateway gets: its files by their names, or the problem that prevents them; and the families that it is preferred for.

    runs: whether keepalived there started with these files; None if the gateway has not told.
    """

    gateway: Gateway
    families: str
    files: Mapping[str, str]
    problem: str
    runs: bool | None = None


@staff_page
def settings(request: HttpRequest, pk: int) -> HttpResponse:
    """Change how the gateways of a group stand in for each other, and show the files that result."""
    found = get_object_or_404(GatewayGroup, pk=pk)
    form = FailoverForm(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            saved = change_failover(group=found, by=get_signed_in_user(request), **form.cleaned_data)
            words = _("Saved. Nothing was sent: install the files below, on one gateway after the other.")
            add_undo_message(request, words, saved, form.cleaned_data["version"])
            return redirect("gateways:failover-settings", found.pk)
        except Conflict as conflict:
            form.take_up(str(conflict))
        except Problem as problem:
            form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
    row = form.row
    context: dict[str, Any] = {"group": found, "form": form, "row": row}
    context |= {"packages": PACKAGES_COMMAND, "commands": INSTALL_COMMANDS}
    context |= {"results": _list_results(found) if row.pk else [], "entries": list_row_history(row, 8) if row.pk else []}
    context |= {"on_link": count_on_link_addresses(row) if row.pk else 0}
    return render(request, "gateways/failover_settings.html", context, status=422 if form.is_bound else 200)


def _list_results(group: GatewayGroup) -> list[FailoverFilesRow]:
    rows = Gateway.objects.filter(group=group).select_related("group", "server_interface").order_by("name")
    return [_build_result(gateway) for gateway in rows]


def _build_result(gateway: Gateway) -> FailoverFilesRow:
    families = join_family_names(list_families(gateway))
    try:
        status = FailoverStatus.objects.filter(gateway=gateway).first()
        runs = runs_current_files(status) if status and not status.problem else None
        return FailoverFilesRow(gateway, families, render_failover_files(gateway), "", runs)
    except Problem as problem:
        return FailoverFilesRow(gateway, families, {}, str(problem))


@staff_page
def download_file(_request: HttpRequest, pk: int, filename: str) -> HttpResponse:
    """Return one of a gateway's files as text."""
    found = get_object_or_404(Gateway.objects.select_related("group", "server_interface"), pk=pk)
    if filename not in FILENAMES:
        raise Http404
    try:
        text = render_failover_files(found)[filename]
    except Problem as problem:
        raise Http404(str(problem)) from problem
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


@staff_page
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what it means to stop managing failover here; do it after confirmation."""
    found = get_object_or_404(GatewayGroup, pk=pk)
    row = get_failover(found)
    if request.method != "POST":
        return render(request, "gateways/failover_stop.html", {"group": found, "row": row})
    version = parse_number(request.POST, "version")
    try:
        event = stop_managing_failover(group=found, version=version, by=get_signed_in_user(request))
        words = _("Netzwart does not manage the failover of %(group)s any more.") % {"group": found}
        messages.success(request, words, extra_tags=reverse("gateways:failover-undo", args=[event]) if event else "")
    except Conflict as conflict:
        messages.error(request, str(conflict))
    return redirect("gateways:failover", found.pk)


@staff_page
@require_POST
def undo(request: HttpRequest, event: int) -> HttpResponse:
    """Undo the last change of a group's failover."""
    return answer_undo(request, Failover, event, back="gateways:list")

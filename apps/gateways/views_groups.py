"""Pages of gateway groups: adding, changing and removing one, and undoing the last change of one."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.recent_auth import require_recent_auth
from apps.accounts.undo_page import answer_undo
from apps.audit.selectors import list_row_history
from apps.deployments.approvals.limit_changes import find_waiting_limits
from apps.gateways import groups, selectors
from apps.gateways.forms import GroupForm, NewGroupForm
from apps.lib.errors import Conflict, Problem
from apps.network.models import GatewayGroup


@staff_page
def add(request: HttpRequest) -> HttpResponse:
    """Add a group."""
    form = NewGroupForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = groups.add_group(facts=form.to_facts(), by=get_signed_in_user(request))
            messages.success(request, _("%(group)s is added. Its first gateway comes next.") % {"group": made})
            return redirect("gateways:list")
        except Problem as problem:
            form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
    return render(request, "gateways/group_add.html", {"form": form}, status=422 if form.is_bound else 200)


@staff_page
@require_recent_auth
def group(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a group's name, probe targets and rollout settings; on a conflict, show both versions."""
    found = get_object_or_404(GatewayGroup, pk=pk)
    form = GroupForm(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            groups.change_group(group=found, version=form.cleaned_data["version"], facts=form.to_facts(), by=get_signed_in_user(request))
            messages.success(request, _("Saved. This applies from the next rollout on; what already waits for approval keeps waiting."))
            if find_waiting_limits(found):
                messages.info(request, _("Looser limits wait until a second person agrees; until then the old ones apply."))
            return redirect("gateways:group", found.pk)
        except Conflict as conflict:
            form.take_up(str(conflict))
        except Problem as problem:
            form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
    context = {"group": found, "form": form, "entries": list_row_history(found, 8), "waiting": find_waiting_limits(found)}
    return render(request, "gateways/group.html", context, status=422 if form.is_bound else 200)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what removing the group does, or what depends on it; remove it after confirmation."""
    found = get_object_or_404(GatewayGroup, pk=pk)
    if request.method != "POST":
        return render(request, "gateways/group_remove.html", {"group": found, "dependents": selectors.list_dependents(found)})
    try:
        groups.remove_group(group=found, by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("gateways:group", found.pk)
    messages.success(request, _("%(group)s is removed. The history brings it back for a week.") % {"group": found})
    return redirect("gateways:list")


@staff_page
@require_POST
@require_recent_auth
def undo(request: HttpRequest, event: int) -> HttpResponse:
    """Undo the last change of a group."""
    return answer_undo(request, GatewayGroup, event, back="gateways:list")

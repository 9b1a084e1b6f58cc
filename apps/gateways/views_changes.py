"""Pages that add a gateway, make it the primary of an address family, and undo its last change."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.recent_auth import require_recent_auth
from apps.accounts.undo_page import add_undo_message, answer_undo
from apps.gateways import enrolment, families, primaries
from apps.gateways.forms import NewGatewayForm
from apps.lib.errors import Problem
from apps.lib.web.query_params import parse_number
from apps.network.models import Failover, Gateway, GatewayGroup

FIELDS = {"port": "management_port", "account": "ssh_user"}  # where the form calls an argument otherwise


@staff_page
@require_recent_auth
def add(request: HttpRequest) -> HttpResponse:
    """Add a gateway that is reached by ssh; its page then says what is left to do on the machine."""
    form = NewGatewayForm(request.POST if request.method == "POST" else None, initial=_get_initial(request.GET.get("group", "")))
    if form.is_valid():
        try:
            made = enrolment.enrol_gateway(by=get_signed_in_user(request), **form.to_kwargs())
            messages.success(request, _("%(gateway)s is added. The portal contacts it from now on.") % {"gateway": made})
            return redirect("gateways:gateway", made.pk)
        except Problem as problem:
            fieldname = FIELDS.get(problem.fieldname, problem.fieldname)
            form.add_error(fieldname if fieldname in form.fields else None, str(problem))
    groups = GatewayGroup.objects.exists()
    return render(request, "gateways/add.html", {"form": form, "groups": groups}, status=422 if form.is_bound else 200)


def _get_initial(group: str) -> dict[str, Any]:
    found = GatewayGroup.objects.filter(pk=int(group)).first() if group.isdecimal() and len(group) < 10 else GatewayGroup.objects.first()
    free = {f"carries{family}": found is not None and families.find_primary(found, family) is None for family in families.FAMILIES}
    return {"group": found, "management_port": 22, "ssh_user": "netzwart"} | free


@staff_page
def primary(request: HttpRequest, pk: int, family: int) -> HttpResponse:
    """Say what a change of the primary does and does not; make the gateway primary on POST."""
    found = get_object_or_404(Gateway.objects.select_related("group"), pk=pk)
    if family not in families.FAMILIES:
        raise Http404
    if request.method != "POST":
        context = {"before": families.find_primary(found.group, family), "failover": Failover.objects.filter(group=found.group).exists()}
        return render(request, "gateways/primary.html", {"gateway": found, "family": family, **context})
    version = parse_number(request.POST, "version")
    try:
        primaries.set_primary(gateway=found, family=family, version=version, by=get_signed_in_user(request))
        words = _("%(gateway)s is the IPv%(family)d primary of %(group)s.")
        add_undo_message(request, words % {"gateway": found, "family": family, "group": found.group}, found, version)
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("gateways:gateway", found.pk)


@staff_page
@require_POST
@require_recent_auth
def undo(request: HttpRequest, event: int) -> HttpResponse:
    """Undo the last change of a gateway."""
    return answer_undo(request, Gateway, event, back="gateways:list")

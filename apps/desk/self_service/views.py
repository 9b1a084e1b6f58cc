"""A member's own page, and their port forwards."""

from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.models import User
from apps.accounts.permissions import get_signed_in_user
from apps.announcements.own_announcements import list_unseen_announcements
from apps.desk.lifecycle import export, schedule
from apps.desk.self_service.own_page import own_page
from apps.desk.self_service.status_line import build_connection_status
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Problem
from apps.lib.ui.activation_status import build_poll_trigger, list_activation_statuses
from apps.lib.web.query_params import parse_number
from apps.members.models import Member
from apps.nat import own_forwards, services
from apps.nat.forms import ForwardForm
from apps.nat.models import PortForward
from apps.nat.selectors import list_member_forwards, list_member_public_addresses
from apps.nat.switched_off import list_switched_off_by_others
from apps.network.selectors import list_cached_holdings
from apps.tickets.own_tickets import list_own_tickets
from apps.traffic import member_traffic_views, usage_panel

SHOWN_TICKETS = 2


@own_page
def home(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the connection's status, the usage, and the open ports."""
    if request.headers.get("HX-Target") == "traffic":
        return render(request, "desk/own/home.html#traffic", {"usage": _build_usage(request, member)})
    return _render_home(request, member, saved=parse_number(request.GET, "saved"), closed=parse_number(request.GET, "closed"))


@own_page
def download_everything(_request: HttpRequest, member: Member) -> HttpResponse:
    """Download all data that are kept about the member, except staff's internal notes."""
    return export.build_zip(member, notes=False)


def _render_home(request: HttpRequest, member: Member, *, saved: int = 0, closed: int = 0, problem: str = "") -> HttpResponse:
    part = "#forwards" if request.headers.get("HX-Target") == "forwards" else ""
    context = _build_forwards_context(member, get_signed_in_user(request), saved, closed, problem)
    context["off_by_others"] = list_switched_off_by_others([row.thing for row in context["rows"]], get_signed_in_user(request))
    if not part:
        holdings = list_cached_holdings(member)
        context |= {
            "announcements": list_unseen_announcements(member, timezone.now()),
            "truth": build_connection_status(member, holdings),
            "holdings": holdings,
            "coming": schedule.list_scheduled(member),
            "devices": member.devices.all(),
            "usage": _build_usage(request, member),
            "tickets": list_own_tickets(member)[:SHOWN_TICKETS],
        }
    return render(request, f"desk/own/home.html{part}", context, status=422 if problem else 200)


def _build_usage(request: HttpRequest, member: Member) -> usage_panel.UsagePanel:
    return usage_panel.build_usage_panel(member, request.GET, usage_panel.build_member_direction_names(), now=timezone.now())


@own_page
def traffic_csv(request: HttpRequest, member: Member) -> StreamingHttpResponse:
    """Download the chart's values."""
    return member_traffic_views.download_usage(member, request)


@own_page
def months_csv(_request: HttpRequest, member: Member) -> StreamingHttpResponse:
    """Download the last twelve months."""
    return member_traffic_views.download_months(member)


def _build_forwards_context(member: Member, reader: User, saved: int, closed: int, problem: str) -> dict[str, Any]:
    rows = list_activation_statuses(list_member_forwards(member))
    gone = list_activation_statuses(PortForward.objects.filter(pk=closed, holding__member=member).exclude(is_valid_now())) if closed else []
    return {
        "member": member,
        "rows": rows,
        "saved": saved,
        "closed": gone[0] if gone else None,
        "undo": bool(gone) and own_forwards.may_undo_closing(gone[0].thing, reader),
        "problem": problem,
        "most": member.tariff.most_forwards,
        "public_addresses": list_member_public_addresses(member),
        "poll": build_poll_trigger([*rows, *gone]),
    }


@own_page
def open_port(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the form for a new port forward, or open it."""
    form = ForwardForm(member, data=request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            forward = own_forwards.open_port(member=member, until=form.get_end(), by=get_signed_in_user(request), **form.to_kwargs())
        except Problem as problem:
            form.offer = form.format_offered_ports(problem.offer)
            form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
        else:
            return redirect_home(saved=forward.pk)
    context = {"member": member, "form": form, "public_addresses": list_member_public_addresses(member)}
    return render(request, "desk/own/open_port.html", context, status=422 if form.errors else 200)


def redirect_home(**said: int) -> HttpResponse:
    """Redirect to the member's page with the ids of what was just changed."""
    response = redirect("own:home")
    response["Location"] += "".join(f"?{name}={pk}" for name, pk in said.items()) + "#forwards"
    return response


def _get_own_forward(member: Member, pk: int) -> PortForward:
    return get_object_or_404(list_member_forwards(member), pk=pk)


def _respond(request: HttpRequest, member: Member, **said: int) -> HttpResponse:
    return _render_home(request, member, **said) if request.headers.get("HX-Request") else redirect_home(**said)  # type: ignore[arg-type]  # ids


@require_POST
@own_page
def switch_port(request: HttpRequest, member: Member, pk: int) -> HttpResponse:
    """Switch the forward on or off; the port stays the member's."""
    forward = _get_own_forward(member, pk)
    try:
        on, version = request.POST.get("enabled") == "1", parse_number(request.POST, "version")
        own_forwards.switch_forward(forward=forward, version=version, enabled=on, by=get_signed_in_user(request))
    except Problem as problem:
        return _render_home(request, member, problem=str(problem))
    return _respond(request, member, saved=pk)


@own_page
def close_port(request: HttpRequest, member: Member, pk: int) -> HttpResponse:
    """Show what closing the port does; on POST, close it."""
    forward = _get_own_forward(member, pk)
    if request.method != "POST":
        return render(
            request,
            "desk/own/close_port.html",
            {"forward": forward, "member": member, "undo": own_forwards.may_undo_closing(forward, get_signed_in_user(request))},
        )
    services.remove_forward(forward=forward, by=get_signed_in_user(request))
    return _respond(request, member, closed=pk)


@require_POST
@own_page
def reopen_port(request: HttpRequest, member: Member, pk: int) -> HttpResponse:
    """Reopen a port that was just closed."""
    forward = get_object_or_404(PortForward.objects.select_related("holding"), pk=pk, holding__member=member)
    try:
        again = own_forwards.reopen_port(member=member, forward=forward, by=get_signed_in_user(request))
    except Problem as problem:
        return _render_home(request, member, problem=str(problem))
    return _respond(request, member, saved=again.pk)

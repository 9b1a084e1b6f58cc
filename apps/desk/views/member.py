"""A member's page for staff."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _

from apps.accounts.permissions import staff_page
from apps.audit.selectors import list_row_history
from apps.bans.blocks.selectors import find_current_block
from apps.bans.models import Block
from apps.desk import member_panels
from apps.desk.lifecycle.schedule import list_scheduled
from apps.desk.selectors.member_reads import read_member
from apps.lib.activation import Activation, list_activations
from apps.lib.models import Deployed
from apps.lib.ui import formats
from apps.lib.ui.states import GatewaySymbol, SymbolState
from apps.lib.web.query_params import parse_number
from apps.members import invitation_services
from apps.members.models import Member
from apps.members.selectors import list_memberships
from apps.nat import forwards_panel
from apps.nat.models import NatMapping
from apps.nat.pinholes import pinholes_panel as pinholes
from apps.network.models import Holding
from apps.tickets.selectors import list_member_tickets
from apps.traffic.models import RateLimit
from apps.traffic.rates import selectors as rates
from apps.traffic.rates.rate_texts import describe_limit

IN_RAIL, ON_PAGE = 8, 50  # entries of the history


@dataclass(frozen=True)
class MemberStatusLine:
    """The status line: a kind, the state in one or two words, and the rest of the sentence."""

    kind: str
    state: str
    sentence: str


@staff_page
def member(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one member: status, addresses, devices, forwards, pinholes and tickets. Traffic and history come right after it."""
    found = get_object_or_404(Member.objects.select_related("tariff", "room__site", "user"), pk=pk)
    read_member(found)
    saved, removed = parse_number(request.GET, "saved"), parse_number(request.GET, "removed")
    held = member_panels.build_addresses_context(found, added=parse_number(request.GET, "added"))
    opened = pinholes.build_pinholes_context(
        found, saved=parse_number(request.GET, "pinhole_saved"), removed=parse_number(request.GET, "pinhole_removed")
    )
    forwards = forwards_panel.build_forwards_context(found, saved=saved, removed=removed)
    context = {
        **_build_facts(found, held["holdings"]),
        **held,
        **member_panels.build_devices_context(found),
        **forwards,
        **opened,
        **_build_account_context(found),
    }
    return render(
        request,
        "desk/member.html",
        context | {"tickets": list_member_tickets(found)},
    )


@staff_page
def history(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the member's last changes; for HTMX, fewer of them, as the fragment for the rail."""
    found = get_object_or_404(Member, pk=pk)
    in_rail = request.headers.get("HX-Target") == "history"
    entries = list_row_history(found, IN_RAIL if in_rail else ON_PAGE)
    return render(request, f"desk/member/history.html{'#panel' if in_rail else ''}", {"member": found, "history": entries})


def _build_facts(found: Member, held: list[member_panels.MemberAddressRow]) -> dict[str, Any]:
    holdings, mappings = [row.holding for row in held], [row.mapping for row in held if row.mapping]
    alive, block, limit = found.state == Member.State.ACTIVE, find_current_block(found), rates.find_current_limit(found)
    rates_apply = rates.is_rate_limiting_on(found)
    others: list[Deployed] = [*mappings, *([block] if block else []), *([limit] if limit else [])]
    known = [each for row in held for each in row.gateways] + [each for _row, those in list_activations(others) for each in those]
    known = known if alive else []
    paid = _("Paid until %(day)s") % {"day": formats.format_day(found.paid_until)} if found.paid_until else ""
    return {
        "member": found,
        "line": build_status_line(found, holdings, mappings, block, limit if rates_apply else None),
        "blocked_by": block,
        "rate_limit": limit,
        "rates_apply": rates_apply,
        "posts": build_activation_symbols(known),
        "waits": known,
        "number": f"M-{found.number}",
        "room": _("Room %(room)s") % {"room": found.room} if found.room else "",
        "tariff": _("Tariff %(tariff)s") % {"tariff": found.tariff},
        "since": _("Member since %(day)s") % {"day": formats.format_day(found.since)},
        "paid": paid,
        "coming": list_scheduled(found),
        "memberships": list_memberships(found),
    }


def _build_account_context(found: Member) -> dict[str, Any]:
    return {"invitation": None if found.user_id else invitation_services.find_open_invitation(found)}


def build_activation_symbols(known: Iterable[Activation]) -> list[GatewaySymbol]:
    """Return a post for each gateway for several rows together: full if the gateway has all of them."""
    waits: dict[str, bool] = {}
    for each in known:
        waits[each.gateway] = waits.get(each.gateway, False) or each.since is None
    return [GatewaySymbol(gateway, SymbolState.HALF if waiting else SymbolState.FULL) for gateway, waiting in sorted(waits.items())]


def build_status_line(
    found: Member, holdings: list[Holding], mappings: list[NatMapping], block: Block | None = None, limit: RateLimit | None = None
) -> MemberStatusLine:
    """Return the current state of the member's connection as one sentence."""
    if block and found.state != Member.State.LEFT:
        return MemberStatusLine("bad", _("Blocked."), _describe_block(block))
    if found.state == Member.State.LEFT:
        return MemberStatusLine("plain", _("Has left."), _("No address, no access."))
    if found.state == Member.State.PENDING:
        return MemberStatusLine(
            "wait", _("Not yet active."), _("Nothing of this member is on the gateways until an administrator activates the membership.")
        )
    leaves = sorted(
        {mapping.public_with_ports for mapping in mappings} | {str(each.prefix) for each in holdings if each.prefix.version == 6}
    )
    if not leaves:
        return MemberStatusLine("warn", _("Not connected."), _("Active, but without a public address or an IPv6 prefix."))
    said = _("Leaves as %(addresses)s.") % {"addresses": _(" and ").join(leaves)}
    if not mappings:
        said += " " + _("Over IPv4 this member reaches other members and the network itself, not the internet.")
    return (
        MemberStatusLine("warn", _("Limited."), f"{describe_limit(limit)} {said}")
        if limit
        else MemberStatusLine("ok", _("Connected."), said)
    )


def _describe_block(block: Block) -> str:
    """Describe the block's beginning, end and reason."""
    facts = {"since": formats.format_full_time(block.valid.lower), "reason": block.get_reason_display()}
    if block.valid.upper is None:
        return _("Since %(since)s, until lifted: %(reason)s.") % facts
    return _("Since %(since)s, until %(until)s: %(reason)s.") % (facts | {"until": formats.format_full_time(block.valid.upper)})

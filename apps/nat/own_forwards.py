"""Port forwards that members open themselves: only to their own holdings, within their tariff, on ports that the rules permit.

The staff's services write them too; messages to a member never name another member.
"""

from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.lib.fields import Address
from apps.lib.port_ranges import format_port_range
from apps.members.models import Member
from apps.members.tariff_allowance import check_tariff_allowance
from apps.nat import services
from apps.nat.expiry_dates import find_original_end
from apps.nat.models import PortForward, PortRules
from apps.nat.rules.services import get_port_rules
from apps.nat.selectors import find_free_port, list_member_forwards, list_member_public_addresses
from apps.nat.switched_off import check_may_reopen, check_may_switch_on, list_switched_off_by_others
from apps.network.models import Holding

TRIES: Final = 100  # free spans that are checked for forbidden ports


def may_open(forward: PortForward) -> bool:
    """Return True if members may open these ports. What administrators opened beyond the rules, members can close, but not open again."""
    return get_port_rules(forward.group_id).is_allowed(forward.public_port, forward.ports)


def may_undo_closing(forward: PortForward, by: User) -> bool:
    """Return True if the member may open it again: neither beyond the rules, nor switched off by the administrators."""
    return may_open(forward) and not list_switched_off_by_others([forward], by)


def open_port(
    *,
    member: Member,
    holding: Holding,
    public: Address,
    protocol: str,
    public_port: int,
    private_port: int,
    ports: int = 1,
    purpose: str = "",
    until: datetime | None = None,
    enabled: bool = True,
    by: User,
) -> PortForward:
    """Open public ports to a holding of the member. Raises Problem when the tariff has no more, the ports are not available, or the
    administrators switched them off.
    """
    _check_is_own(member, holding, public)
    rules = get_port_rules(holding.group_id)
    _check_rules(rules, public, protocol, public_port, ports)
    former = PortForward.objects.filter(holding__member=member, public=public, protocol=protocol)
    check_may_reopen(public_port, ports, former, by)
    try:
        with transaction.atomic():
            _check_quota(member)
            return services.add_forward(
                holding=holding,
                public=public,
                protocol=protocol,
                public_port=public_port,
                private_port=private_port,
                ports=ports,
                purpose=purpose,
                until=until,
                enabled=enabled,
                by=by,
            )
    except Problem as problem:
        problem.offer = problem.offer and _find_free_ports(rules, public, protocol, int(problem.offer), ports)
        raise _strip_names(problem, public, protocol, public_port, ports) from problem


def _check_rules(rules: PortRules, public: Address, protocol: str, port: int, ports: int) -> None:
    """Raise Problem for ports that the group's rules do not permit to members; offer free ones that they permit."""
    facts = {"lowest": rules.lowest, "ports": ports, "longest": rules.longest, "forbidden": rules.find_forbidden(port, ports)}
    if ports > rules.longest:
        text = _("%(ports)d ports at once are opened by the administrators. Choose up to %(longest)d.")
        raise Problem(text % facts, "public_port")
    if port < rules.lowest:
        text = _("Ports below %(lowest)d are opened by the administrators. Choose one from %(lowest)d to 65535.")
        raise Problem(text % facts, "public_port", offer=_find_free_ports(rules, public, protocol, rules.lowest, ports))
    if facts["forbidden"] is not None:
        text = _("Members may not open port %(forbidden)d here. Choose another one, or ask the administrators.")
        raise Problem(text % facts, "public_port", offer=_find_free_ports(rules, public, protocol, port, ports))


def _find_free_ports(rules: PortRules, public: Address, protocol: str, start: int, ports: int) -> str:
    """Return the first port of a free span of this length, from `start` on, that members may open; "" when there is none near."""
    for _try in range(TRIES):
        found = find_free_port(public, protocol, max(start, rules.lowest), ports)
        forbidden = None if found is None else rules.find_forbidden(found, ports)
        if found is None or found < rules.lowest:
            return ""
        if forbidden is None:
            return str(found)
        start = forbidden + 1
    return ""


def reopen_port(*, member: Member, forward: PortForward, by: User) -> PortForward:
    """Undo a removal: open the ports again with the planned end, switched off if they were. Raises Problem when that end has passed, a port
    was taken meanwhile, or the tariff has no more.
    """
    return open_port(
        member=member,
        holding=forward.holding,
        public=forward.public,
        protocol=forward.protocol,
        public_port=forward.public_port,
        private_port=forward.private_port,
        ports=forward.ports,
        purpose=forward.purpose,
        until=find_original_end(forward),
        enabled=forward.enabled,
        by=by,
    )


def switch_forward(*, forward: PortForward, version: int, enabled: bool, by: User) -> PortForward:
    """Switch a forward on or off; its ports stay reserved. Raises Problem for switching on what another user switched off."""
    if enabled:
        check_may_switch_on(forward, by)
    return services.change_forward(
        forward=forward, version=version, private_port=forward.private_port, purpose=forward.purpose, enabled=enabled, by=by
    )


def _check_is_own(member: Member, holding: Holding, public: Address) -> None:
    """Raise Problem unless holding and public address are the member's own, whatever the form contained."""
    if holding.member_id != member.pk:
        raise Problem(_("Choose one of your devices."), "holding")
    if str(public) not in list_member_public_addresses(member):
        raise Problem(_("Choose an address of yours."), "public")


def _check_quota(member: Member) -> None:
    check_tariff_allowance(
        list_member_forwards(member),
        member=member,
        most=lambda tariff: tariff.most_forwards,
        states=(Member.State.ACTIVE,),
        ended=_("Your membership is not active, so no port can be opened."),
        full=lambda most: ngettext(
            "Your tariff has room for %(most)d port forward, and it is in use.",
            "Your tariff has room for %(most)d port forwards, and all are in use. Close one that you no longer need first.",
            most,
        ),
    )


def _strip_names(problem: Problem, public: Address, protocol: str, port: int, ports: int) -> Problem:
    """Return the same refusal without the name of the other member."""
    if problem.fieldname != "public_port" or (not problem.offer and problem.culprit is None):
        return problem
    facts = {"protocol": protocol.upper(), "ports": format_port_range(port, ports), "public": public, "free": problem.offer}
    text = _("%(protocol)s %(ports)s on %(public)s is taken already.") % facts
    if problem.offer:
        text += " " + _("%(free)s is free.") % facts
    return Problem(text, "public_port", offer=problem.offer)

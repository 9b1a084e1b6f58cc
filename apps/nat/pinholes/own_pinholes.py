"""Pinholes that members open themselves in their own prefixes: named ports, as many as their tariff permits.

Only administrators open everything, all ports of a protocol, or forbidden ports. The group's lowest port does not apply here, because an
IPv6 address is not shared.
"""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.lib.fields import Address
from apps.members.models import Member
from apps.members.tariff_allowance import check_tariff_allowance
from apps.nat.expiry_dates import find_original_end
from apps.nat.pinholes import services
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.selectors import list_member_pinholes
from apps.nat.rules.services import get_port_rules
from apps.nat.switched_off import check_may_reopen, check_may_switch_on, list_switched_off_by_others
from apps.network.models import Holding


def may_open(pinhole: Pinhole) -> bool:
    """Return True if members may open this. What administrators opened beyond the rules, members can close, but not open again."""
    rules = get_port_rules(pinhole.group_id)
    few = bool(pinhole.port) and pinhole.ports <= rules.longest
    return few and rules.find_forbidden(pinhole.port, pinhole.ports) is None


def may_undo_closing(pinhole: Pinhole, by: User) -> bool:
    """Return True if the member may open it again: neither beyond the rules, nor switched off by the administrators."""
    return may_open(pinhole) and not list_switched_off_by_others([pinhole], by)


def switch_pinhole(*, pinhole: Pinhole, version: int, enabled: bool, by: User) -> Pinhole:
    """Switch a pinhole on or off; it stays the member's. Raises Problem for switching on what another user switched off."""
    if enabled:
        check_may_switch_on(pinhole, by)
    return services.switch_pinhole(pinhole=pinhole, version=version, enabled=enabled, by=by)


def open_own_pinhole(
    *,
    member: Member,
    holding: Holding,
    address: Address,
    protocol: str,
    port: int,
    ports: int,
    purpose: str = "",
    until: datetime | None = None,
    enabled: bool = True,
    by: User,
) -> Pinhole:
    """Open ports of a member's address. Raises Problem when the rules do not permit it, it is open already, the tariff has no more, or the
    administrators switched it off.
    """
    if holding.member_id != member.pk:
        raise Problem(_("Choose an address of yours."), "address")
    _check_rules(holding, protocol, port, ports)
    former = Pinhole.objects.filter(holding__member=member, address=address, protocol__in=[protocol, Pinhole.Protocol.ALL])
    check_may_reopen(port, ports, former, by)
    with transaction.atomic():
        _check_quota(member)
        return services.add_pinhole(
            holding=holding,
            address=address,
            protocol=protocol,
            port=port,
            ports=ports,
            purpose=purpose,
            until=until,
            enabled=enabled,
            by=by,
        )


def reopen_own_pinhole(*, member: Member, pinhole: Pinhole, by: User) -> Pinhole:
    """Undo a removal: open it again with the planned end, switched off if it was. Raises Problem as `open_own_pinhole` does."""
    return open_own_pinhole(
        member=member,
        holding=pinhole.holding,
        address=pinhole.address,
        protocol=pinhole.protocol,
        port=pinhole.port,
        ports=pinhole.ports,
        purpose=pinhole.purpose,
        until=find_original_end(pinhole),
        enabled=pinhole.enabled,
        by=by,
    )


def _check_rules(holding: Holding, protocol: str, port: int, ports: int) -> None:
    rules = get_port_rules(holding.group_id)
    if port == 0 or protocol == Pinhole.Protocol.ALL:
        raise Problem(_("Only the administrators can open all ports at once. Name the ports, with TCP or UDP."), "port")
    facts = {"ports": ports, "longest": rules.longest, "forbidden": rules.find_forbidden(port, ports)}
    if ports > rules.longest:
        text = _("%(ports)d ports at once are opened by the administrators. Choose up to %(longest)d.")
        raise Problem(text % facts, "port")
    if facts["forbidden"] is not None:
        text = _("Members may not open port %(forbidden)d here. Choose another one, or ask the administrators.")
        raise Problem(text % facts, "port")


def _check_quota(member: Member) -> None:
    """Raise Problem if the tariff has no more; it permits as many pinholes as port forwards."""
    check_tariff_allowance(
        list_member_pinholes(member),
        member=member,
        most=lambda tariff: tariff.most_forwards,
        states=(Member.State.ACTIVE,),
        ended=_("Your membership is not active, so no port can be opened."),
        full=lambda most: ngettext(
            "Your tariff has room for %(most)d pinhole, and it is in use.",
            "Your tariff has room for %(most)d pinholes, and all are in use. Close one that you no longer need first.",
            most,
        ),
    )

"""Checks of a group's failover, as firewall/failover and the database make them, with a sentence for each refusal.

Takes a row that need not be saved. Beside what the programs would refuse, it refuses virtual addresses that somebody else has.
"""

from collections.abc import Iterable
from ipaddress import ip_network
from typing import Final

from django.utils.translation import gettext as _

from apps.gateways.failover_files import SIDES, build_failover_gateway, build_failover_spec, require_sync_interface
from apps.gateways.sync_facts import OWN_ADDRESSES
from apps.lib.errors import Problem
from apps.lib.fields import AddressInNetwork
from apps.network.models import Failover, Gateway, GatewayGroup, Pool
from apps.network.selectors import find_overlapping_holding
from apps.network.virtual_addresses import can_be_assigned, find_failover_with
from firewall.failover import check_failover
from firewall.failover.spec import FAMILIES, HEALTH, INTERVALS, MOST_ADDRESSES, VIRTUAL_ROUTERS
from firewall.policy import PolicyError

_RANGES: Final = {"virtual_router": VIRTUAL_ROUTERS, "interval": INTERVALS, "failback": HEALTH}


def check_failover_row(row: Failover) -> None:
    """Raise Problem for the first value that cannot be, for the group's gateways as they are now."""
    _check_numbers(row)
    _check_families(row)
    gateways = list(Gateway.objects.filter(group=row.group).select_related("server_interface").order_by("name"))
    for gateway in gateways:
        _check_interfaces(row, gateway)
    seen: set[object] = set()
    for fieldname in SIDES:
        for each in getattr(row, fieldname):
            _check_address(fieldname, each)
            if each.ip in seen:
                raise Problem(_("%(address)s occurs twice.") % {"address": each.ip}, fieldname)
            seen.add(each.ip)
            _check_free(fieldname, each, row.group)
    _check_whole(row, [gateway for gateway in gateways if gateway.sync_address])


def _check_numbers(row: Failover) -> None:
    for fieldname, allowed in _RANGES.items():
        value = getattr(row, fieldname)
        if value is not None and value not in allowed:
            raise Problem(_("Between %(least)s and %(most)s.") % {"least": allowed[0], "most": allowed[-1]}, fieldname)
    if row.cache not in Failover.Cache.values:
        raise Problem(_("Choose one of these: %(names)s.") % {"names": ", ".join(Failover.Cache.values)}, "cache")
    if len(row.addresses) > MOST_ADDRESSES:
        fieldname = max(SIDES, key=lambda name: len(getattr(row, name)))
        raise Problem(_("A group has at most %(most)d virtual addresses.") % {"most": MOST_ADDRESSES}, fieldname)


def _check_families(row: Failover) -> None:
    """Raise Problem if members would have no router of a family that is elected."""
    if not row.inside:
        raise Problem(_("Enter at least one virtual address inside: members need it as their router."), "inside")
    for family in FAMILIES:
        if any(each.version == family for each in row.inside):
            continue
        fieldname = next((name for name in SIDES if any(each.version == family for each in getattr(row, name))), "")
        if fieldname:
            words = _("There is no IPv%(family)d address inside. Members need one there as their router, so that IPv%(family)d can move.")
            raise Problem(words % {"family": family}, "inside")


def _check_interfaces(row: Failover, gateway: Gateway) -> None:
    require_sync_interface(gateway)
    if row.servers and not hasattr(gateway, "server_interface"):
        words = _("%(gateway)s has no interface to servers. Name it where servers are listed, or leave this empty.")
        raise Problem(words % {"gateway": gateway}, "servers", culprit=gateway)


def _check_address(fieldname: str, given: AddressInNetwork) -> None:
    """Raise Problem if no interface can have this address."""
    address, network = given.ip, given.network
    if address.is_multicast or address.is_unspecified or address.is_loopback:
        raise Problem(_("%(address)s cannot be the address of an interface.") % {"address": address}, fieldname)
    if network.prefixlen == 0:
        words = _("%(address)s needs the prefix length of its network, such as %(example)s.")
        example = f"{address}/{24 if address.version == 4 else 64}"
        raise Problem(words % {"address": address, "example": example}, fieldname, offer=example)
    ends = [network.network_address, *([network.broadcast_address] if address.version == 4 else [])]
    if network.prefixlen < network.max_prefixlen - 1 and address in ends:
        words = _("%(address)s is the first or last address of %(network)s, which no interface can have.")
        raise Problem(words % {"address": address, "network": network}, fieldname)


def _check_free(fieldname: str, given: AddressInNetwork, group: GatewayGroup) -> None:
    """Raise Problem if a gateway, a member or another group has the address, or a member can get it."""
    address = given.ip
    for name in OWN_ADDRESSES:
        gateway = Gateway.objects.filter(**{name: address}).first()
        if gateway:
            words = _("%(address)s belongs to %(gateway)s alone. A virtual address moves between the gateways.")
            raise Problem(words % {"address": address, "gateway": gateway}, fieldname, culprit=gateway)
    holding = find_overlapping_holding(ip_network(address))
    if holding:
        text, unnamed = _("%(address)s is held by %(member)s (M-%(number)d)."), _("%(address)s is held by a member.")
        facts = {"address": address, "member": holding.member, "number": holding.member.number}
        raise Problem(text % facts, fieldname, culprit=holding, unnamed=unnamed % facts)
    pool = Pool.objects.filter(prefix__covers=ip_network(address)).first()
    if pool and can_be_assigned(pool, address):
        words = _("Members can get %(address)s from the pool %(pool)s. Keep it free there first.")
        raise Problem(words % {"address": address, "pool": pool}, fieldname, culprit=pool)
    other = None if address.is_link_local else find_failover_with(address, besides=group)
    if other:
        words = _("%(address)s is a virtual address of %(group)s.")
        raise Problem(words % {"address": address, "group": other.group}, fieldname, culprit=other)


def _check_whole(row: Failover, gateways: Iterable[Gateway]) -> None:
    """Raise Problem for whatever else the programs would refuse."""
    spec = build_failover_spec(row)
    for gateway in gateways:
        try:
            check_failover(build_failover_gateway(gateway, spec))
        except PolicyError as error:
            words = _("%(gateway)s cannot use these settings: %(reason)s.")
            raise Problem(words % {"gateway": gateway, "reason": error}, culprit=gateway) from error

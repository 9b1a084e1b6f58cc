"""Refuses values of a group's failover that keepalived or conntrackd would refuse, or that would not do what they say."""

from collections.abc import Iterator
from ipaddress import IPv6Address

from firewall.failover.on_link import MOST_ON_LINK, count_on_link
from firewall.failover.spec import (
    HEALTH,
    INTERVALS,
    MOST_ADDRESSES,
    MOST_POOLS,
    VIRTUAL_ROUTERS,
    FailoverGateway,
    FailoverSpec,
    InterfaceSide,
    derive_election_address,
)
from firewall.names import validate_interface
from firewall.policy import Address, PolicyError


def check_failover(gateway: FailoverGateway) -> None:
    """Raise PolicyError for the first value that keepalived or conntrackd would refuse, or that would not do what it says."""
    for reason in _iter_faults(gateway):
        raise PolicyError(f"failover: {reason}")


def _iter_faults(gateway: FailoverGateway) -> Iterator[str]:
    spec, interfaces = gateway.spec, gateway.interfaces
    for name in (interfaces.lan, interfaces.wan, *filter(None, [interfaces.sync, interfaces.server])):
        validate_interface(name)
    if not interfaces.sync:
        yield "the gateway has no sync interface; connection states and advertisements need a link of their own"
    if not spec.addresses:
        yield "no virtual address; members need one as their gateway"
    if len(spec.addresses) > MOST_ADDRESSES:
        yield f"{len(spec.addresses)} virtual addresses are more than {MOST_ADDRESSES}"
    for name, value, allowed in (
        ("virtual_router", spec.virtual_router, VIRTUAL_ROUTERS),
        ("interval", spec.interval, INTERVALS),
        ("failback", spec.failback, HEALTH),
    ):
        if value is not None and value not in allowed:
            yield f"{name}: {value} is not between {allowed[0]} and {allowed[-1]}"
    yield from _iter_address_faults(gateway)
    yield from _iter_pool_faults(spec)


def _iter_address_faults(gateway: FailoverGateway) -> Iterator[str]:
    seen: set[Address] = {derive_election_address(gateway.spec.virtual_router)} if gateway.spec.virtual_router in VIRTUAL_ROUTERS else set()
    if gateway.sync_address in seen:
        yield f"{gateway.sync_address} is used by the election on the sync interface; give the gateway another address there"
    for virtual in gateway.spec.addresses:
        address = virtual.address
        if not gateway.get_interface(virtual.side):
            yield f"{address}: the gateway has no {virtual.side} interface"
        if not 1 <= virtual.length <= address.max_prefixlen:
            yield f"{address}: a prefix of length {virtual.length} does not exist"
        if address.is_multicast or address.is_unspecified or address.is_loopback or (isinstance(address, IPv6Address) and address.scope_id):
            yield f"{address} cannot be the address of an interface"
        if address == gateway.sync_address or address in seen:
            yield f"{address} occurs twice"
        seen.add(address)
    for family in gateway.spec.list_families():
        if not any(each.side is InterfaceSide.LAN for each in gateway.spec.list_addresses(family)):
            yield f"IPv{family} has no virtual address on the inside; members need one as their gateway"


def _iter_pool_faults(spec: FailoverSpec) -> Iterator[str]:
    if len(spec.pools) > MOST_POOLS:
        yield f"{len(spec.pools)} pools are more than {MOST_POOLS}"
    for number, pool in enumerate(spec.pools):
        if pool.prefixlen == 0:
            yield f"{pool} is not a pool but everything"
        if pool in spec.pools[:number]:
            yield f"pool {pool} occurs twice"
    if (found := count_on_link(spec)) > MOST_ON_LINK:
        yield f"{found} addresses of pools are on the uplink's own link, more than {MOST_ON_LINK}; let the uplink route these pools"

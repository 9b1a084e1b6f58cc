"""Renders keepalived.conf: which gateway carries which family is decided by VRRP version 3 (RFC 9568), keepalived.conf(5).

Each family has two instances, on the inside and on the sync link, in one sync group. keepalived makes a group primary only when every
instance in it misses the peer's advertisements, so one cut cable never makes two primaries. A group gives up its family when the
inside or outside interface has no carrier, when the machine does not forward, and while a file says that it is drained.
"""

from collections.abc import Iterator
from ipaddress import IPv6Address

from firewall.failover.on_link import list_on_link
from firewall.failover.spec import FailoverGateway, InterfaceSide, ProgramPaths, VirtualAddress, derive_election_address
from firewall.policy import Address

PREFERRED, OTHER = 250, 240  # priorities; high ones, because a standby waits (256 - priority) / 256 of an interval before it takes over
_HEAD = """\
# Written by Netzwart. Changes by hand are overwritten; make them in the portal.
global_defs {{
    vrrp_version 3
    enable_script_security
    script_user root
    vrrp_priority -20
    vrrp_no_swap
}}

vrrp_script forwards {{
    script "{programs}/netzwart-failover forwards"
    interval 1
    timeout 10
    fall 3
    rise 2
    init_fail
}}
"""
_GROUP = """
track_file drained{family} {{
    file "{runtime}/drained{family}"
    init_file 0
}}

vrrp_sync_group IPv{family} {{
    group {{
        inside{family}
        sync{family}
    }}
    track_interface {{
        {lan}
        {wan}
    }}
    track_script {{
        forwards
    }}
    track_file {{
        drained{family} weight 0
    }}
    notify_master "{programs}/netzwart-failover role {family} primary"
    notify_backup "{programs}/netzwart-failover role {family} standby"
    notify_fault "{programs}/netzwart-failover role {family} fault"
    notify_stop "{programs}/netzwart-failover role {family} stopped"
}}
"""
_INSTANCE = """
vrrp_instance {name}{family} {{
    state BACKUP
    interface {interface}
    dont_track_primary
    virtual_router_id {router}
    priority {priority}
    advert_int {interval}
    {preemption}
    virtual_ipaddress {{
        {address}
    }}{more}
}}
"""
_MORE = """
    virtual_ipaddress_excluded {{
        {addresses}
    }}"""


# Only a routing program looks into this table: the main one may have another route to the same prefix, towards the members, and a
# routing program sees one of the two.
_ROUTES = """
    virtual_routes {{
        {routes}
    }}"""
ROUTE_TABLE = 179  # below 253, as FRR wants; ip-route(8)


def render_keepalived(gateway: FailoverGateway, paths: ProgramPaths) -> str:
    """Return the whole file."""
    parts = [_HEAD.format(programs=paths.programs)]
    for family in gateway.spec.list_families():
        parts.append(_render_group(gateway, family, paths))
        parts += _iter_instances(gateway, family)
    return "".join(parts)


def _render_group(gateway: FailoverGateway, family: int, paths: ProgramPaths) -> str:
    at = gateway.interfaces
    return _GROUP.format(family=family, lan=at.lan, wan=at.wan, programs=paths.programs, runtime=paths.runtime)


def _iter_instances(gateway: FailoverGateway, family: int) -> Iterator[str]:
    """Yield the family's instances: the inside one holds the virtual addresses, the one on the sync link only an address of its own."""
    first, *others = order_addresses(gateway, family)
    answered = [VirtualAddress(InterfaceSide.WAN, each, 32) for each in list_on_link(gateway.spec)] if family == 4 else []
    more = "\n        ".join(f"{each} dev {gateway.get_interface(each.side)}" for each in (*others, *answered))
    announced = gateway.spec.list_pools(family) if gateway.spec.announce else ()
    routes = "\n        ".join(f"blackhole {pool} table {ROUTE_TABLE} no_track" for pool in announced)
    beside = (_MORE.format(addresses=more) if more else "") + (_ROUTES.format(routes=routes) if routes else "")
    yield _render_instance(gateway, family, "inside", gateway.interfaces.lan, str(first), beside)
    yield _render_instance(gateway, family, "sync", gateway.interfaces.sync, _derive_link_address(family, gateway.spec.virtual_router), "")


def _render_instance(gateway: FailoverGateway, family: int, name: str, interface: str, address: str, more: str) -> str:
    spec = gateway.spec
    return _INSTANCE.format(
        name=name,
        family=family,
        interface=interface,
        router=spec.virtual_router,
        priority=PREFERRED if family in gateway.prefers else OTHER,
        interval=f"{spec.interval / 100:.2f}",
        preemption="nopreempt" if spec.failback is None else f"preempt_delay {spec.failback}",
        address=address,
        more=more,
    )


def order_addresses(gateway: FailoverGateway, family: int) -> tuple[VirtualAddress, ...]:
    """Return the family's virtual addresses, first the one that is advertised.

    For IPv6 that is a link-local one of the inside (RFC 9568, section 5.2.9); where none is given, it follows from the VRID.
    """
    given = gateway.spec.list_addresses(family)
    inside = [each for each in given if each.side is InterfaceSide.LAN]
    if family == 6:
        local = [each for each in inside if each.address.is_link_local]
        inside = local or [VirtualAddress(InterfaceSide.LAN, _derive_link_local(gateway.spec.virtual_router), 64)]
    return (inside[0], *(each for each in given if each != inside[0]))


def _derive_link_local(router: int) -> Address:
    return IPv6Address(f"fe80::{router:x}")


def _derive_link_address(family: int, router: int) -> str:
    """Return the address of the sync instance."""
    return f"{derive_election_address(router)}/32" if family == 4 else f"{_derive_link_local(router)}/64"

"""The values of a group's failover, and what is refused of them.

A family (IPv4, IPv6) with virtual addresses is carried by one gateway at a time; each family has an election of its own, so that two
gateways can share the work. A family without virtual addresses is not elected.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address

from firewall.names import validate_interface
from firewall.policy import Address, Interfaces, PolicyError, Prefix

FAMILIES = (4, 6)
VIRTUAL_ROUTERS = range(1, 256)  # RFC 9568, section 5.2.3
INTERVALS = range(5, 101)  # centiseconds; keepalived needs some for itself, and 100 make a silence of more than 3 s
HEALTH = range(5, 1_001)  # seconds; keepalived's preempt_delay ends at 1000
MOST_ADDRESSES = 64
MOST_POOLS = 256


class GatewaySide(StrEnum):
    """The interface of a gateway that holds a virtual address: the inside, the outside, or the one to the network's servers."""

    LAN = "lan"
    WAN = "wan"
    SERVER = "server"


class StateCache(StrEnum):
    """Where conntrackd keeps the peer's connection states: at once in the kernel, or in its own memory until it takes over."""

    DIRECT = "direct"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class VirtualAddress:
    """An address that the gateway holds that carries its family. length: of its network's prefix."""

    side: GatewaySide
    address: Address
    length: int

    def __str__(self) -> str:
        return f"{self.address}/{self.length}"


@dataclass(frozen=True, slots=True)
class FailoverSpec:
    """A group's failover, the same for all its gateways.

    virtual_router: VRID of both families, on all links (RFC 9568). interval: centiseconds between two advertisements; a gateway takes
    over after three to four of them without one. failback: seconds for which the preferred gateway must have been well before it
    takes its family back; None: a person switches back. pools: prefixes to which the carrier of their family has a route of its own, for
    a routing program to announce.
    """

    addresses: tuple[VirtualAddress, ...]
    virtual_router: int = 1
    interval: int = 20
    failback: int | None = None
    cache: StateCache = StateCache.DIRECT
    pools: tuple[Prefix, ...] = ()

    def list_addresses(self, family: int) -> tuple[VirtualAddress, ...]:
        """Return the family's virtual addresses, in order."""
        return tuple(sorted((each for each in self.addresses if each.address.version == family), key=_sort_key))

    def list_pools(self, family: int) -> tuple[Prefix, ...]:
        """Return the family's pools, in order."""
        return tuple(sorted(each for each in self.pools if each.version == family))

    def list_families(self) -> tuple[int, ...]:
        """Return the families that are elected."""
        return tuple(family for family in FAMILIES if self.list_addresses(family))


def _sort_key(virtual: VirtualAddress) -> tuple[str, Address]:
    return virtual.side, virtual.address


@dataclass(frozen=True, slots=True)
class FailoverGateway:
    """One gateway of the group: its interfaces, its own address on the sync interface, and the families it is preferred for.

    connections: the most that its kernel tracks, for the size of conntrackd's tables.
    """

    interfaces: Interfaces
    sync_address: IPv4Address
    spec: FailoverSpec
    prefers: frozenset[int] = frozenset()
    connections: int = 262_144

    def get_interface(self, side: GatewaySide) -> str:
        """Return the name of this gateway's interface on that side."""
        return str(getattr(self.interfaces, side.value))


@dataclass(frozen=True, slots=True)
class ProgramPaths:
    """Where a gateway's programs and their files are."""

    programs: str = "/usr/sbin"
    keepalived: str = "/etc/keepalived/keepalived.conf"
    conntrackd: str = "/etc/conntrackd/conntrackd.conf"
    settings: str = "/etc/netzwart/failover.conf"
    runtime: str = "/run/netzwart-failover"
    control: str = "/run/conntrackd.ctl"
    lock: str = "/run/lock/conntrackd.lock"

    @classmethod
    def build_for_lab(cls, name: str) -> "ProgramPaths":
        """Return the paths on a gateway of a lab, whose gateways share one file system: all in one directory, which only root may write."""
        at = f"/run/failover-{name}"
        files = {each: f"{at}{getattr(cls(), each)}" for each in ("keepalived", "conntrackd", "settings")}
        return cls(at, **files, runtime=at, control=f"{at}/conntrackd.ctl", lock=f"{at}/conntrackd.lock")


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
    yield from _iter_pool_faults(spec.pools)


def derive_link_address(router: int) -> IPv4Address:
    """Return the address of the IPv4 election on the sync link, which nothing uses: keepalived wants one for each instance."""
    return IPv4Address(f"169.254.{router}.1")


def _iter_address_faults(gateway: FailoverGateway) -> Iterator[str]:
    seen: set[Address] = {derive_link_address(gateway.spec.virtual_router)} if gateway.spec.virtual_router in VIRTUAL_ROUTERS else set()
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
        if not any(each.side is GatewaySide.LAN for each in gateway.spec.list_addresses(family)):
            yield f"IPv{family} has no virtual address on the inside; members need one as their gateway"


def _iter_pool_faults(pools: tuple[Prefix, ...]) -> Iterator[str]:
    if len(pools) > MOST_POOLS:
        yield f"{len(pools)} pools are more than {MOST_POOLS}"
    for number, pool in enumerate(pools):
        if pool.prefixlen == 0:
            yield f"{pool} is not a pool but everything"
        if pool in pools[:number]:
            yield f"pool {pool} occurs twice"

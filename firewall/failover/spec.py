"""The values of a group's failover.

A family (IPv4, IPv6) with virtual addresses is carried by one gateway at a time; each family has an election of its own, so that two
gateways can share the work. A family without virtual addresses is not elected.
"""

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, ip_interface

from firewall.policy import Address, Interfaces, Prefix

FAMILIES = (4, 6)
VIRTUAL_ROUTERS = range(1, 256)  # RFC 9568, section 5.2.3
INTERVALS = range(5, 101)  # centiseconds; keepalived needs some for itself, and 100 make a silence of more than 3 s
HEALTH = range(5, 1_001)  # seconds; keepalived's preempt_delay ends at 1000
MOST_ADDRESSES = 64
MOST_POOLS = 256


class InterfaceSide(StrEnum):
    """The interface of a gateway that holds a virtual address: the inside, the outside, or the one to the network's servers."""

    LAN = "lan"
    WAN = "wan"
    SERVER = "server"


class StateCacheMode(StrEnum):
    """Where conntrackd keeps the peer's connection states: at once in the kernel, or in its own memory until it takes over."""

    DIRECT = "direct"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class VirtualAddress:
    """An address that the gateway holds that carries its family. length: of its network's prefix."""

    side: InterfaceSide
    address: Address
    length: int

    def __str__(self) -> str:
        return f"{self.address}/{self.length}"

    @property
    def network(self) -> Prefix:
        """The prefix of the link that it is on."""
        return ip_interface(str(self)).network


@dataclass(frozen=True, slots=True)
class FailoverSpec:
    """A group's failover, the same for all its gateways.

    virtual_router: VRID of both families, on all links (RFC 9568). interval: centiseconds between two advertisements; a gateway takes
    over after three to four of them without one. failback: seconds for which the preferred gateway must have been well before it
    takes its family back; None: a person switches back. pools: prefixes of members' public addresses. announce: the carrier of a family
    has a route of its own to each of them, for a routing program to announce.
    """

    addresses: tuple[VirtualAddress, ...]
    virtual_router: int = 1
    interval: int = 20
    failback: int | None = None
    cache: StateCacheMode = StateCacheMode.DIRECT
    pools: tuple[Prefix, ...] = ()
    announce: bool = False

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

    def get_interface(self, side: InterfaceSide) -> str:
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


def derive_election_address(router: int) -> IPv4Address:
    """Return the address of the IPv4 election on the sync link, which nothing uses: keepalived wants one for each instance."""
    return IPv4Address(f"169.254.{router}.1")

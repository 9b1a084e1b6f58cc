"""What goes into the compiler: frozen, typed values of what people asked for.

Addresses are `ipaddress` values, ports integers, times whole seconds since 1970 (UTC). Nothing here knows
nftables, the database, or the time of day. `Policy` checks what no constraint outside can promise.
"""

from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import NamedTuple, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Prefix: TypeAlias = IPv4Network | IPv6Network


class PolicyError(ValueError):
    """A policy that must not be compiled. The message names the culprit and says what to do."""


class Protocol(StrEnum):
    """Transport protocols that have ports."""

    TCP = "tcp"
    UDP = "udp"


@dataclass(frozen=True, slots=True)
class Interfaces:
    """The names of one gateway's interfaces. `sync` carries the connection states to the peer and may be missing ("")."""

    lan: str
    wan: str
    management: str
    sync: str = ""


@dataclass(frozen=True, slots=True)
class Management:
    """Who may reach the gateway itself: these sources, on the management interface, at one TCP port."""

    sources: tuple[Prefix, ...]
    port: int = 22


@dataclass(frozen=True, slots=True)
class Probe:
    """From where a gateway is probed: hosts of its own behind `interface`, whose packets it forwards like a member's.

    source4 is private and leaves as public4, which is routed to this gateway alone; source6 is routed to it alone too.
    A family without a source is not probed. The policy's mappings hold source4 and public4 as well, for all gateways of a
    group, so that these share their elements.
    """

    interface: str
    source4: IPv4Address | None = None
    public4: IPv4Address | None = None
    source6: IPv6Address | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a group's gateways do for all members alike.

    clamp_mss: lower the maximum segment size in TCP's SYN to what the way out takes, for uplinks with a small MTU such as PPPoE.
    flood_mode: drop every packet of a banned source that comes in by the uplink, before connection tracking sees it.
    publics: what leads to members and nowhere else; whoever calls a port of it from inside that is not forwarded is refused at once.
    """

    clamp_mss: bool = False
    flood_mode: bool = False
    publics: tuple[IPv4Network, ...] = ()


@dataclass(frozen=True, slots=True)
class Gateway:
    """One gateway: its own interfaces, management and probe, and what its group has set."""

    name: str
    interfaces: Interfaces
    management: Management
    probe: Probe | None = None
    settings: Settings = Settings()


class Sharing(StrEnum):
    """How members use the public addresses of a pool: each his own, all together, or together with a block of ports for each."""

    OWN = "own"
    SHARED = "shared"
    BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class NatMapping:
    """A private address leaves the network as a public one (source NAT).

    first_port, last_port: with blocks, the ports of TCP and UDP and the identifiers of ICMP that it leaves with, both among them.
    """

    private: IPv4Address
    public: IPv4Address
    sharing: Sharing = Sharing.SHARED
    first_port: int = 0
    last_port: int = 0


@dataclass(frozen=True, slots=True)
class Forward:
    """Ports of a public address that lead to a member's host (destination NAT): so many from public_port on, each to the one from
    private_port on that lies as far behind it.
    """

    id: int
    protocol: Protocol
    public: IPv4Address
    public_port: int
    private: IPv4Address
    private_port: int
    ports: int = 1


class Hole(NamedTuple):
    """What is open of a member's IPv6 address: `ports` ports of a protocol from `port` on, all of its ports (port 0), or everything
    (no protocol).
    """

    address: IPv6Address
    protocol: Protocol | None = None
    port: int = 0
    ports: int = 1


@dataclass(frozen=True, slots=True)
class Pinhole:
    """Anybody may connect to what is open of a member's IPv6 address."""

    id: int
    hole: Hole


class Direction(StrEnum):
    """Whose connections with a banned prefix are dropped: those that come from there, those that go there, or both."""

    IN = "in"
    OUT = "out"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Ban:
    """A foreign address or prefix that nobody in the network talks to. `expires` 0 means never; its text is for people."""

    id: int
    prefix: Prefix
    comment: str = ""
    expires: int = 0
    direction: Direction = Direction.BOTH


@dataclass(frozen=True, slots=True)
class Allowed:
    """A foreign address or prefix that no ban concerns, whichever is wider. `expires` 0 means never; its text is for people."""

    id: int
    prefix: Prefix
    comment: str = ""
    expires: int = 0


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything one gateway needs to know, in no particular order.

    addresses: private IPv4 addresses that active members hold; prefixes: their IPv6 prefixes.
    """

    gateway: Gateway
    addresses: tuple[IPv4Address, ...] = ()
    prefixes: tuple[IPv6Network, ...] = ()
    mappings: tuple[NatMapping, ...] = ()
    forwards: tuple[Forward, ...] = ()
    pinholes: tuple[Pinhole, ...] = ()
    bans: tuple[Ban, ...] = ()
    allowed: tuple[Allowed, ...] = ()


Port: TypeAlias = tuple[Protocol, IPv4Address, int]


@dataclass(frozen=True, slots=True)
class Keys:
    """Which objects a change touched, by what they are found under; whether they exist is another question.

    addresses: private addresses, with their NAT mappings; ports: the public side of forwards; bans: banned prefixes; holes: what
    pinholes open; allowed: allowed prefixes.
    """

    addresses: Set[IPv4Address] = frozenset()
    prefixes: Set[IPv6Network] = frozenset()
    ports: Set[Port] = frozenset()
    bans: Set[Prefix] = frozenset()
    holes: Set[Hole] = frozenset()
    allowed: Set[Prefix] = frozenset()

    def __bool__(self) -> bool:
        """Was anything touched?"""
        return any((self.addresses, self.prefixes, self.ports, self.bans, self.holes, self.allowed))


def keys_of(policy: Policy) -> Keys:
    """What the policy's objects are found under."""
    return Keys(
        {*policy.addresses, *(mapping.private for mapping in policy.mappings)},
        set(policy.prefixes),
        {(each.protocol, each.public, port) for each in policy.forwards for port in range(each.public_port, each.public_port + each.ports)},
        {ban.prefix for ban in policy.bans},
        {each.hole for each in policy.pinholes},
        {entry.prefix for entry in policy.allowed},
    )

"""The compiler's input: frozen, typed values of what the database asks for.

Addresses are `ipaddress` values, ports integers, times whole seconds since 1970 (UTC). Nothing here knows nftables, the database,
or the time of day. The values check nothing themselves; the compiler refuses what no constraint outside can rule out.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import NamedTuple, TypeAlias, TypeVar

Address: TypeAlias = IPv4Address | IPv6Address
Prefix: TypeAlias = IPv4Network | IPv6Network


class PolicyError(ValueError):
    """A policy that must not be compiled. The message names the culprit and says what to do."""


class TransportProtocol(StrEnum):
    """Transport protocols that have ports."""

    TCP = "tcp"
    UDP = "udp"


@dataclass(frozen=True, slots=True)
class Interfaces:
    """The names of one gateway's interfaces.

    sync: carries the connection states to the peer; "" when there is none. server: leads to the network's own servers; "" when they
    stand among the members, behind `lan`.
    """

    lan: str
    wan: str
    management: str
    sync: str = ""
    server: str = ""


@dataclass(frozen=True, slots=True)
class Management:
    """Access to the gateway itself: from these sources, on the management interface, to one TCP port."""

    sources: tuple[Prefix, ...]
    port: int = 22


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    """The addresses of a gateway's probe: hosts of its own behind `interface`, whose packets the gateway forwards like a member's.

    source4 is private and leaves as public4, which is routed to this gateway alone; source6 is routed to it alone too. An address
    family without a source is not probed. The policy's mappings hold source4 and public4 as well, for all gateways of a group, so
    that these share their elements.
    """

    interface: str
    source4: IPv4Address | None = None
    public4: IPv4Address | None = None
    source6: IPv6Address | None = None


@dataclass(frozen=True, slots=True)
class ResponderSpec:
    """A host outside that connects back to the gateways' probes, so that packets show whether connections from outside come in.

    It comes from these addresses, to this TCP port of the probe's address, and is let in nowhere else.
    """

    port: int
    address4: IPv4Address | None = None
    address6: IPv6Address | None = None


class RoutingProtocol(StrEnum):
    """Routing protocols that neighbours of a gateway may speak to it."""

    BGP = "bgp"
    OSPF = "ospf"


@dataclass(frozen=True, slots=True)
class RoutingPeer:
    """A router on the inside or outside interface that may speak this protocol to the gateway itself."""

    address: Address
    routing: RoutingProtocol


@dataclass(frozen=True, slots=True)
class ProtectionSpec:
    """A group's protection: what its gateways refuse and let in besides the members' traffic.

    bogons: nothing passes the uplink from or to special-purpose addresses (RFC 6890), except for the `own` prefixes: those that the
    network, its uplink or the networks behind the uplink really use. ftp_ports (TCP), sip_ports (UDP): ports at which the kernel
    reads members' connections to the outside, so that what they negotiate (a data connection, a call) passes NAT and is let in.
    """

    bogons: bool = False
    own: tuple[Prefix, ...] = ()
    peers: tuple[RoutingPeer, ...] = ()
    ftp_ports: tuple[int, ...] = ()
    sip_ports: tuple[int, ...] = ()


LEAST_SAMPLED = 1_000
"""The lowest limit of open connections that is counted by sampling: one of 16 of fewer connections would say too little."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits on the connections that one member or one foreign host opens; 0 means no limit.

    member_*: for a member, by each address or prefix held; source_*: for a foreign address, or /64 of IPv6. *_rate: new connections
    a second, with bursts of *_burst; *_open: connections open at the same time. mail_rate: a member's new connections to TCP port
    25 outside, a minute. refuses: reject what is over a limit instead of dropping it. exempt: prefixes that no limit concerns,
    members' or foreign. sampled: one of 16 open connections is counted, so that a limit of open connections holds within about a
    quarter; limits below LEAST_SAMPLED are exact all the same.
    """

    member_rate: int = 0
    member_burst: int = 100
    member_open: int = 0
    source_rate: int = 0
    source_burst: int = 100
    source_open: int = 0
    mail_rate: int = 0
    refuses: bool = False
    exempt: tuple[Prefix, ...] = ()
    sampled: bool = False


@dataclass(frozen=True, slots=True)
class ReachableService:
    """One port of one host that blocked members still reach, such as the portal or a name server."""

    address: Address
    protocol: TransportProtocol
    port: int


@dataclass(frozen=True, slots=True)
class NoticeSpec:
    """The notice page and the services that a blocked member gets instead of the internet.

    ipv4, ipv6: the host behind the server interface that answers the member's HTTP requests, at TCP `port`; in an address family
    without one they are refused.
    """

    ipv4: IPv4Address | None = None
    ipv6: IPv6Address | None = None
    port: int = 80
    reachable: tuple[ReachableService, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """A gateway's kernel settings: its connection table, and the ports of its own connections. Times in seconds.

    connections: the most that are tracked at once; buckets: size of the table's hash. tcp_*, udp*, icmp, generic: how long a
    connection in that state stays without a packet; udp holds until packets have gone both ways for a while, udp_stream from then
    on; generic is for protocols without a timeout of their own. tcp_loose: a TCP connection that is under way already is picked up.
    first_port, last_port: the range of ports from which the gateway itself connects. Without a profile the kernel is left as it is.
    firewall/profile.py has the limits.
    """

    connections: int = 524_288
    buckets: int = 524_288
    tcp_established: int = 7_440
    tcp_syn_sent: int = 60
    tcp_fin_wait: int = 120
    tcp_close_wait: int = 60
    tcp_time_wait: int = 60
    udp: int = 30
    udp_stream: int = 300
    icmp: int = 60
    generic: int = 600
    tcp_loose: bool = True
    first_port: int = 32_768
    last_port: int = 60_999


class Framing(StrEnum):
    """Ways in which an uplink's line packs packets, so that a packet takes more octets there. RAW: as many as the kernel counts."""

    RAW = "raw"
    ETHERNET = "ethernet"
    DOCSIS = "docsis"
    PTM = "ptm"
    PPPOE_PTM = "pppoe-ptm"
    PPPOE_ATM = "pppoe-atm"


@dataclass(frozen=True, slots=True)
class Shaping:
    """Rates in kbit/s that an uplink's queues keep to, each member with the same share. 0: this direction has no queue of ours.

    firewall/shaper.py has the limits.
    """

    up: int
    down: int
    framing: Framing = Framing.RAW


@dataclass(frozen=True, slots=True)
class GatewayGroupSettings:
    """Settings that a group's gateways apply to all members alike.

    clamp_mss: lower the maximum segment size in TCP's SYN to what the route's MTU takes, for uplinks with a small MTU such as
    PPPoE. flood_mode: drop every packet of a banned source that comes in by the uplink, before connection tracking sees it.
    publics: prefixes that lead to members and nowhere else; a connection from inside to a port of them that is not forwarded is
    refused at once. profile: kernel settings; None leaves the kernel as it is. rates_off: no member's rate is limited, whatever the
    policy's rate limits are. responder: who connects to the gateways' probes from outside, if anybody. shaping: None leaves the uplink's
    queue as it is.
    """

    clamp_mss: bool = False
    flood_mode: bool = False
    publics: tuple[IPv4Network, ...] = ()
    protection: ProtectionSpec = ProtectionSpec()
    limits: ConnectionLimits = ConnectionLimits()
    notice: NoticeSpec = NoticeSpec()
    profile: Profile | None = None
    rates_off: bool = False
    responder: ResponderSpec | None = None
    shaping: Shaping | None = None


@dataclass(frozen=True, slots=True)
class GatewaySpec:
    """One gateway: its own interfaces, management and probe, and its group's settings."""

    name: str
    interfaces: Interfaces
    management: Management
    probe: ProbeSpec | None = None
    settings: GatewayGroupSettings = GatewayGroupSettings()


class SharingMode(StrEnum):
    """Ways in which members use a pool's public addresses: one each, all together, or together with a block of ports for each."""

    OWN = "own"
    SHARED = "shared"
    BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class NatMappingSpec:
    """A NAT mapping: the public address as which a private one leaves the network (source NAT).

    first_port, last_port: with blocks, the range (both included) of TCP and UDP ports and of ICMP identifiers that it leaves with.
    """

    private: IPv4Address
    public: IPv4Address
    sharing: SharingMode = SharingMode.SHARED
    first_port: int = 0
    last_port: int = 0


@dataclass(frozen=True, slots=True)
class ForwardSpec:
    """A port forward: ports of a public address that lead to a member's host (destination NAT).

    It has `ports` ports from public_port on; each leads to the port that lies as far behind private_port.
    """

    id: int
    protocol: TransportProtocol
    public: IPv4Address
    public_port: int
    private: IPv4Address
    private_port: int
    ports: int = 1


class Hole(NamedTuple):
    """An opening of a member's IPv6 address: `ports` ports of a protocol from `port` on, all of its ports (port 0), or everything
    (no protocol).
    """

    address: IPv6Address
    protocol: TransportProtocol | None = None
    port: int = 0
    ports: int = 1


@dataclass(frozen=True, slots=True)
class PinholeSpec:
    """A pinhole: an opening of a member's IPv6 address that the internet and other members may connect to."""

    id: int
    hole: Hole


class BanDirection(StrEnum):
    """Connections that a ban drops: those from the banned prefix, those to it, or both."""

    IN = "in"
    OUT = "out"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class BanSpec:
    """A foreign address or prefix that is banned. `expires` 0 means never; `comment` is a text for people."""

    id: int
    prefix: Prefix
    comment: str = ""
    expires: int = 0
    direction: BanDirection = BanDirection.BOTH


@dataclass(frozen=True, slots=True)
class AllowEntrySpec:
    """A foreign address or prefix that no ban affects, whichever of the two is wider. `expires` 0 means never; `comment` is a text
    for people.
    """

    id: int
    prefix: Prefix
    comment: str = ""
    expires: int = 0


@dataclass(frozen=True, slots=True)
class BlockedMemberSpec:
    """An address or prefix of a blocked member: `id` is the block's. `expires` 0 means until the block is lifted."""

    id: int
    prefix: Prefix
    expires: int = 0


@dataclass(frozen=True, slots=True)
class RateLimitSpec:
    """The rates to which a member's address or prefix is limited at the uplink: octets a second, 0 for no limit.

    up: from the member; down: to the member. `id` is that of the tariff, or of the row that limits the member now. `expires` 0
    means until the limit is lifted.
    """

    id: int
    prefix: Prefix
    up: int = 0
    down: int = 0
    expires: int = 0


@dataclass(frozen=True, slots=True)
class ServerListenerSpec:
    """A port of one of the network's own servers. Its packets pass without connection tracking, both ways.

    window_scale: of a guarded service, which must be TCP, the shift that the server itself offers (RFC 7323, 2.2), 0 to 14.
    Gateways answer its SYNs in the server's stead and track what follows. None: it is not guarded.
    """

    id: int
    address: Address
    protocol: TransportProtocol
    port: int
    name: str = ""
    window_scale: int | None = None


class PrefixOwner(NamedTuple):
    """The holding that an address or prefix belongs to now, and that its traffic is counted for."""

    prefix: IPv4Address | IPv6Network
    holding: int


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything one gateway needs to know, in no particular order.

    addresses: private IPv4 addresses that active members hold; prefixes: their IPv6 prefixes; owners: the holdings of both.
    tariff_rates: rates of the members' tariffs; rate_limits: limits that hold for a time. Both apply, so the lower one counts.
    """

    gateway: GatewaySpec
    addresses: tuple[IPv4Address, ...] = ()
    prefixes: tuple[IPv6Network, ...] = ()
    mappings: tuple[NatMappingSpec, ...] = ()
    forwards: tuple[ForwardSpec, ...] = ()
    pinholes: tuple[PinholeSpec, ...] = ()
    bans: tuple[BanSpec, ...] = ()
    allowed: tuple[AllowEntrySpec, ...] = ()
    blocks: tuple[BlockedMemberSpec, ...] = ()
    listeners: tuple[ServerListenerSpec, ...] = ()
    owners: tuple[PrefixOwner, ...] = ()
    tariff_rates: tuple[RateLimitSpec, ...] = ()
    rate_limits: tuple[RateLimitSpec, ...] = ()


T = TypeVar("T")  # Python 3.11 has no syntax for type parameters
Port: TypeAlias = tuple[TransportProtocol, IPv4Address, int]
Service: TypeAlias = tuple[TransportProtocol, Address, int]


@dataclass(frozen=True, slots=True)
class TouchedKeys:
    """Keys of the objects that a change touched, whether or not these objects exist.

    addresses: private addresses, with their owners, NAT mappings, blocks and rate limits; prefixes: likewise; ports: the public
    side of forwards; bans: banned prefixes; holes: what pinholes open; allowed: allowed prefixes; listeners: where servers listen.
    """

    addresses: Set[IPv4Address] = frozenset()
    prefixes: Set[IPv6Network] = frozenset()
    ports: Set[Port] = frozenset()
    bans: Set[Prefix] = frozenset()
    holes: Set[Hole] = frozenset()
    allowed: Set[Prefix] = frozenset()
    listeners: Set[Service] = frozenset()

    def __bool__(self) -> bool:
        """True if anything was touched."""
        return any((self.addresses, self.prefixes, self.ports, self.bans, self.holes, self.allowed, self.listeners))


def collect_keys(policy: Policy) -> TouchedKeys:
    """Return the keys of all objects of the policy."""
    held: tuple[BlockedMemberSpec | RateLimitSpec, ...] = (*policy.blocks, *policy.tariff_rates, *policy.rate_limits)
    return TouchedKeys(
        {
            *policy.addresses,
            *(mapping.private for mapping in policy.mappings),
            *_iter_addresses(held),
            *_iter_prefixes(IPv4Address, policy.owners),
        },
        {*policy.prefixes, *_iter_prefixes(IPv6Network, held), *_iter_prefixes(IPv6Network, policy.owners)},
        {(each.protocol, each.public, port) for each in policy.forwards for port in range(each.public_port, each.public_port + each.ports)},
        {ban.prefix for ban in policy.bans},
        {each.hole for each in policy.pinholes},
        {entry.prefix for entry in policy.allowed},
        {(listener.protocol, listener.address, listener.port) for listener in policy.listeners},
    )


def _iter_prefixes(kind: type[T], held: Iterable[BlockedMemberSpec | RateLimitSpec | PrefixOwner]) -> Iterator[T]:
    return (each.prefix for each in held if isinstance(each.prefix, kind))


def _iter_addresses(held: Iterable[BlockedMemberSpec | RateLimitSpec]) -> Iterator[IPv4Address]:
    return (each.prefix.network_address for each in held if isinstance(each.prefix, IPv4Network))

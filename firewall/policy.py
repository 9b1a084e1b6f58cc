"""What goes into the compiler: frozen, typed values of what people asked for.

Addresses are `ipaddress` values, ports integers, times whole seconds since 1970 (UTC). Nothing here knows
nftables, the database, or the time of day. `Policy` checks what no constraint outside can promise.
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
    """The names of one gateway's interfaces. `sync` carries the connection states to the peer and may be missing ("").

    server: behind it are the network's own servers; "" when they stand among the members, behind `lan`.
    """

    lan: str
    wan: str
    management: str
    sync: str = ""
    server: str = ""


@dataclass(frozen=True, slots=True)
class Management:
    """Who may reach the gateway itself: these sources, on the management interface, at one TCP port."""

    sources: tuple[Prefix, ...]
    port: int = 22


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    """From where a gateway is probed: hosts of its own behind `interface`, whose packets it forwards like a member's.

    source4 is private and leaves as public4, which is routed to this gateway alone; source6 is routed to it alone too.
    A family without a source is not probed. The policy's mappings hold source4 and public4 as well, for all gateways of a
    group, so that these share their elements.
    """

    interface: str
    source4: IPv4Address | None = None
    public4: IPv4Address | None = None
    source6: IPv6Address | None = None


class Routing(StrEnum):
    """Routing protocols that neighbours of a gateway may speak to it."""

    BGP = "bgp"
    OSPF = "ospf"


@dataclass(frozen=True, slots=True)
class Peer:
    """A router on the inside or outside interface that may speak this protocol to the gateway itself."""

    address: Address
    routing: Routing


@dataclass(frozen=True, slots=True)
class ProtectionSpec:
    """What gateways refuse and let in beyond the members' traffic.

    bogons: nothing from or to special-purpose addresses (RFC 6890) through the uplink, but for the `own` prefixes: those that the
    network, its uplink or what lies behind that really use. ftp_ports (TCP), sip_ports (UDP): where members' connections to the
    outside are read along, so that what they agree on there (a data connection, a call) passes NAT and is let in.
    """

    bogons: bool = False
    own: tuple[Prefix, ...] = ()
    peers: tuple[Peer, ...] = ()
    ftp_ports: tuple[int, ...] = ()
    sip_ports: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many new connections one may open; 0: as many as he likes.

    member_*: a member, by the address or prefix that he holds; source_*: a foreign address, or /64 of IPv6. *_rate: a second,
    *_burst of them at once; *_open: at the same time. mail_rate: a member's to TCP port 25 outside, a minute. refuses: what is
    over is told so, not dropped in silence. exempt: prefixes that no limit concerns, members' or foreign.
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


@dataclass(frozen=True, slots=True)
class ReachableService:
    """One port of one host that blocked members still reach, such as the portal or a name server."""

    address: Address
    protocol: TransportProtocol
    port: int


@dataclass(frozen=True, slots=True)
class NoticeSpec:
    """What a blocked member gets instead of the internet.

    ipv4, ipv6: the host on the server side that answers his HTTP, at TCP `port`; a family without one gets refusals.
    """

    ipv4: IPv4Address | None = None
    ipv6: IPv6Address | None = None
    port: int = 80
    reachable: tuple[ReachableService, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """What a gateway's kernel is set to: its connection table, and the ports of its own connections. Seconds, unless said otherwise.

    connections: the most that are tracked at once; buckets: of the table's hash. tcp_*, udp*, icmp, generic: how long a connection in
    that state stays without a packet; udp: until packets have gone both ways for a while (udp_stream from then on); generic: of
    protocols that have no timeout of their own. tcp_loose: a TCP connection that is under way already is taken up. first_port, last_port:
    from which ports the gateway itself connects. Without a profile the kernel is left as it is. firewall/profile.py has the limits.
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


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """What a group's gateways do for all members alike.

    clamp_mss: lower the maximum segment size in TCP's SYN to what the way out takes, for uplinks with a small MTU such as PPPoE.
    flood_mode: drop every packet of a banned source that comes in by the uplink, before connection tracking sees it.
    publics: what leads to members and nowhere else; whoever calls a port of it from inside that is not forwarded is refused at once.
    profile: what their kernels are set to; None: as they are.
    rates_off: nobody's rate is limited, whatever the policy's rate limits are.
    """

    clamp_mss: bool = False
    flood_mode: bool = False
    publics: tuple[IPv4Network, ...] = ()
    protection: ProtectionSpec = ProtectionSpec()
    limits: ConnectionLimits = ConnectionLimits()
    notice: NoticeSpec = NoticeSpec()
    profile: Profile | None = None
    rates_off: bool = False


@dataclass(frozen=True, slots=True)
class GatewaySpec:
    """One gateway: its own interfaces, management and probe, and what its group has set."""

    name: str
    interfaces: Interfaces
    management: Management
    probe: ProbeSpec | None = None
    settings: GroupSettings = GroupSettings()


class SharingMode(StrEnum):
    """How members use the public addresses of a pool: each his own, all together, or together with a block of ports for each."""

    OWN = "own"
    SHARED = "shared"
    BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class NatMappingSpec:
    """A private address leaves the network as a public one (source NAT).

    first_port, last_port: with blocks, the ports of TCP and UDP and the identifiers of ICMP that it leaves with, both among them.
    """

    private: IPv4Address
    public: IPv4Address
    sharing: SharingMode = SharingMode.SHARED
    first_port: int = 0
    last_port: int = 0


@dataclass(frozen=True, slots=True)
class ForwardSpec:
    """Ports of a public address that lead to a member's host (destination NAT): so many from public_port on, each to the one from
    private_port on that lies as far behind it.
    """

    id: int
    protocol: TransportProtocol
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
    protocol: TransportProtocol | None = None
    port: int = 0
    ports: int = 1


@dataclass(frozen=True, slots=True)
class PinholeSpec:
    """Anybody may connect to what is open of a member's IPv6 address."""

    id: int
    hole: Hole


class BanDirection(StrEnum):
    """Whose connections with a banned prefix are dropped: those that come from there, those that go there, or both."""

    IN = "in"
    OUT = "out"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class BanSpec:
    """A foreign address or prefix that nobody in the network talks to. `expires` 0 means never; its text is for people."""

    id: int
    prefix: Prefix
    comment: str = ""
    expires: int = 0
    direction: BanDirection = BanDirection.BOTH


@dataclass(frozen=True, slots=True)
class AllowEntrySpec:
    """A foreign address or prefix that no ban concerns, whichever is wider. `expires` 0 means never; its text is for people."""

    id: int
    prefix: Prefix
    comment: str = ""
    expires: int = 0


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """An address or prefix of a member who is blocked: `id` is the block's. `expires` 0 means until somebody lifts it."""

    id: int
    prefix: Prefix
    expires: int = 0


@dataclass(frozen=True, slots=True)
class RateLimitSpec:
    """An address or prefix of a member through whom no more than this goes by the uplink: octets a second, 0 for as much as he likes.

    up: what he sends; down: what he gets. `id` is that of the tariff, or of the row that limits him now. `expires` 0 means until
    somebody releases him.
    """

    id: int
    prefix: Prefix
    up: int = 0
    down: int = 0
    expires: int = 0


@dataclass(frozen=True, slots=True)
class ListenerSpec:
    """A port of one of the network's own servers. Its packets pass without connection tracking, both ways.

    window_scale: of a guarded one, which TCP alone can be: the shift that the server itself offers (RFC 7323, 2.2), 0 to 14. Gateways
    answer its SYNs in its stead and track the rest. None: it is not guarded.
    """

    id: int
    address: Address
    protocol: TransportProtocol
    port: int
    name: str = ""
    window_scale: int | None = None


class Owner(NamedTuple):
    """Which holding an address or prefix belongs to now, so that what is counted is counted for it."""

    prefix: IPv4Address | IPv6Network
    holding: int


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything one gateway needs to know, in no particular order.

    addresses: private IPv4 addresses that active members hold; prefixes: their IPv6 prefixes. owners: of these. tariff_rates: what
    their tariffs let through; rate_limits: who is limited now, for a time. Both hold, so the lower one counts.
    """

    gateway: GatewaySpec
    addresses: tuple[IPv4Address, ...] = ()
    prefixes: tuple[IPv6Network, ...] = ()
    mappings: tuple[NatMappingSpec, ...] = ()
    forwards: tuple[ForwardSpec, ...] = ()
    pinholes: tuple[PinholeSpec, ...] = ()
    bans: tuple[BanSpec, ...] = ()
    allowed: tuple[AllowEntrySpec, ...] = ()
    blocks: tuple[BlockSpec, ...] = ()
    listeners: tuple[ListenerSpec, ...] = ()
    owners: tuple[Owner, ...] = ()
    tariff_rates: tuple[RateLimitSpec, ...] = ()
    rate_limits: tuple[RateLimitSpec, ...] = ()


T = TypeVar("T")  # Python 3.11 has no other way
Port: TypeAlias = tuple[TransportProtocol, IPv4Address, int]
Service: TypeAlias = tuple[TransportProtocol, Address, int]


@dataclass(frozen=True, slots=True)
class PolicyKeys:
    """Which objects a change touched, by what they are found under; whether they exist is another question.

    addresses: private addresses, with their owners, NAT mappings, blocks and rate limits; prefixes: likewise; ports: the public side of
    forwards; bans: banned prefixes; holes: what pinholes open; allowed: allowed prefixes; listeners: where servers listen.
    """

    addresses: Set[IPv4Address] = frozenset()
    prefixes: Set[IPv6Network] = frozenset()
    ports: Set[Port] = frozenset()
    bans: Set[Prefix] = frozenset()
    holes: Set[Hole] = frozenset()
    allowed: Set[Prefix] = frozenset()
    listeners: Set[Service] = frozenset()

    def __bool__(self) -> bool:
        """Was anything touched?"""
        return any((self.addresses, self.prefixes, self.ports, self.bans, self.holes, self.allowed, self.listeners))


def collect_keys(policy: Policy) -> PolicyKeys:
    """What the policy's objects are found under."""
    held: tuple[BlockSpec | RateLimitSpec, ...] = (*policy.blocks, *policy.tariff_rates, *policy.rate_limits)
    return PolicyKeys(
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


def _iter_prefixes(kind: type[T], held: Iterable[BlockSpec | RateLimitSpec | Owner]) -> Iterator[T]:
    return (each.prefix for each in held if isinstance(each.prefix, kind))


def _iter_addresses(held: Iterable[BlockSpec | RateLimitSpec]) -> Iterator[IPv4Address]:
    return (each.prefix.network_address for each in held if isinstance(each.prefix, IPv4Network))

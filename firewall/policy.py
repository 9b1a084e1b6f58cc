"""What goes into the compiler: frozen, typed values of what people asked for.

Addresses are `ipaddress` values, ports integers, times whole seconds since 1970 (UTC). Nothing here knows
nftables, the database, or the time of day. `Policy` checks what no constraint outside can promise.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TypeAlias

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
class Reachable:
    """One port of one host that blocked members still reach, such as the portal or a name server."""

    address: Address
    protocol: Protocol
    port: int


@dataclass(frozen=True, slots=True)
class Notice:
    """What a blocked member gets instead of the internet.

    ipv4, ipv6: the host on the server side that answers his HTTP, at TCP `port`; a family without one gets refusals.
    """

    ipv4: IPv4Address | None = None
    ipv6: IPv6Address | None = None
    port: int = 80
    reachable: tuple[Reachable, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """What a group's gateways do for all members alike.

    clamp_mss: lower the maximum segment size in TCP's SYN to what the way out takes, for uplinks with a small MTU such as PPPoE.
    """

    clamp_mss: bool = False
    notice: Notice = Notice()


@dataclass(frozen=True, slots=True)
class Gateway:
    """One gateway: its own interfaces, management and probe, and what its group has set."""

    name: str
    interfaces: Interfaces
    management: Management
    probe: Probe | None = None
    settings: Settings = Settings()


@dataclass(frozen=True, slots=True)
class NatMapping:
    """A private address leaves the network as a public one (source NAT)."""

    private: IPv4Address
    public: IPv4Address


@dataclass(frozen=True, slots=True)
class Forward:
    """A port of a public address that leads to a member's host (destination NAT)."""

    id: int
    protocol: Protocol
    public: IPv4Address
    public_port: int
    private: IPv4Address
    private_port: int


@dataclass(frozen=True, slots=True)
class Ban:
    """A foreign address or prefix that nobody in the network talks to. `expires` 0 means never; its text is for people."""

    id: int
    prefix: Prefix
    comment: str = ""
    expires: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """An address or prefix of a member who is blocked: `id` is the block's. `expires` 0 means until somebody lifts it."""

    id: int
    prefix: Prefix
    expires: int = 0


@dataclass(frozen=True, slots=True)
class Listener:
    """A port of one of the network's own servers. Its packets pass without connection tracking, both ways."""

    id: int
    address: Address
    protocol: Protocol
    port: int
    name: str = ""


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
    bans: tuple[Ban, ...] = ()
    blocks: tuple[Block, ...] = ()
    listeners: tuple[Listener, ...] = ()


Port: TypeAlias = tuple[Protocol, IPv4Address, int]
Service: TypeAlias = tuple[Protocol, Address, int]


@dataclass(frozen=True, slots=True)
class Keys:
    """Which objects a change touched, by what they are found under; whether they exist is another question.

    addresses: private addresses, with their NAT mappings and blocks; prefixes: likewise; ports: the public side of forwards;
    bans: banned prefixes; listeners: where servers listen.
    """

    addresses: Set[IPv4Address] = frozenset()
    prefixes: Set[IPv6Network] = frozenset()
    ports: Set[Port] = frozenset()
    bans: Set[Prefix] = frozenset()
    listeners: Set[Service] = frozenset()

    def __bool__(self) -> bool:
        """Was anything touched?"""
        return bool(self.addresses or self.prefixes or self.ports or self.bans or self.listeners)


def keys_of(policy: Policy) -> Keys:
    """What the policy's objects are found under."""
    return Keys(
        {*policy.addresses, *(mapping.private for mapping in policy.mappings), *_addresses_of(policy.blocks)},
        {*policy.prefixes, *(block.prefix for block in policy.blocks if isinstance(block.prefix, IPv6Network))},
        {(forward.protocol, forward.public, forward.public_port) for forward in policy.forwards},
        {ban.prefix for ban in policy.bans},
        {(listener.protocol, listener.address, listener.port) for listener in policy.listeners},
    )


def _addresses_of(blocks: Iterable[Block]) -> Iterator[IPv4Address]:
    return (block.prefix.network_address for block in blocks if isinstance(block.prefix, IPv4Network))

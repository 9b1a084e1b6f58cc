"""Messages about a gateway's health: what its kernel has counted since boot, and levels at this moment.

They are part of the messages of firewall/wire.py. The agent only reads; rates and judgement are the portal's work.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, NamedTuple, TypeAlias

from firewall.policy import Address

Count: TypeAlias = Annotated[int, range(1 << 64)]  # the kernel's widest counters are unsigned

MOST_CORES = 1024
MOST_LINKS = 256
MOST_QUEUES = 64
"""Receive queues of one card whose counters are told."""
LOOPBACK = "lo"
"""Name of the interface whose addresses are also told, as unnumbered interfaces borrow them."""


class KernelCounter(StrEnum):
    """Counters of the whole network stack. The value is the name in the kernel's own tables.

    conntrack: nfnetlink_conntrack.h (CTA_STATS_*), summed over all cores; the others: RFC 4293 and Linux' networking/snmp_counter.
    Packets whose hop limit ended are header errors (RFC 4293, ipSystemStatsInHdrErrors); the ICMP errors about them are limited.
    """

    CONNTRACK_INSERT_FAILED = "insert_failed"
    CONNTRACK_DROP = "drop"
    CONNTRACK_EARLY_DROP = "early_drop"
    CONNTRACK_SEARCH_RESTART = "search_restart"
    CONNTRACK_CLASH_RESOLVE = "clash_resolve"
    LISTEN_OVERFLOWS = "ListenOverflows"
    REQUEST_QUEUE_COOKIES = "TCPReqQFullDoCookies"
    SYN_COOKIES = "SyncookiesSent"
    NO_ROUTE4 = "InNoRoutes"
    NO_ROUTE6 = "Ip6OutNoRoutes"
    TIME_EXCEEDED4 = "InHdrErrors"
    TIME_EXCEEDED6 = "Ip6InHdrErrors"
    FORWARDED4 = "ForwDatagrams"
    FORWARDED6 = "Ip6OutForwDatagrams"


@dataclass(frozen=True, slots=True)
class ReadHealth:
    """Ask for the machine's health."""


@dataclass(frozen=True, slots=True)
class CoreCounters:
    """What one processor core has done since boot.

    busy, softirq, total: hundredths of a second (proc_stat(5)); busy is everything but idle and waiting for disks, softirq a part of it.
    packets, dropped, squeezed: /proc/net/softnet_stat: taken from queues, lost because the backlog was full, rounds that ended with work
    left.
    """

    busy: Count
    softirq: Count
    total: Count
    packets: Count
    dropped: Count
    squeezed: Count


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """One network interface (rtnl_link_stats64). is_up: switched on and with carrier. speed: Mbit/s, 0 if it is not known.

    errors: damaged packets; dropped: received ones without room, and sent ones that the queue refused.
    """

    name: str
    is_up: bool
    speed: Annotated[int, range(1 << 31)]
    received: Count
    received_octets: Count
    received_errors: Count
    received_dropped: Count
    sent: Count
    sent_octets: Count
    sent_errors: Count
    sent_dropped: Count


class QueueCounters(NamedTuple):
    """One receive queue of a card, by its number. dropped: received packets for which there was no room."""

    queue: Count
    packets: Count
    dropped: Count


@dataclass(frozen=True, slots=True)
class LinkQueues:
    """Queues of one network card. steered: cores that RPS spreads received packets over, none if it is off. interrupts: cores that the card
    interrupts for them; none if the kernel does not tell. counted: by receive queue; none if the driver does not count by queue.
    """

    name: str
    receiving: Count
    sending: Count
    steered: tuple[int, ...]
    interrupts: tuple[int, ...]
    counted: tuple[QueueCounters, ...] = ()


@dataclass(frozen=True, slots=True)
class MachineLevels:
    """Levels at this moment; 0 for what the machine does not tell.

    connections, most_connections: of the connection table. memory, memory_available, disk, disk_free: octets; the disk is that of the
    agent's state. temperature: thousandths of a degree Celsius, of the hottest sensor.
    """

    connections: Count = 0
    most_connections: Count = 0
    memory: Count = 0
    memory_available: Count = 0
    disk: Count = 0
    disk_free: Count = 0
    temperature: Count = 0


@dataclass(frozen=True, slots=True)
class Forwarding:
    """Whether the kernel forwards each address family, and whether it has a route to the internet."""

    forwards4: bool
    forwards6: bool
    has_route4: bool
    has_route6: bool


@dataclass(frozen=True, slots=True)
class HealthCounters:
    """Answer to ReadHealth.

    boot: the kernel's boot id: with another one, all counters began at zero. uptime: milliseconds since boot, from which rates are
    computed. clock: the machine's own Unix time in milliseconds. counters: by KernelCounter; one that the kernel lacks is left out.
    ruleset: packets of the named counters of our table. cores, links: none in a gateway in memory. addresses: of each interface that has
    any, loopback included; queues: of cards. None: the agent does not tell them.
    """

    boot: str
    uptime: Count
    clock: Count
    agent: str
    cores: tuple[CoreCounters, ...]
    links: tuple[LinkCounters, ...]
    counters: Mapping[str, Count]
    ruleset: Mapping[str, Count]
    levels: MachineLevels = field(default_factory=MachineLevels)
    forwarding: Forwarding = field(default_factory=lambda: Forwarding(True, True, True, True))
    addresses: Mapping[str, tuple[Address, ...]] | None = None
    queues: tuple[LinkQueues, ...] | None = None

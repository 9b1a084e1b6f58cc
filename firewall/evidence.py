"""Messages about evidence: what a gateway's machine shows at one moment, for people who look for a fault.

They are part of the messages of firewall/wire.py. The agent only reads. No part contains a packet's payload; some contain members'
addresses (docs/evidence.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

from firewall.health import Count

SECONDS = range(1, 11)  # of packet headers
MOST_INTERFACES = 8
MOST_PACKETS = 20_000
MOST_FLOWS = 50
MOST_ROUTES = 2_000


class EvidenceKind(StrEnum):
    """Kinds of evidence that an agent can collect. The value names the file in the archive."""

    RULESET = "ruleset"  # JSON: which ruleset runs, by its digest
    COUNTERS = "counters"  # text: the named counters of our table
    HEALTH = "health"  # JSON: firewall.health.HealthCounters
    CONNTRACK = "conntrack"  # text: statistics of the connection table, for each core
    FLOWS = "flows"  # text: the largest connections, and who has most of them
    SOCKETS = "sockets"  # text: the machine's own TCP connections
    NETWORK = "network"  # JSON: links, addresses and routes
    KERNEL_LOG = "kernel-log"  # text: the kernel's last messages
    JOURNAL = "journal"  # text: messages of the last hour of the agent, keepalived and conntrackd
    HEADERS = "headers"  # pcap with LINKTYPE_LINUX_SLL2: headers of packets


LARGEST: Mapping[EvidenceKind, int] = MappingProxyType(
    {
        EvidenceKind.RULESET: 256 << 10,
        EvidenceKind.COUNTERS: 64 << 10,
        EvidenceKind.HEALTH: 512 << 10,
        EvidenceKind.CONNTRACK: 256 << 10,
        EvidenceKind.FLOWS: 128 << 10,
        EvidenceKind.SOCKETS: 256 << 10,
        EvidenceKind.NETWORK: 1 << 20,
        EvidenceKind.KERNEL_LOG: 256 << 10,
        EvidenceKind.JOURNAL: 512 << 10,
        EvidenceKind.HEADERS: 4 << 20,
    }
)
"""Most octets of each part before it is compressed."""


@dataclass(frozen=True, slots=True)
class CollectEvidence:
    """Ask for all evidence. interfaces: where packet headers are taken, at most MOST_INTERFACES. seconds: for how long, in SECONDS."""

    interfaces: tuple[str, ...]
    seconds: int


@dataclass(frozen=True, slots=True)
class EvidencePart:
    """One part. deflated: its octets, compressed (RFC 1950), at most LARGEST when expanded; empty if there are none.

    size: octets before compression. note: a sentence that says why the part is missing or incomplete; "" if it is whole.
    """

    kind: EvidenceKind
    deflated: bytes
    size: Annotated[int, range(1 << 31)]
    milliseconds: Annotated[int, range(1 << 31)]
    note: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceCollected:
    """Answer to CollectEvidence: each kind once. clock: the machine's own Unix time in milliseconds when the collection began."""

    name: str
    agent: str
    clock: Count
    parts: tuple[EvidencePart, ...]

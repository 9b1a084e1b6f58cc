"""What comes out of the compiler: a ruleset as values, before it is text.

One `inet` table of our own. Members and bans are elements of sets and maps; chains and rules do not grow with them.
Keys and values of elements are the kernel's own bytes: each field in network order, padded to four bytes, so that
comparing, hashing and netlink need no conversion (man nft, "SETS"; linux/netfilter/nf_tables.h).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from firewall.policy import Address, Prefix, Profile

FAMILY = "inet"
TABLE = "netzwart"


class Type(StrEnum):
    """Data types of set keys and map values, named as nft names them."""

    IPV4 = "ipv4_addr"
    IPV6 = "ipv6_addr"
    PROTO = "inet_proto"
    PORT = "inet_service"

    @property
    def width(self) -> int:
        """Octets of the value itself, without padding."""
        return {"ipv4_addr": 4, "ipv6_addr": 16, "inet_proto": 1, "inet_service": 2}[self.value]

    @property
    def padded(self) -> int:
        """Octets it takes inside a key."""
        return -(-self.width // 4) * 4


class Field(StrEnum):
    """What a rule reads from a packet or its connection, in nft's words."""

    IIFNAME = "iifname"
    OIFNAME = "oifname"
    NFPROTO = "meta nfproto"
    L4PROTO = "meta l4proto"
    IP_SADDR = "ip saddr"
    IP_DADDR = "ip daddr"
    IP6_SADDR = "ip6 saddr"
    IP6_DADDR = "ip6 daddr"
    HOPLIMIT = "ip6 hoplimit"
    TH_DPORT = "th dport"
    TH_SPORT = "th sport"
    TCP_SPORT = "tcp sport"
    TCP_DPORT = "tcp dport"
    UDP_DPORT = "udp dport"
    TCP_FLAGS = "tcp flags"
    ICMP_TYPE = "icmp type"
    ICMPV6_TYPE = "icmpv6 type"
    CT_STATE = "ct state"
    CT_STATUS = "ct status"


Value: TypeAlias = str | int | Address | Prefix


@dataclass(frozen=True, slots=True)
class Match:
    """The field is one of the values (none of them, when negated). Strings are nft's own symbols or interface names."""

    field: Field
    values: tuple[Value, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Lookup:
    """The fields together are a key of the set. `length` keeps only the leading bits of a single address field."""

    fields: tuple[Field, ...]
    set: str
    length: int | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class TcpFlags:
    """A TCP packet with all flags of `on` and none of `off`; the others do not matter. In nft's words: fin, syn, rst, psh, ack, urg."""

    on: tuple[str, ...]
    off: tuple[str, ...]


class VerdictAction(StrEnum):
    ACCEPT = "accept"
    DROP = "drop"
    RETURN = "return"
    JUMP = "jump"
    GOTO = "goto"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where the packet goes next; `chain` belongs to jump and goto alone."""

    action: VerdictAction
    chain: str = ""


@dataclass(frozen=True, slots=True)
class VerdictMap:
    """The verdict that belongs to what the fields read; a packet without an entry goes on."""

    fields: tuple[Field, ...]
    entries: tuple[tuple[tuple[str, ...], Verdict], ...]


@dataclass(frozen=True, slots=True)
class Count:
    """Count the packet, in a named counter of the table or in the rule itself."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Notrack:
    """Leave the packet out of connection tracking."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Go on only while packets stay below this rate per second."""

    rate: int
    burst: int


class Refusal(StrEnum):
    TCP_RESET = "tcp reset"
    ADMIN_PROHIBITED = "icmpx admin-prohibited"


@dataclass(frozen=True, slots=True)
class Reject:
    """Drop the packet and tell its sender."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Dnat:
    """Rewrite the destination to the map's value, if the fields are in the map."""

    fields: tuple[Field, ...]
    map: str


@dataclass(frozen=True, slots=True)
class DnatTo:
    """Rewrite the destination to this address and TCP or UDP port. Only packets of the address's family come here."""

    address: Address
    port: int


@dataclass(frozen=True, slots=True)
class Snat:
    """Rewrite the source to the map's value, if the fields are in the map.

    A map of ranges of addresses with ports also says which port (of TCP and UDP, or ICMP's identifier) to leave with: one between
    both, which with what it goes to is nobody else's. first_port, last_port: the same for all entries of a map without ranges; 0: any.
    When there is none left, the packet is dropped after all chains and counted by connection tracking (`insert_failed`).
    fully_random: the port is drawn for each connection. Otherwise the packet keeps its own where it may; where it may not, one is drawn
    that the same source then leaves with whatever it connects to (nf_nat_core.c, `get_unique_tuple`).
    """

    fields: tuple[Field, ...]
    map: str
    fully_random: bool = False
    first_port: int = 0
    last_port: int = 0


class Helper(StrEnum):
    """Programs of the kernel that read a connection along (nf_conntrack_ftp, nf_conntrack_sip)."""

    FTP = "ftp"
    SIP = "sip"

    @property
    def protocol(self) -> str:
        """The transport protocol that it reads."""
        return {"ftp": "tcp", "sip": "udp"}[self.value]


@dataclass(frozen=True, slots=True)
class AssignHelper:
    """Have the helper read this new connection along (man nft, "CT HELPER"); what it expects from there on is `related`.

    Only one chain of a ruleset may assign the same helper: the table's object of this name comes and goes with that chain.
    """

    helper: Helper


@dataclass(frozen=True, slots=True)
class SetTimeout:
    """Keep this new connection in the connection table for so long (man nft, "CT TIMEOUT"), whatever the kernel is set to.

    times: seconds by the state of the connection, in nft's words; in other states the kernel's own hold. tcp and udp alone have states
    that nft names. A packet of another protocol passes by. Only one chain of a ruleset may do so: the table's object of this name comes and
    goes with that chain, and connections that had it then keep the kernel's own times from their next packet on.
    """

    protocol: str
    times: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """Of the object: other times are another object."""
        return "_".join([self.protocol, *(str(seconds) for _state, seconds in self.times)])


class Per(StrEnum):
    """What a rate is counted over."""

    SECOND = "second"
    MINUTE = "minute"


@dataclass(frozen=True, slots=True)
class RateOver:
    """Go on only while packets of this key come faster than `rate`, beyond a bucket of `burst` (man nft, "LIMIT STATEMENT").

    The key is what the fields read, or the leading `length` bits of a single address. The set is dynamic: the packet adds the
    key, with a bucket of its own that this rate fills, and its time begins anew with each packet. When the set is full, a new key
    is not added, and the rule does not match.
    """

    fields: tuple[Field, ...]
    set: str
    rate: int
    per: Per
    burst: int
    length: int | None = None


@dataclass(frozen=True, slots=True)
class OpenOver:
    """Go on only if more than `most` connections of this key are open, this one among them (man nft, "CONNECTION LIMIT").

    Key and set as in RateOver, but that the kernel takes a key out when its last connection has ended. Connections are counted that
    came by here as new ones.
    """

    fields: tuple[Field, ...]
    set: str
    most: int
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Synproxy:
    """Make a TCP connection with the client before the server hears of it (man nft, "SYNPROXY STATEMENT").

    A packet with SYN is answered with a SYN-ACK whose number is a cookie (RFC 4987, 3.6), and goes no further. Another one with ACK is
    dropped, unless that acknowledges a cookie: then it goes no further either, and the gateway itself sends the server a SYN, which is
    new to connection tracking at the output hook. Packets with neither go on to the next rule. Only what connection tracking does not
    know may come here, at the input or forward hook. mss, scale: what the SYN-ACK offers: the greatest segment in octets, and the shift
    of the window, which must be the server's own, because his windows are passed on unchanged. SACK and timestamps are offered too.
    """

    mss: int
    scale: int


@dataclass(frozen=True, slots=True)
class Masquerade:
    """Rewrite the source to the gateway's own first address on the interface that the packet leaves by."""


@dataclass(frozen=True, slots=True)
class ClampMss:
    """Lower the maximum segment size that a SYN offers to what the route's MTU takes (RFC 9293, section 3.7.1)."""


Part: TypeAlias = (
    Match
    | Lookup
    | Verdict
    | VerdictMap
    | Count
    | Notrack
    | Limit
    | Reject
    | Dnat
    | DnatTo
    | Snat
    | Masquerade
    | ClampMss
    | RateOver
    | OpenOver
    | AssignHelper
    | SetTimeout
    | TcpFlags
    | Synproxy
)


@dataclass(frozen=True, slots=True)
class Rule:
    """Parts from left to right; the first that does not match ends the rule."""

    parts: tuple[Part, ...]
    comment: str = ""


class HookPriority(IntEnum):
    """When a base chain is called within its hook (man nft, "Standard priority names")."""

    RAW = -300
    MANGLE = -150
    DSTNAT = -100
    FILTER = 0
    SRCNAT = 100
    AFTER_SRCNAT = 110


@dataclass(frozen=True, slots=True)
class Hook:
    """Where a base chain is attached. `kind` is filter or nat; `policy` what befalls a packet that no rule decided."""

    kind: str
    hook: str
    priority: HookPriority
    policy: VerdictAction = VerdictAction.ACCEPT


@dataclass(frozen=True, slots=True)
class Chain:
    """Rules in order; with a hook a base chain, without one the target of jumps."""

    name: str
    rules: tuple[Rule, ...]
    hook: Hook | None = None


@dataclass(frozen=True, slots=True)
class Set:
    """The declaration of a hash set, or of a map when it has a value type. `size` is the most elements it takes.

    ranges: a value of the map is two values of its types, the first and the last of a range (nft's `interval`).
    dynamic: packets fill it, so what it holds is nobody's wish: `Ruleset.elements` has nothing of it, and nobody compares that.
    lives: seconds after which the kernel drops an element that no packet touched; 0: it stays.
    polices: each element has a token bucket of its own: its value is the rate that fills it, in octets a second (RATE_WIDTH octets, network
    order), and it holds what comes in a second and BURST octets more. A lookup finds the element only for a packet that is longer
    than what is left in the bucket, and takes the length of any other out of it (man nft, "LIMIT STATEMENT": `limit rate over`).
    """

    name: str
    key: tuple[Type, ...]
    size: int
    value: tuple[Type, ...] = ()
    counter: bool = False
    timeout: bool = False
    ranges: bool = False
    dynamic: bool = False
    lives: int = 0
    polices: bool = False

    @property
    def owned(self) -> bool:
        """Does it count for somebody? Then the value of an element says for whom (firewall/owners.py), or nothing."""
        return self.counter and not (self.value or self.timeout or self.dynamic or self.polices)


RATE_WIDTH = 8  # octets
LOWEST_RATE, HIGHEST_RATE = 1_000, 10**10  # octets a second; above, the kernel's nanoseconds in a bucket would not fit its 64 bits
BURST = 1 << 16  # octets: what segmentation offload may make of many packets passes as one, however slow the rate (RFC 791, total length)


LATEST = 1 << 34
"""Unix seconds, in the year 2514: what ends later stays. Kernels count no more than 2^64 nanoseconds, 584 years, until an end."""


def cap_expiry(expires: int) -> int:
    """When an element ends, as a kernel can hold it; 0: never."""
    return expires if expires < LATEST else 0


class Element(NamedTuple):
    """What an element carries beside its key: the map's value, a text for people, and when it ends (Unix seconds, 0: never).

    In a set that counts for members the value is whom the element counts for (`Set.owned`).

    Two that differ in their text alone are equal: the kernel can change it only by making the element anew, which would empty its
    counter. So whoever words it anew sends nothing, and the kernel keeps the text with which the element came
    (docs/adr/0007-bans-by-prefix-length.md).
    """

    value: bytes = b""
    comment: str = ""
    expires: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Element) and self[::2] == other[::2]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[::2])


PLAIN = Element()

Elements: TypeAlias = Mapping[bytes, Element]

NO_ELEMENTS: Elements = MappingProxyType({})  # the very object for all sets without any, so that gateways share that too


@dataclass(frozen=True, slots=True)
class Ruleset:
    """One gateway's whole table, and what its kernel is set to. Every set has an entry in `elements`, though it may be empty.

    profile: None leaves the kernel as it is.
    """

    chains: Mapping[str, Chain] = field(default_factory=dict)
    sets: Mapping[str, Set] = field(default_factory=dict)
    elements: Mapping[str, Elements] = field(default_factory=dict)
    counters: frozenset[str] = frozenset()
    profile: Profile | None = None

    def count_rules(self) -> int:
        """How many rules there are in all chains."""
        return sum(len(chain.rules) for chain in self.chains.values())

    def count_elements(self) -> int:
        """How many elements there are in all sets and maps."""
        return sum(map(len, self.elements.values()))


EMPTY = Ruleset()


def iter_used_sets(chain: Chain) -> Iterator[str]:
    """Names of the sets and maps that the chain's rules look up."""
    for rule in chain.rules:
        for part in rule.parts:
            if isinstance(part, Lookup | RateOver | OpenOver):
                yield part.set
            elif isinstance(part, Dnat | Snat):
                yield part.map


def list_used_helpers(chain: Chain | None) -> frozenset[Helper]:
    """The helpers that the chain's rules assign; none without a chain."""
    parts = (part for rule in chain.rules for part in rule.parts) if chain else ()
    return frozenset(part.helper for part in parts if isinstance(part, AssignHelper))


def list_used_timeouts(chain: Chain | None) -> frozenset[SetTimeout]:
    """The times that the chain's rules set; none without a chain."""
    parts = (part for rule in chain.rules for part in rule.parts) if chain else ()
    return frozenset(part for part in parts if isinstance(part, SetTimeout))


def iter_used_chains(chain: Chain) -> Iterator[str]:
    """Names of the chains that the chain's rules jump or go to."""
    for rule in chain.rules:
        for part in rule.parts:
            if isinstance(part, Verdict) and part.chain:
                yield part.chain
            elif isinstance(part, VerdictMap):
                yield from (verdict.chain for _, verdict in part.entries if verdict.chain)


def drop_expired(ruleset: Ruleset, now: float) -> Ruleset:
    """The ruleset as it is at `now` (Unix seconds): elements whose time has come are gone, as they are in the kernel."""
    elements = dict(ruleset.elements)
    for name, declaration in ruleset.sets.items():
        if declaration.timeout:
            elements[name] = {key: element for key, element in elements[name].items() if not 0 < element.expires <= now}
    return replace(ruleset, elements=elements)

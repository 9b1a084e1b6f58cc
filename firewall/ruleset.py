"""The compiler's output: a ruleset as values, before it is rendered as text.

One `inet` table of our own. Members and bans are elements of sets and maps; chains and rules do not grow with them. Keys and values
of elements are the kernel's own bytes: each field in network order, padded to four bytes, so that comparing, hashing and netlink
need no conversion (man nft, "SETS"; linux/netfilter/nf_tables.h).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from firewall import owners
from firewall.policy import Address, Prefix, Profile, Shaping

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
    def padded_width(self) -> int:
        """Octets of the value inside a key, with padding."""
        return -(-self.width // 4) * 4


def compute_width(types: tuple[Type, ...]) -> int:
    """Return the octets of a key (or value) of these types. Fields of a concatenation are padded; a single field is not."""
    return types[0].width if len(types) == 1 else sum(each.padded_width for each in types)


class Field(StrEnum):
    """Fields of a packet or its connection that a rule can read, in nft's words."""

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
    """Condition that the field is one of the values (none of them, when negated). Strings are nft's own symbols or interface names."""

    field: Field
    values: tuple[Value, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Lookup:
    """Condition that the fields together are a key of the set (none, when negated).

    `length` keeps only the leading bits of a single address field.
    """

    fields: tuple[Field, ...]
    set: str
    length: int | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class TcpFlags:
    """Condition that a TCP packet has all flags of `on` and none of `off`; the others do not matter.

    Flags have nft's names: fin, syn, rst, psh, ack, urg.
    """

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
    """A verdict on the packet; `chain` is the target of jump and goto, and empty for the others."""

    action: VerdictAction
    chain: str = ""


@dataclass(frozen=True, slots=True)
class VerdictMap:
    """A map from what the fields read to a verdict; a packet without an entry goes on to the next rule."""

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


class RejectType(StrEnum):
    TCP_RESET = "tcp reset"
    ADMIN_PROHIBITED = "icmpx admin-prohibited"


@dataclass(frozen=True, slots=True)
class Reject:
    """Drop the packet and send its sender this refusal."""

    refusal: RejectType


@dataclass(frozen=True, slots=True)
class Dnat:
    """Rewrite the destination to the map's value, if the fields are in the map."""

    fields: tuple[Field, ...]
    map: str


@dataclass(frozen=True, slots=True)
class DnatTo:
    """Rewrite the destination to this address and TCP or UDP port. Only packets of the address's family may come here."""

    address: Address
    port: int


@dataclass(frozen=True, slots=True)
class Snat:
    """Rewrite the source to the map's value, if the fields are in the map.

    A map of ranges of addresses with ports also gives the ports (of TCP and UDP, or identifiers of ICMP) to leave with: the kernel
    takes one of the range that no other connection to the same destination has. first_port, last_port: the same for all entries of
    a map without ranges; 0 means any. When no port is left, the packet is dropped after all chains, and connection tracking counts
    it (`insert_failed`). fully_random: the port is drawn for each connection. Otherwise the packet keeps its own where it may;
    where it may not, one is drawn, and the same source then leaves with that port whatever it connects to (nf_nat_core.c,
    `get_unique_tuple`).
    """

    fields: tuple[Field, ...]
    map: str
    fully_random: bool = False
    first_port: int = 0
    last_port: int = 0


class Helper(StrEnum):
    """Connection tracking helpers of the kernel, which read the content of a connection (nf_conntrack_ftp, nf_conntrack_sip)."""

    FTP = "ftp"
    SIP = "sip"

    @property
    def protocol(self) -> str:
        """The transport protocol that the helper reads."""
        return {"ftp": "tcp", "sip": "udp"}[self.value]


@dataclass(frozen=True, slots=True)
class AssignHelper:
    """Assign the helper to this new connection (man nft, "CT HELPER"); connections that the helper expects are `related`.

    Only one chain of a ruleset may assign the same helper: the table's object of this name comes and goes with that chain.
    """

    helper: Helper


@dataclass(frozen=True, slots=True)
class SetTimeout:
    """Give this new connection timeouts of its own in the connection table (man nft, "CT TIMEOUT"), whatever the kernel is set to.

    times: seconds by the state of the connection, in nft's words; in other states the kernel's own apply. nft names states for tcp
    and udp alone. A packet of another protocol is left as it is. Only one chain of a ruleset may set the same timeouts: the table's
    object of this name comes and goes with that chain, and connections that had it then get the kernel's own timeouts from their
    next packet on.
    """

    protocol: str
    times: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """Name of the table's object: other times are another object."""
        return "_".join([self.protocol, *(str(seconds) for _state, seconds in self.times)])


class Per(StrEnum):
    """Units of time that a rate is counted over."""

    SECOND = "second"
    MINUTE = "minute"


@dataclass(frozen=True, slots=True)
class RateOver:
    """Go on only while packets of this key come faster than `rate`, beyond a bucket of `burst` (man nft, "LIMIT STATEMENT").

    The key is what the fields read, or the leading `length` bits of a single address. The set is dynamic: the packet adds the key,
    with a bucket of its own that this rate fills, and each packet restarts the element's lifetime. When the set is full, a new key
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

    Key and set are as in RateOver, except that the kernel removes a key when its last connection has ended. Only connections count
    that passed here when they were new.
    """

    fields: tuple[Field, ...]
    set: str
    most: int
    length: int | None = None


@dataclass(frozen=True, slots=True)
class SampleConnection:
    """Go on only for one of so many connections, a power of two (man nft, "CT EXPRESSION", `id`).

    The kernel draws a connection's id from a keyed hash (nf_conntrack_core.c, `nf_ct_get_id`), so nobody can choose it.
    """

    one_of: int


@dataclass(frozen=True, slots=True)
class AddKey:
    """Add the key to a dynamic set whose elements live for its `lives`; go on unless the set is full. Key as in RateOver."""

    fields: tuple[Field, ...]
    set: str
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Synproxy:
    """Complete a TCP handshake with the client before the server hears of the connection (man nft, "SYNPROXY STATEMENT").

    A packet with SYN is answered with a SYN-ACK with a cookie as its number (RFC 4987, 3.6), and goes no further. Another one with
    ACK is dropped, unless it acknowledges a cookie: then it goes no further either, and the gateway itself sends the server a SYN,
    which is new to connection tracking at the output hook. Packets with neither go on to the next rule. Only packets that
    connection tracking does not know may come here, at the input or forward hook. mss, scale: what the SYN-ACK offers: the maximum
    segment size in octets, and the shift of the window, which must be the server's own, because the server's windows are passed on
    unchanged. SACK and timestamps are offered too.
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
    | SampleConnection
    | AddKey
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
    """Priorities of base chains within their hook: lower ones are called first (man nft, "Standard priority names")."""

    RAW = -300
    MANGLE = -150
    DSTNAT = -100
    FILTER = 0
    SRCNAT = 100
    AFTER_SRCNAT = 110


@dataclass(frozen=True, slots=True)
class Hook:
    """The hook that a base chain is attached to. `kind` is filter or nat; `policy` is the verdict on packets that no rule decided."""

    kind: str
    hook: str
    priority: HookPriority
    policy: VerdictAction = VerdictAction.ACCEPT


@dataclass(frozen=True, slots=True)
class Chain:
    """Rules in order: a base chain with a hook, the target of jumps without one."""

    name: str
    rules: tuple[Rule, ...]
    hook: Hook | None = None


@dataclass(frozen=True, slots=True)
class Set:
    """The declaration of a hash set, or of a map when it has a value type. `size` is the largest number of elements.

    ranges: a value of the map is two values of its types, the first and the last of a range (nft's `interval`). dynamic: packets
    fill the set, so its content is no part of the desired state: `Ruleset.elements` has nothing of it, and no comparison looks at
    it. lives: seconds after which the kernel drops an element that no packet touched; 0: it stays. polices: each element has a
    token bucket of its own. Its value is the rate that fills the bucket, in octets a second (RATE_WIDTH octets, network order); the
    bucket holds what comes in a second and BURST octets more. A lookup finds the element only for a packet that is longer than what
    is left in the bucket, and takes the length of any other out of it (man nft, "LIMIT STATEMENT": `limit rate over`).
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
    def has_owners(self) -> bool:
        """True if the set counts for holdings: the value of an element names its owner (firewall/owners.py), or is empty."""
        return self.counter and not (self.value or self.timeout or self.dynamic or self.polices)


RATE_WIDTH = 8  # octets
LOWEST_RATE, HIGHEST_RATE = 1_000, 10**10  # octets a second; above, the kernel's nanoseconds in a bucket would not fit its 64 bits
BURST = 1 << 16  # octets: a packet that segmentation offload merged passes however slow the rate (RFC 791, total length)


def list_value_widths(of: Set) -> set[int]:
    """Return the widths in octets that a value of the set's elements may have."""
    if of.polices:
        return {RATE_WIDTH}
    return {0, owners.WIDTH} if of.has_owners else {compute_width(of.value) * (1 + of.ranges)}


LATEST = 1 << 34
"""Unix seconds, in the year 2514: what ends later stays. Kernels count no more than 2^64 nanoseconds, 584 years, until an end."""


def cap_expiry(expires: int) -> int:
    """Return an element's end as a kernel can hold it; 0: never."""
    return expires if expires < LATEST else 0


class Element(NamedTuple):
    """An element's data beside its key: the map's value, a text for people, and its end (Unix seconds, 0: never).

    In a set that counts for holdings the value is the owner that the element counts for (`Set.owned`).

    Two elements that differ in their text alone are equal: the kernel can change a text only by making the element anew, which
    would empty its counter. So a change of a text sends nothing, and the kernel keeps the text that the element came with
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

NO_ELEMENTS: Elements = MappingProxyType({})  # one object for all empty sets, so that gateways share it too


@dataclass(frozen=True, slots=True)
class UplinkShaper:
    """Shaping of one interface. length: IPv6 addresses with the same prefix of this length belong to one member."""

    interface: str
    shaping: Shaping
    length: int


@dataclass(frozen=True, slots=True)
class Ruleset:
    """One gateway's whole table, and its kernel settings. Every set has an entry in `elements`, which may be empty.

    profile, shaper: None leaves the kernel as it is.
    """

    chains: Mapping[str, Chain] = field(default_factory=dict)
    sets: Mapping[str, Set] = field(default_factory=dict)
    elements: Mapping[str, Elements] = field(default_factory=dict)
    counters: frozenset[str] = frozenset()
    profile: Profile | None = None
    shaper: UplinkShaper | None = None

    def count_rules(self) -> int:
        """Return the number of rules in all chains."""
        return sum(len(chain.rules) for chain in self.chains.values())

    def count_elements(self) -> int:
        """Return the number of elements in all sets and maps."""
        return sum(map(len, self.elements.values()))


EMPTY = Ruleset()


def iter_used_sets(chain: Chain) -> Iterator[str]:
    """Yield the names of the sets and maps that the chain's rules look up."""
    for rule in chain.rules:
        for part in rule.parts:
            if isinstance(part, Lookup | RateOver | OpenOver | AddKey):
                yield part.set
            elif isinstance(part, Dnat | Snat):
                yield part.map


def list_used_helpers(chain: Chain | None) -> frozenset[Helper]:
    """Return the helpers that the chain's rules assign; none without a chain."""
    parts = (part for rule in chain.rules for part in rule.parts) if chain else ()
    return frozenset(part.helper for part in parts if isinstance(part, AssignHelper))


def list_used_timeouts(chain: Chain | None) -> frozenset[SetTimeout]:
    """Return the timeouts that the chain's rules set; none without a chain."""
    parts = (part for rule in chain.rules for part in rule.parts) if chain else ()
    return frozenset(part for part in parts if isinstance(part, SetTimeout))


def iter_used_chains(chain: Chain) -> Iterator[str]:
    """Yield the names of the chains that the chain's rules jump or go to."""
    for rule in chain.rules:
        for part in rule.parts:
            if isinstance(part, Verdict) and part.chain:
                yield part.chain
            elif isinstance(part, VerdictMap):
                yield from (verdict.chain for _, verdict in part.entries if verdict.chain)


def drop_expired(ruleset: Ruleset, now: float) -> Ruleset:
    """Return the ruleset as it is at `now` (Unix seconds): without expired elements, which the kernel drops too."""
    elements = dict(ruleset.elements)
    for name, declaration in ruleset.sets.items():
        if declaration.timeout:
            elements[name] = {key: element for key, element in elements[name].items() if not 0 < element.expires <= now}
    return replace(ruleset, elements=elements)

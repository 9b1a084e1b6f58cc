"""Messages of the live trace, which shows what a kernel really does with packets: what to watch for, and what was seen.

They are part of the messages of firewall/wire.py. Nothing here is predicted: firewall/tracing does that.
"""

from dataclasses import dataclass

from firewall.policy import Address, Prefix

SECONDS = range(1, 31)
PACKETS = range(1, 101)
EVERY_SECOND = 20  # packets; only the first of each second are taken
PORTS = range(1 << 16)  # 0: any
PROTOCOLS = range(256)  # 0: any
TABLE = "netzwart_live"  # the agent's own table while it watches
COMES, LEAVES, ARRIVES = "comes", "leaves", "arrives"  # marks: what the packet does where no rule of a ruleset shows it
WITH_PORTS = frozenset({6, 17})  # TCP and UDP: a watch can name a port


@dataclass(frozen=True, slots=True)
class Watch:
    """Follow packets that match all of this when they come in, before anything is done to them; one watch at a time.

    source, destination: at least one is given, both of one family; None for any. protocol: IANA's number; port: the destination's;
    interface: where they come in; 0 and "" for any. seconds, most: in SECONDS and PACKETS; the one that is reached first ends the
    watch.
    """

    source: Prefix | None
    destination: Prefix | None
    protocol: int
    port: int
    interface: str
    seconds: int
    most: int


@dataclass(frozen=True, slots=True)
class Look:
    """Ask for what was seen since the first `after` events. end: end the watch as well."""

    watch: int
    after: int
    end: bool


@dataclass(frozen=True, slots=True)
class Watching:
    """Answer to Watch: the number for Look. The agent forgets what was seen when the next watch begins, or when it restarts."""

    watch: int


@dataclass(frozen=True, slots=True)
class Headers:
    """A packet as it was at that moment. Ports are 0 where there are none; flags are TCP's, icmp is type and code ("8/0")."""

    source: Address
    destination: Address
    protocol: int
    source_port: int
    destination_port: int
    length: int
    flags: tuple[str, ...] = ()
    icmp: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that the kernel did to a packet: a rule that matched, or a chain's policy; or, with a mark, what the packet is now.

    packet: counts from 1. mark: COMES in, LEAVES by `goes` after all rules, ARRIVES at the gateway itself after all rules; ""
    without. table: with its family, "inet netzwart". hook: of the base chain that the packet is in, "" if not known. number, rule:
    place in its chain and text of a rule of ours, 0 and "" if it is not one that was committed. verdict: accept, drop, jump, goto,
    return, continue, queue or stolen, with a chain in `to`. came, goes: interfaces, "" where the kernel does not say. headers:
    given with marks, and once for each base chain in which a rule matched.
    """

    packet: int
    mark: str
    table: str
    chain: str
    hook: str
    policy: bool
    number: int
    rule: str
    verdict: str
    to: str
    came: str
    goes: str
    headers: Headers | None


@dataclass(frozen=True, slots=True)
class Seen:
    """Answer to Look. ended: why no more events come: "time", "packets", "asked" or "lost" (the kernel reported too much at once);
    "" before.
    """

    events: tuple[Event, ...]
    ended: str

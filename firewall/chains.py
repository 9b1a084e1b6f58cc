"""The chains of a gateway: the fixed shape that looks people up in sets, and never grows with their number.

In goes a gateway and which prefix lengths are in use; out come chains. Why each line stands where it stands is in
docs/ruleset.md; the order is that of the hooks a packet passes.
"""

from dataclasses import dataclass

from firewall import names, probing
from firewall.addresses import PRIVATE
from firewall.policy import Gateway
from firewall.ruleset import (
    Action,
    Chain,
    Count,
    Dnat,
    Field,
    Hook,
    Limit,
    Lookup,
    Match,
    Notrack,
    Part,
    Priority,
    Refusal,
    Reject,
    Rule,
    Snat,
    Verdict,
    VerdictMap,
)

COUNTERS = frozenset({"leaked", "spoofed", "refused", "unmatched"})

ACCEPT, DROP, RETURN = Verdict(Action.ACCEPT), Verdict(Action.DROP), Verdict(Action.RETURN)
NEIGHBOUR_DISCOVERY = ("nd-router-solicit", "nd-router-advert", "nd-neighbor-solicit", "nd-neighbor-advert")
ERRORS4 = ("destination-unreachable", "time-exceeded", "parameter-problem")
ERRORS6 = ("destination-unreachable", "packet-too-big", "time-exceeded", "parameter-problem")
STATE_SYNC_PORT = 3780  # conntrackd's default
DESTINATION_PORT = (Field.IP_DADDR, Field.L4PROTO, Field.TH_DPORT)


@dataclass(frozen=True, slots=True)
class Lengths:
    """The prefix lengths that are in use: members' IPv6 prefixes, and bans of each family; each ascending."""

    members6: tuple[int, ...] = ()
    bans4: tuple[int, ...] = ()
    bans6: tuple[int, ...] = ()


def counters(gateway: Gateway) -> frozenset[str]:
    """The names of all counters of one gateway."""
    return COUNTERS | probing.counters(gateway)


def build(gateway: Gateway, lengths: Lengths) -> dict[str, Chain]:
    """All chains of one gateway by name, those that are jumped to before those that jump."""
    at = gateway.interfaces
    for interface in (at.lan, at.wan, at.management, *filter(None, [at.sync])):
        names.interface(interface)
    if gateway.probe:
        probing.check(gateway.name, at, gateway.probe)
    chains = (
        _raw(gateway, "prerouting", Field.IIFNAME, Field.TCP_DPORT),
        _raw(gateway, "output", Field.OIFNAME, Field.TCP_SPORT),
        _dstnat(gateway),
        _input(gateway),
        _bans(lengths),
        _spoofed(gateway, lengths),
        _new(gateway),
        _up(gateway, lengths),
        _down(gateway, lengths),
        _inside(lengths),
        _forward(gateway),
        _srcnat(gateway),
        _fail_closed(gateway),
    )
    return {chain.name: chain for chain in chains}


def _rule(*parts: Part, comment: str = "") -> Rule:
    return Rule(parts, comment)


def _at(field: Field, *values: str) -> Match:
    return Match(field, values)


def _raw(gateway: Gateway, hook: str, interface: Field, port: Field) -> Chain:
    """Management and state sync never depend on connection tracking, whatever fills its table."""
    at = gateway.interfaces
    rules = [_rule(_at(interface, at.management), Match(port, (gateway.management.port,)), Notrack(), ACCEPT, comment="management")]
    if at.sync:
        rules.append(_rule(_at(interface, at.sync), Notrack(), ACCEPT, comment="state sync"))
    return Chain(f"raw_{hook}", tuple(rules), Hook("filter", hook, Priority.RAW))


def _dstnat(gateway: Gateway) -> Chain:
    at = gateway.interfaces
    rule = _rule(_at(Field.IIFNAME, at.lan, at.wan), Dnat(DESTINATION_PORT, "fwd4"), comment="port forwards")
    return Chain("dstnat", (rule,), Hook("nat", "prerouting", Priority.DSTNAT))


def _input(gateway: Gateway) -> Chain:
    """What is for the gateway itself. Neighbour discovery stands before connection state, which does not track it."""
    at, management = gateway.interfaces, gateway.management
    v4 = tuple(source for source in management.sources if source.version == 4)
    v6 = tuple(source for source in management.sources if source.version == 6)
    port = Match(Field.TCP_DPORT, (management.port,))
    rules = [_rule(_at(Field.IIFNAME, "lo"), ACCEPT)]
    for field, sources in ((Field.IP_SADDR, v4), (Field.IP6_SADDR, v6)):
        if sources:
            rules.append(_rule(_at(Field.IIFNAME, at.management), Match(field, sources), port, ACCEPT, comment="management"))
    if at.sync:
        rules.append(_rule(_at(Field.IIFNAME, at.sync), Match(Field.UDP_DPORT, (STATE_SYNC_PORT,)), ACCEPT, comment="state sync"))
    both = _at(Field.IIFNAME, at.lan, at.wan)
    rules += [
        _rule(both, Match(Field.L4PROTO, ("vrrp",)), ACCEPT, comment="VRRP, RFC 9568"),
        _rule(Match(Field.ICMPV6_TYPE, NEIGHBOUR_DISCOVERY), Match(Field.HOPLIMIT, (255,)), ACCEPT, comment="RFC 4861"),
        _rule(Match(Field.ICMP_TYPE, ERRORS4), Limit(1000, 100), ACCEPT),
        _rule(Match(Field.ICMPV6_TYPE, ERRORS6), Limit(1000, 100), ACCEPT),
        _rule(VerdictMap((Field.CT_STATE,), ((("established",), ACCEPT), (("related",), ACCEPT), (("invalid",), DROP)))),
        _rule(Match(Field.ICMP_TYPE, ("echo-request",)), Limit(100, 100), ACCEPT),
        _rule(Match(Field.ICMPV6_TYPE, ("echo-request",)), Limit(100, 100), ACCEPT),
    ]
    return Chain("input", tuple(rules), Hook("filter", "input", Priority.FILTER, Action.DROP))


def _bans(lengths: Lengths) -> Chain:
    rules = []
    for family, used, fields in (
        (4, lengths.bans4, (Field.IP_SADDR, Field.IP_DADDR)),
        (6, lengths.bans6, (Field.IP6_SADDR, Field.IP6_DADDR)),
    ):
        for length in used:
            rules += [_rule(_prefix(field, names.bans(family, length), length), DROP) for field in fields]
    return Chain("bans", tuple(rules))


def _prefix(field: Field, name: str, length: int, *, negated: bool = False) -> Lookup:
    whole = 32 if field in (Field.IP_SADDR, Field.IP_DADDR) else 128
    return Lookup((field,), name, None if length == whole else length, negated)


def _spoofed(gateway: Gateway, lengths: Lengths) -> Chain:
    """Sources that cannot be what they say. `!=` leaves an element's counter alone, so nothing counts twice."""
    inside, outside = _at(Field.IIFNAME, gateway.interfaces.lan), _at(Field.IIFNAME, gateway.interfaces.wan)
    drop = (Count("spoofed"), DROP)
    held6 = tuple(_prefix(Field.IP6_SADDR, names.up6(length), length, negated=True) for length in lengths.members6)
    rules = [
        _rule(inside, Match(Field.NFPROTO, ("ipv4",)), Lookup((Field.IP_SADDR,), "up4", negated=True), *drop, comment="held by nobody"),
        _rule(inside, Match(Field.NFPROTO, ("ipv6",)), *held6, *drop, comment="held by nobody"),
        _rule(outside, Match(Field.IP_SADDR, PRIVATE), *drop, comment="private source from outside"),
    ]
    rules += [
        _rule(outside, _prefix(Field.IP6_SADDR, names.up6(length), length), *drop, comment="our own source from outside")
        for length in lengths.members6
    ]
    return Chain("spoofed", tuple(rules))


def _new(gateway: Gateway) -> Chain:
    """A connection's first packet: returns when it is allowed (so that it is counted too), is refused otherwise."""
    at = gateway.interfaces
    refuse = (Count("refused"),)
    return Chain(
        "new",
        (
            _rule(Verdict(Action.JUMP, "bans")),
            _rule(Verdict(Action.JUMP, "spoofed")),
            _rule(Match(Field.CT_STATUS, ("dnat",)), RETURN, comment="port forwards"),
            _rule(_at(Field.IIFNAME, at.lan), _at(Field.OIFNAME, at.wan), RETURN),
            _rule(
                _at(Field.IIFNAME, at.wan),
                _at(Field.OIFNAME, at.lan),
                Match(Field.ICMPV6_TYPE, ("echo-request",)),
                RETURN,
                comment="RFC 4890, 4.3.1",
            ),
            *probing.new(gateway),
            _rule(Match(Field.L4PROTO, ("tcp",)), *refuse, Reject(Refusal.TCP_RESET)),
            _rule(*refuse, Reject(Refusal.ADMIN_PROHIBITED)),
        ),
    )


def _up(gateway: Gateway, lengths: Lengths) -> Chain:
    rules = [_rule(Lookup((Field.IP_SADDR,), "up4"), ACCEPT)]
    rules += [_rule(_prefix(Field.IP6_SADDR, names.up6(length), length), ACCEPT) for length in lengths.members6]
    return Chain("up", (*rules, *probing.up(gateway)))


def _down(gateway: Gateway, lengths: Lengths) -> Chain:
    rules = [_rule(Lookup((Field.IP_DADDR,), "down4"), ACCEPT)]
    rules += [_rule(_prefix(Field.IP6_DADDR, names.down6(length), length), ACCEPT) for length in lengths.members6]
    return Chain("down", (*rules, *probing.down(gateway)))


def _inside(lengths: Lengths) -> Chain:
    """From member to member through the gateway: up for one, down for the other."""
    rules = [_rule(Lookup((Field.IP_SADDR,), "up4"), Lookup((Field.IP_DADDR,), "down4"), ACCEPT)]
    rules += [
        _rule(_prefix(Field.IP6_SADDR, names.up6(source), source), _prefix(Field.IP6_DADDR, names.down6(target), target), ACCEPT)
        for source in lengths.members6
        for target in lengths.members6
    ]
    return Chain("inside", tuple(rules))


def _forward(gateway: Gateway) -> Chain:
    """One lookup is membership, accounting and acceptance; who leaves the sets loses his open flows."""
    at = gateway.interfaces
    ways = (((at.lan, at.wan), "up"), ((at.wan, at.lan), "down"), ((at.lan, at.lan), "inside"), *probing.ways(gateway))
    jumps = tuple((interfaces, Verdict(Action.JUMP, chain)) for interfaces, chain in ways)
    return Chain(
        "forward",
        (
            _rule(VerdictMap((Field.CT_STATE,), ((("invalid",), DROP), (("untracked",), DROP), (("new",), Verdict(Action.JUMP, "new"))))),
            _rule(VerdictMap((Field.IIFNAME, Field.OIFNAME), jumps)),
            _rule(_at(Field.CT_STATE, "related"), ACCEPT),
            _rule(Count("unmatched")),
        ),
        Hook("filter", "forward", Priority.FILTER, Action.DROP),
    )


def _srcnat(gateway: Gateway) -> Chain:
    """Source NAT on the uplink; and for members who reach each other's forwards from inside (hairpin)."""
    at = gateway.interfaces
    hairpin = (_at(Field.IIFNAME, at.lan), _at(Field.OIFNAME, at.lan), Match(Field.CT_STATUS, ("dnat",)))
    return Chain(
        "srcnat",
        (
            _rule(_at(Field.OIFNAME, at.wan), Snat((Field.IP_SADDR,), "snat4", fully_random=True)),
            _rule(*hairpin, Snat((Field.IP_SADDR,), "snat4"), comment="hairpin"),
        ),
        Hook("nat", "postrouting", Priority.SRCNAT),
    )


def _fail_closed(gateway: Gateway) -> Chain:
    """After source NAT: whatever still carries a private source does not leave. (Within srcnat, known flows are not seen.)"""
    rule = _rule(_at(Field.OIFNAME, gateway.interfaces.wan), Match(Field.IP_SADDR, PRIVATE), Count("leaked"), DROP)
    return Chain("fail_closed", (rule,), Hook("filter", "postrouting", Priority.AFTER_SRCNAT))

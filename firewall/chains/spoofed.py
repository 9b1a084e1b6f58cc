"""Sources that cannot be what they say."""

from collections.abc import Iterator
from ipaddress import IPv4Network, collapse_addresses

from firewall.addresses import PRIVATE
from firewall.chains import listeners
from firewall.chains.rule_helpers import DROP, at, in_prefixes, rule
from firewall.chains.used_sets import Used
from firewall.policy import Gateway
from firewall.ruleset import Chain, Count, Field, Lookup, Match, Rule

UNFORWARDED = Match(Field.CT_STATUS, ("dnat",), negated=True)


def chain(gateway: Gateway, used: Used) -> Chain:
    """Sources that cannot be what they say. `!=` leaves an element's counter alone, so nothing counts twice."""
    inside, outside = at(Field.IIFNAME, gateway.interfaces.lan), at(Field.IIFNAME, gateway.interfaces.wan)
    drop = (Count("spoofed"), DROP)
    held6 = tuple(in_prefixes(Field.IP6_SADDR, "up6", length, negated=True) for length in used.lengths("up6"))
    rules = [
        rule(inside, Match(Field.NFPROTO, ("ipv4",)), Lookup((Field.IP_SADDR,), "up4", negated=True), *drop, comment="held by nobody"),
        rule(inside, Match(Field.NFPROTO, ("ipv6",)), *held6, *drop, comment="held by nobody"),
        rule(outside, Match(Field.IP_SADDR, _ours_or_private(gateway)), *drop, comment="private or our own source from outside"),
    ]
    rules += [
        rule(outside, in_prefixes(Field.IP6_SADDR, "up6", length), *drop, comment="our own source from outside")
        for length in used.lengths("up6")
    ]
    rules += [rule(outside, source, *drop, comment="a server's source from outside") for source in listeners.sources(used)]
    rules.append(rule(outside, UNFORWARDED, Match(Field.IP_DADDR, PRIVATE), Count("misdirected"), DROP, comment="private destination"))
    return Chain("spoofed", (*rules, *_servers(gateway, used)))


def _ours_or_private(gateway: Gateway) -> tuple[IPv4Network, ...]:
    """One disjoint set, so that our own prefixes cost no look-up of their own; nft refuses prefixes that overlap."""
    return tuple(collapse_addresses([*PRIVATE, *gateway.settings.publics]))


def _servers(gateway: Gateway, used: Used) -> Iterator[Rule]:
    """Behind the servers' interface is no member."""
    if gateway.interfaces.server:
        held = (Lookup((Field.IP_SADDR,), "up4"), *(in_prefixes(Field.IP6_SADDR, "up6", length) for length in used.lengths("up6")))
        there = at(Field.IIFNAME, gateway.interfaces.server)
        yield from (rule(there, source, Count("spoofed"), DROP, comment="a member's source from a server") for source in held)

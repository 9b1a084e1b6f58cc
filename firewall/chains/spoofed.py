"""The chain against sources that cannot be genuine."""

from collections.abc import Iterator
from ipaddress import IPv4Network, collapse_addresses

from firewall.addresses import PRIVATE
from firewall.chains import listeners
from firewall.chains.rule_helpers import DROP, make_rule, match_field, match_prefix
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Count, Field, Lookup, Match, Rule

UNFORWARDED = Match(Field.CT_STATUS, ("dnat",), negated=True)


def build_chain(gateway: GatewaySpec, used: UsedSets) -> Chain:
    """Return the chain that drops sources that cannot be genuine, and private destinations from outside.

    `!=` leaves an element's counter alone, so nothing counts twice.
    """
    inside, outside = match_field(Field.IIFNAME, gateway.interfaces.lan), match_field(Field.IIFNAME, gateway.interfaces.wan)
    drop = (Count("spoofed"), DROP)
    held6 = tuple(match_prefix(Field.IP6_SADDR, "up6", length, negated=True) for length in used.list_lengths("up6"))
    rules = [
        make_rule(inside, Match(Field.NFPROTO, ("ipv4",)), Lookup((Field.IP_SADDR,), "up4", negated=True), *drop, comment="held by nobody"),
        make_rule(inside, Match(Field.NFPROTO, ("ipv6",)), *held6, *drop, comment="held by nobody"),
        make_rule(outside, Match(Field.IP_SADDR, _list_own_and_private(gateway)), *drop, comment="private or our own source from outside"),
    ]
    rules += [
        make_rule(outside, match_prefix(Field.IP6_SADDR, "up6", length), *drop, comment="our own source from outside")
        for length in used.list_lengths("up6")
    ]
    rules += [make_rule(outside, source, *drop, comment="a server's source from outside") for source in listeners.iter_source_lookups(used)]
    rules.append(make_rule(outside, UNFORWARDED, Match(Field.IP_DADDR, PRIVATE), Count("misdirected"), DROP, comment="private destination"))
    return Chain("spoofed", (*rules, *_iter_server_rules(gateway, used)))


def _list_own_and_private(gateway: GatewaySpec) -> tuple[IPv4Network, ...]:
    """Return one disjoint set, so that our own prefixes cost no lookup of their own; nft refuses prefixes that overlap."""
    return tuple(collapse_addresses([*PRIVATE, *gateway.settings.publics]))


def _iter_server_rules(gateway: GatewaySpec, used: UsedSets) -> Iterator[Rule]:
    """Yield the rules that drop members' sources behind the servers' interface, where no member is."""
    if gateway.interfaces.server:
        held = (Lookup((Field.IP_SADDR,), "up4"), *(match_prefix(Field.IP6_SADDR, "up6", length) for length in used.list_lengths("up6")))
        there = match_field(Field.IIFNAME, gateway.interfaces.server)
        yield from (make_rule(there, source, Count("spoofed"), DROP, comment="a member's source from a server") for source in held)

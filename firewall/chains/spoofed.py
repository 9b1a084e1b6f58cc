"""The chain against sources that cannot be genuine."""

from collections.abc import Iterator
from ipaddress import collapse_addresses
from typing import TypeAlias

from firewall.addresses import PRIVATE
from firewall.chains import listeners
from firewall.chains.rule_helpers import DROP, RETURN, make_rule, match_field, match_prefix
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Count, Field, Lookup, Match, Rule

SourceMatch: TypeAlias = tuple[Lookup | Match, ...]
IPV4, IPV6 = Match(Field.NFPROTO, ("ipv4",)), Match(Field.NFPROTO, ("ipv6",))
UNFORWARDED = Match(Field.CT_STATUS, ("dnat",), negated=True)
_DROP_SPOOFED = (Count("spoofed"), DROP)


def build_chain(gateway: GatewaySpec, used: UsedSets) -> Chain:
    """Return the chain that drops sources that cannot be genuine, and private destinations from outside.

    Members' sets are looked up by `!=` alone: it leaves an element's counter alone, so nothing counts twice, and what a stranger
    sends in a member's name does not count at all.
    """
    inside, outside = match_field(Field.IIFNAME, gateway.interfaces.lan), match_field(Field.IIFNAME, gateway.interfaces.wan)
    unheld4, unheld6 = _build_unassigned_match(used)
    rules = [
        make_rule(inside, IPV4, *unheld4, *_DROP_SPOOFED, comment="not a member's source"),
        make_rule(inside, IPV6, *unheld6, *_DROP_SPOOFED, comment="not a member's source"),
        make_rule(outside, _match_own_and_private(gateway), *_DROP_SPOOFED, comment="private or our own source from outside"),
    ]
    rules += [
        make_rule(outside, source, *_DROP_SPOOFED, comment="a server's source from outside")
        for source in listeners.iter_server_source_lookups(used)
    ]
    rules.append(make_rule(outside, UNFORWARDED, Match(Field.IP_DADDR, PRIVATE), Count("misdirected"), DROP, comment="private destination"))
    rules += _iter_member_source_rules(outside, IPV6, unheld6)
    if gateway.interfaces.server:
        there = match_field(Field.IIFNAME, gateway.interfaces.server)
        rules += [*_iter_member_source_rules(there, IPV4, unheld4), *_iter_member_source_rules(there, IPV6, unheld6)]
    return Chain("spoofed", tuple(rules))


def _match_own_and_private(gateway: GatewaySpec) -> Match:
    """Return the match of one disjoint set, so that our own prefixes cost no lookup of their own; nft refuses prefixes that overlap."""
    return Match(Field.IP_SADDR, tuple(collapse_addresses([*PRIVATE, *gateway.settings.publics])))


def _build_unassigned_match(used: UsedSets) -> tuple[SourceMatch, SourceMatch]:
    """Return for each version of IP the lookups that all match if no member holds the source; empty if no member can."""
    unheld6 = tuple(match_prefix(Field.IP6_SADDR, "up6", length, negated=True) for length in used.list_lengths("up6"))
    return (Lookup((Field.IP_SADDR,), "up4", negated=True),), unheld6


def _iter_member_source_rules(interface: Match, version: Match, unheld: SourceMatch) -> Iterator[Rule]:
    """Yield the rules that drop members' sources behind an interface where no member is. They stand last: other sources return."""
    if unheld:
        yield make_rule(interface, *unheld, RETURN)
        yield make_rule(interface, version, *_DROP_SPOOFED, comment="a member's source where no member is")

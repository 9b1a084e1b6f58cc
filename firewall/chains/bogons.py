"""Chains for special-purpose addresses: nothing comes from them through the uplink, and nothing goes there."""

from ipaddress import collapse_addresses

from firewall.bogons import BOGONS4, BOGONS6
from firewall.chains.rule_helpers import DROP, make_rule, match_field
from firewall.policy import GatewaySpec, Prefix, ProtectionSpec
from firewall.ruleset import Chain, Count, Field, Match, Reject, RejectType, Verdict, VerdictAction


def build_chains(gateway: GatewaySpec) -> tuple[Chain, ...]:
    """Return `bogons`, and `bogons_to`, which refuses a member's packets; none if the group does not want it. What comes in is dropped."""
    protection = gateway.settings.protection
    if not protection.bogons:
        return ()
    comes, goes = match_field(Field.IIFNAME, gateway.interfaces.wan), match_field(Field.OIFNAME, gateway.interfaces.wan)
    sources = (build_bogon_matches(Field.IP_SADDR, BOGONS4, protection), build_bogon_matches(Field.IP6_SADDR, BOGONS6, protection))
    targets = (build_bogon_matches(Field.IP_DADDR, BOGONS4, protection), build_bogon_matches(Field.IP6_DADDR, BOGONS6, protection))
    rules = [make_rule(comes, *each, Count("bogons_from"), DROP, comment="RFC 6890") for each in sources]
    rules += [make_rule(goes, *each, Count("bogons_to"), Verdict(VerdictAction.GOTO, "bogons_to"), comment="RFC 6890") for each in targets]
    told = (make_rule(match_field(Field.L4PROTO, "tcp"), Reject(RejectType.TCP_RESET)), make_rule(Reject(RejectType.ADMIN_PROHIBITED)))
    return Chain("bogons_to", told), Chain("bogons", tuple(rules))


def build_bogon_matches(field: Field, bogons: tuple[Prefix, ...], protection: ProtectionSpec) -> tuple[Match, ...]:
    """Return the matches for an address that is one of `bogons`, and not one of the network's own."""
    # the ignore: mypy does not see that all prefixes are of one family
    own = tuple(collapse_addresses(each for each in protection.own if each.version == bogons[0].version))  # type: ignore[type-var]
    return (Match(field, bogons), *((Match(field, own, negated=True),) if own else ()))

"""Special-purpose addresses: nothing comes from them through the uplink, and nothing goes there."""

from ipaddress import collapse_addresses

from firewall.bogons import BOGONS4, BOGONS6
from firewall.chains.rule_helpers import DROP, at, rule
from firewall.policy import Gateway, Prefix, Protection
from firewall.ruleset import Action, Chain, Count, Field, Match, Refusal, Reject, Verdict


def chains(gateway: Gateway) -> tuple[Chain, ...]:
    """`bogons`, and `bogons_to` for what a member is told; none if the group does not want it. What comes is dropped."""
    protection = gateway.settings.protection
    if not protection.bogons:
        return ()
    comes, goes = at(Field.IIFNAME, gateway.interfaces.wan), at(Field.OIFNAME, gateway.interfaces.wan)
    sources = (refused(Field.IP_SADDR, BOGONS4, protection), refused(Field.IP6_SADDR, BOGONS6, protection))
    targets = (refused(Field.IP_DADDR, BOGONS4, protection), refused(Field.IP6_DADDR, BOGONS6, protection))
    rules = [rule(comes, *each, Count("bogons_from"), DROP, comment="RFC 6890") for each in sources]
    rules += [rule(goes, *each, Count("bogons_to"), Verdict(Action.GOTO, "bogons_to"), comment="RFC 6890") for each in targets]
    told = (rule(at(Field.L4PROTO, "tcp"), Reject(Refusal.TCP_RESET)), rule(Reject(Refusal.ADMIN_PROHIBITED)))
    return Chain("bogons_to", told), Chain("bogons", tuple(rules))


def refused(field: Field, bogons: tuple[Prefix, ...], protection: Protection) -> tuple[Match, ...]:
    """The address is one of these, and none of the network's own."""
    own = tuple(collapse_addresses(each for each in protection.own if each.version == bogons[0].version))  # type: ignore[type-var]  # of one family
    return (Match(field, bogons), *((Match(field, own, negated=True),) if own else ()))

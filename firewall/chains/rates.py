"""Chains of the rate limits: policing of members' traffic through the uplink, element by element, and only while a member is limited.

They come before any other decision, and at the forward hook: there the source is still the one before source NAT, and the
destination already the one after destination NAT, so both are the member's own.
"""

from collections.abc import Iterator

from firewall.chains.rule_helpers import DROP, make_jump, make_rule, match_prefix
from firewall.chains.used_sets import UsedSets
from firewall.elements.rates import NOW, TARIFF
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Count, Field, Lookup, Rule, VerdictMap

UP, DOWN = "rates_up", "rates_down"
_ADDRESSES = {UP: (Field.IP_SADDR, Field.IP6_SADDR), DOWN: (Field.IP_DADDR, Field.IP6_DADDR)}
_WAYS = {UP: "up", DOWN: "down"}


def build_chains(gateway: GatewaySpec, used: UsedSets) -> tuple[Chain, ...]:
    """Return `rates_up` and `rates_down`, each only if a member is limited in that direction."""
    rules = {name: tuple(_iter_rules(name, used)) for name in (UP, DOWN)} if not gateway.settings.rates_off else {}
    return tuple(Chain(name, each) for name, each in rules.items() if each)


def list_counters(gateway: GatewaySpec, used: UsedSets) -> frozenset[str]:
    """Return the names of the counters of packets dropped over a rate: those of the chains."""
    return frozenset(chain.name for chain in build_chains(gateway, used))


def build_rate_limit_jumps(gateway: GatewaySpec, used: UsedSets) -> tuple[Rule, ...]:
    """Return the jumps for what passes the uplink; traffic between members and to the network's own servers is not limited."""
    names, there = gateway.interfaces, list_counters(gateway, used)
    ways = (((names.lan, names.wan), UP), ((names.wan, names.lan), DOWN))
    entries = tuple((way, make_jump(name)) for way, name in ways if name in there)
    return (make_rule(VerdictMap((Field.IIFNAME, Field.OIFNAME), entries), comment="rate limits"),) if entries else ()


def _iter_rules(name: str, used: UsedSets) -> Iterator[Rule]:
    """Yield the rules of one direction. A match means that the member exceeded the rate."""
    four, six = _ADDRESSES[name]
    for made in (TARIFF, NOW):
        start = f"{made}_{_WAYS[name]}"
        if f"{start}4" in used:
            yield make_rule(Lookup((four,), f"{start}4"), Count(name), DROP)
        yield from (make_rule(match_prefix(six, f"{start}6", length), Count(name), DROP) for length in used.list_lengths(f"{start}6"))

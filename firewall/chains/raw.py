"""Chains before connection tracking: for what must never depend on it, whatever fills its table."""

from firewall.chains import bans, guards, listeners
from firewall.chains.input import NEIGHBOUR_DISCOVERY
from firewall.chains.rule_helpers import ACCEPT, DROP, VRRP, make_jump, make_rule, match_field
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Field, Hook, HookPriority, Match, Notrack, Rule


def build_prerouting_chain(gateway: GatewaySpec, used: UsedSets) -> Chain:
    """Return the chain of packets that come in."""
    flood = _build_flood_rules(gateway.interfaces.wan) if gateway.settings.flood_mode and bans.build_banned_source_chains(used) else ()
    servers = (*listeners.iter_untracked_rules(gateway, used), *guards.iter_untracked_rules(used))
    return _build_chain("prerouting", (*_build_untracked_rules(gateway, Field.IIFNAME, Field.TCP_DPORT), *flood, *servers))


def build_output_chain(gateway: GatewaySpec) -> Chain:
    """Return the chain of packets that the gateway itself sends.

    Management and state sync are untracked in this direction too; otherwise their answers alone would be tracked. ICMPv6 redirects
    are dropped, because a member's host that obeys one sends past the gateway. For IPv4 the kernel has a switch for that, for IPv6
    it has none.
    """
    redirects = make_rule(Match(Field.ICMPV6_TYPE, ("nd-redirect",)), DROP, comment="no redirects")
    return _build_chain("output", (*_build_untracked_rules(gateway, Field.OIFNAME, Field.TCP_SPORT), redirects))


def _build_chain(hook: str, rules: tuple[Rule, ...]) -> Chain:
    return Chain(f"raw_{hook}", rules, Hook("filter", hook, HookPriority.RAW))


def _build_untracked_rules(gateway: GatewaySpec, interface: Field, port: Field) -> tuple[Rule, ...]:
    """Return the rules by which management and state sync never depend on connection tracking, whatever fills its table."""
    names = gateway.interfaces
    rules = [
        make_rule(
            match_field(interface, names.management), Match(port, (gateway.management.port,)), Notrack(), ACCEPT, comment="management"
        )
    ]
    if names.sync:
        rules.append(make_rule(match_field(interface, names.sync), Notrack(), ACCEPT, comment="state sync"))
    return tuple(rules)


def _build_flood_rules(wan: str) -> tuple[Rule, ...]:
    """Return the rules that drop banned sources, on the uplink alone, and never what the gateways themselves need to stay up."""
    outside = match_field(Field.IIFNAME, wan)
    return (
        make_rule(outside, Match(Field.L4PROTO, (VRRP,)), ACCEPT, comment="VRRP, RFC 9568"),
        make_rule(outside, Match(Field.ICMPV6_TYPE, NEIGHBOUR_DISCOVERY), Match(Field.HOPLIMIT, (255,)), ACCEPT, comment="RFC 4861"),
        make_rule(outside, make_jump(bans.FROM), comment="flood mode"),
    )

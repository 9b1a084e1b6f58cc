"""Before connection tracking: what must never depend on it, whatever fills its table."""

from firewall.chains import bans, guards, listeners
from firewall.chains.input import NEIGHBOUR_DISCOVERY
from firewall.chains.rule_helpers import ACCEPT, DROP, VRRP, at, jump, rule
from firewall.chains.used_sets import Used
from firewall.policy import Gateway
from firewall.ruleset import Chain, Field, Hook, Match, Notrack, Priority, Rule


def prerouting(gateway: Gateway, used: Used) -> Chain:
    """What comes in."""
    flood = _flood(gateway.interfaces.wan) if gateway.settings.flood_mode and bans.sources(used) else ()
    servers = (*listeners.untracked(gateway, used), *guards.untracked(used))
    return _chain("prerouting", (*_untracked(gateway, Field.IIFNAME, Field.TCP_DPORT), *flood, *servers))


def output(gateway: Gateway) -> Chain:
    """What the gateway itself sends: both directions, or the answers alone would be tracked. Of redirects none: a member who obeys one
    sends past the gateway. IPv4 has a switch of the kernel for that, IPv6 has not.
    """
    redirects = rule(Match(Field.ICMPV6_TYPE, ("nd-redirect",)), DROP, comment="no redirects")
    return _chain("output", (*_untracked(gateway, Field.OIFNAME, Field.TCP_SPORT), redirects))


def _chain(hook: str, rules: tuple[Rule, ...]) -> Chain:
    return Chain(f"raw_{hook}", rules, Hook("filter", hook, Priority.RAW))


def _untracked(gateway: Gateway, interface: Field, port: Field) -> tuple[Rule, ...]:
    """Management and state sync never depend on connection tracking, whatever fills its table."""
    names = gateway.interfaces
    rules = [rule(at(interface, names.management), Match(port, (gateway.management.port,)), Notrack(), ACCEPT, comment="management")]
    if names.sync:
        rules.append(rule(at(interface, names.sync), Notrack(), ACCEPT, comment="state sync"))
    return tuple(rules)


def _flood(wan: str) -> tuple[Rule, ...]:
    """Banned sources end here, on the uplink alone: never what the gateways themselves need to stay up."""
    outside = at(Field.IIFNAME, wan)
    return (
        rule(outside, Match(Field.L4PROTO, (VRRP,)), ACCEPT, comment="VRRP, RFC 9568"),
        rule(outside, Match(Field.ICMPV6_TYPE, NEIGHBOUR_DISCOVERY), Match(Field.HOPLIMIT, (255,)), ACCEPT, comment="RFC 4861"),
        rule(outside, jump(bans.FROM), comment="flood mode"),
    )

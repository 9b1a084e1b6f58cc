"""Chains before connection tracking: for what must never depend on it, whatever fills its table."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from firewall.chains import bans, guards, listeners
from firewall.chains.input import NEIGHBOUR_DISCOVERY
from firewall.chains.rule_helpers import ACCEPT, DROP, VRRP, make_jump, make_rule, match_field
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Field, Hook, HookPriority, Match, Notrack, Rule, Verdict, VerdictAction, VerdictMap

SYNC: Final = make_rule(Notrack(), ACCEPT, comment="state sync")
FLOOD: Final = (
    make_rule(Match(Field.L4PROTO, (VRRP,)), ACCEPT, comment="VRRP, RFC 9568"),
    make_rule(Match(Field.ICMPV6_TYPE, NEIGHBOUR_DISCOVERY), Match(Field.HOPLIMIT, (255,)), ACCEPT, comment="RFC 4861"),
    make_rule(make_jump(bans.FROM), comment="flood mode"),
)
"""Rules that drop banned sources, for the uplink alone, and never what the gateways themselves need to stay up."""


def build_prerouting_chains(gateway: GatewaySpec, used: UsedSets) -> tuple[Chain, ...]:
    """Return the chains for packets by where they come in, and the chain of all that come in, which leads there.

    Nearly all come in by the uplink or from members, which is compared; a lookup of the interface's name costs as much as two comparisons.
    Packets to servers are found first, or in flood mode after those from banned sources.
    """
    of_servers = (*listeners.iter_untracked_rules(used), *guards.iter_untracked_rules(used))
    servers = Chain("raw_servers", of_servers if _is_flooded(gateway, used) else ())
    on = (make_rule(_go_to(servers)),) if servers.rules else ()
    chains: dict[str, Chain] = {}
    for role, interface, rules in _iter_interface_rules(gateway, used):
        chain = chains.get(interface, Chain(f"raw_{role}", ()))  # an interface may have two roles
        chains[interface] = replace(chain, rules=(*chain.rules, *rules))
    chains = {
        interface: replace(chain, rules=(*chain.rules, *on)) if chain.rules[-1] != SYNC else chain for interface, chain in chains.items()
    }
    verdicts = {interface: _go_to(chain) for interface, chain in chains.items()}
    usual = (gateway.interfaces.wan, gateway.interfaces.lan)
    compared = [make_rule(match_field(Field.IIFNAME, each), verdicts.get(each, _go_to(servers) if on else ACCEPT)) for each in usual]
    entries = tuple(((interface,), verdict) for interface, verdict in verdicts.items() if interface not in usual)
    looked_up = (make_rule(VerdictMap((Field.IIFNAME,), entries)),) if entries else ()
    led = (*compared, *looked_up, *on) if on else (*of_servers, *compared, *looked_up)
    return (*((servers,) if on else ()), *chains.values(), _build_chain("prerouting", led))


def _is_flooded(gateway: GatewaySpec, used: UsedSets) -> bool:
    """True if packets from outside are looked up in bans before they are tracked."""
    return gateway.settings.flood_mode and bool(bans.build_banned_source_chains(used))


def _go_to(chain: Chain) -> Verdict:
    return Verdict(VerdictAction.GOTO, chain.name)


def _iter_interface_rules(gateway: GatewaySpec, used: UsedSets) -> Iterator[tuple[str, str, tuple[Rule, ...]]]:
    """Yield a role, the interface that has it, and the rules for what comes in there."""
    names = gateway.interfaces
    yield "management", names.management, (_make_management_rule(gateway, Field.TCP_DPORT),)
    if names.sync:
        yield "sync", names.sync, (SYNC,)
    if _is_flooded(gateway, used):
        yield "flood", names.wan, FLOOD
    if answers := tuple(listeners.iter_answer_rules(used)):
        yield "answers", guards.get_server_interface(gateway), answers


def build_output_chain(gateway: GatewaySpec) -> Chain:
    """Return the chain of packets that the gateway itself sends.

    Management and state sync are untracked in this direction too; otherwise their answers alone would be tracked. ICMPv6 redirects
    are dropped, because a member's host that obeys one sends past the gateway. For IPv4 the kernel has a switch for that, for IPv6
    it has none.
    """
    names = gateway.interfaces
    redirects = make_rule(Match(Field.ICMPV6_TYPE, ("nd-redirect",)), DROP, comment="no redirects")
    own = [(names.management, _make_management_rule(gateway, Field.TCP_SPORT)), *([(names.sync, SYNC)] if names.sync else [])]
    untracked = (replace(rule, parts=(match_field(Field.OIFNAME, interface), *rule.parts)) for interface, rule in own)
    return _build_chain("output", (*untracked, redirects))


def _build_chain(hook: str, rules: tuple[Rule, ...]) -> Chain:
    return Chain(f"raw_{hook}", rules, Hook("filter", hook, HookPriority.RAW))


def _make_management_rule(gateway: GatewaySpec, port: Field) -> Rule:
    """Return the rule by which management never depends on connection tracking. port: the field with the gateway's own port."""
    return make_rule(Match(port, (gateway.management.port,)), Notrack(), ACCEPT, comment="management")

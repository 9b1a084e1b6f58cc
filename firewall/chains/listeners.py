"""Chains for the network's own servers: their packets pass without connection tracking, because they would fill its table.

The raw chain exempts these packets from tracking. The chain `listeners` accepts them in both directions, and answers SYNs to guarded
services itself. All other untracked packets are dropped.
"""

from collections.abc import Iterator
from typing import TypeAlias

from firewall.chains import blocks, guards
from firewall.chains.rule_helpers import ACCEPT, DROP, ERRORS4, ERRORS6, make_jump, make_rule, match_field
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Count, Field, Lookup, Match, Notrack, Rule, Verdict, VerdictAction

_SIDES = ((4, Field.IP_SADDR, Field.IP_DADDR), (6, Field.IP6_SADDR, Field.IP6_DADDR))
ErrorMatch: TypeAlias = tuple[Match, Lookup]
_ERRORS = {4: Match(Field.ICMP_TYPE, ERRORS4), 6: Match(Field.ICMPV6_TYPE, ERRORS6)}


def is_in_use(used: UsedSets) -> bool:
    """True if any server listens."""
    return "listener4" in used or "listener6" in used or guards.is_in_use(used)


def iter_untracked_rules(used: UsedSets) -> Iterator[Rule]:
    """Yield the rules for the raw chain. Most packets go to no server; they cost one lookup of their address."""
    yield from (make_rule(to_server, make_jump("raw_listeners")) for _to, _back, (_is_error, to_server) in _iter_paths(used))


def iter_answer_rules(used: UsedSets) -> Iterator[Rule]:
    """Yield the rules for the raw chain of packets from the servers' side."""
    yield from (make_rule(back, Notrack(), ACCEPT, comment="listeners") for _to, back, _errors in _iter_paths(used))


def build_raw_listener_chain(used: UsedSets) -> Chain | None:
    """Return the chain of packets to a server: to its services, and ICMP errors, without which path MTU discovery fails (RFC 2923, 2.1)."""
    led = [way for to, _back, errors in _iter_paths(used) for way in ((to,), errors)]
    return Chain("raw_listeners", tuple(make_rule(*way, Notrack(), ACCEPT, comment="listeners") for way in led)) if led else None


def get_verdict(used: UsedSets) -> Verdict:
    """Return the verdict on an untracked packet that is forwarded."""
    return Verdict(VerdictAction.GOTO, "listeners") if is_in_use(used) else DROP


def build_chain(gateway: GatewaySpec, used: UsedSets) -> Chain | None:
    """Return the chain of untracked packets; None if no server listens.

    Answers of servers, which are not members, and errors of routers, which may have any address, stand before anti-spoofing.
    """
    if not is_in_use(used):
        return None
    ways, servers = tuple(_iter_paths(used)), guards.get_server_interface(gateway)
    here, there = match_field(Field.IIFNAME, servers), match_field(Field.OIFNAME, servers)
    return Chain(
        "listeners",
        (
            make_rule(make_jump("bans")),
            *(make_rule(here, back, ACCEPT) for _to, back, _errors in ways),
            *(make_rule(there, *errors, ACCEPT) for _to, _back, errors in ways),
            make_rule(make_jump("spoofed")),
            *blocks.iter_blocked_sender_jumps(gateway, used),
            *(make_rule(there, to, ACCEPT) for to, _back, _errors in ways),
            *guards.iter_synproxy_rules(gateway, used, guards.SYN),
            make_rule(Count("untracked"), DROP),
        ),
    )


def iter_server_source_lookups(used: UsedSets) -> Iterator[Lookup]:
    """Yield the lookups of servers' sources, which come from their side alone."""
    yield from (
        Lookup((source,), f"listener{version}_hosts") for version, source, _destination in _SIDES if f"listener{version}_hosts" in used
    )


def _iter_paths(used: UsedSets) -> Iterator[tuple[Lookup, Lookup, ErrorMatch]]:
    """Yield for each family in use the matches of packets to servers, of packets from them, and of ICMP errors to them."""
    for version, source, destination in _SIDES:
        if f"listener{version}" in used:
            to = Lookup((destination, Field.L4PROTO, Field.TH_DPORT), f"listener{version}")
            back = Lookup((source, Field.L4PROTO, Field.TH_SPORT), f"listener{version}")
            yield to, back, (_ERRORS[version], Lookup((destination,), f"listener{version}_hosts"))

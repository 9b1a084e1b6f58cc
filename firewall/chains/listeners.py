"""Servers of the network itself: their packets pass without connection tracking, which they would fill.

What the raw chain leaves untracked, this one accepts, both ways, or answers, where it is a SYN to a guarded service; nothing else that is
untracked passes.
"""

from collections.abc import Iterator
from typing import TypeAlias

from firewall.chains import blocks, guards
from firewall.chains.rule_helpers import ACCEPT, DROP, ERRORS4, ERRORS6, at, jump, rule
from firewall.chains.used_sets import Used
from firewall.policy import Gateway
from firewall.ruleset import Action, Chain, Count, Field, Lookup, Match, Notrack, Rule, Verdict

_SIDES = ((4, Field.IP_SADDR, Field.IP_DADDR), (6, Field.IP6_SADDR, Field.IP6_DADDR))
Way: TypeAlias = tuple[Match | Lookup, ...]
Errors: TypeAlias = tuple[Match, Lookup]
_ERRORS = {4: Match(Field.ICMP_TYPE, ERRORS4), 6: Match(Field.ICMPV6_TYPE, ERRORS6)}


def in_use(used: Used) -> bool:
    """Does any server listen?"""
    return "lst4" in used or "lst6" in used or guards.in_use(used)


def untracked(gateway: Gateway, used: Used) -> Iterator[Rule]:
    """For the raw chain: both directions. What is for no server at all, which is most, is asked for its address alone."""
    for _to, back, (_is_error, to_server) in _ways(gateway, used):
        yield rule(to_server, jump("raw_listeners"))
        yield rule(*back, Notrack(), ACCEPT, comment="listeners")


def raw(gateway: Gateway, used: Used) -> Chain | None:
    """What comes to a server: its services, and ICMP errors, without which path MTU discovery dies (RFC 2923, 2.1)."""
    led = [way for to, _back, errors in _ways(gateway, used) for way in (to, errors)]
    return Chain("raw_listeners", tuple(rule(*way, Notrack(), ACCEPT, comment="listeners") for way in led)) if led else None


def verdict(used: Used) -> Verdict:
    """What befalls an untracked packet that is forwarded."""
    return Verdict(Action.GOTO, "listeners") if in_use(used) else DROP


def chain(gateway: Gateway, used: Used) -> Chain | None:
    """Answers of servers, who are no members, and errors of routers, who may have any address, stand before anti-spoofing."""
    if not in_use(used):
        return None
    ways, there = tuple(_ways(gateway, used)), at(Field.OIFNAME, guards.side(gateway))
    return Chain(
        "listeners",
        (
            rule(jump("bans")),
            *(rule(*back, ACCEPT) for _to, back, _errors in ways),
            *(rule(there, *errors, ACCEPT) for _to, _back, errors in ways),
            rule(jump("spoofed")),
            *blocks.begun(gateway, used),
            *(rule(there, *to, ACCEPT) for to, _back, _errors in ways),
            *guards.answered(gateway, used, guards.SYN),
            rule(Count("untracked"), DROP),
        ),
    )


def sources(used: Used) -> Iterator[Lookup]:
    """Sources of servers, which come from their side alone."""
    yield from (Lookup((source,), f"lst{version}_hosts") for version, source, _destination in _SIDES if f"lst{version}_hosts" in used)


def _ways(gateway: Gateway, used: Used) -> Iterator[tuple[Way, Way, Errors]]:
    """For each family in use: what goes to servers, what comes from them, and ICMP errors to them."""
    here = at(Field.IIFNAME, guards.side(gateway))
    for version, source, destination in _SIDES:
        if f"lst{version}" in used:
            to = Lookup((destination, Field.L4PROTO, Field.TH_DPORT), f"lst{version}")
            back = Lookup((source, Field.L4PROTO, Field.TH_SPORT), f"lst{version}")
            yield (to,), (here, back), (_ERRORS[version], Lookup((destination,), f"lst{version}_hosts"))

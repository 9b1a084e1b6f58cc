"""The chains of a gateway: the fixed shape that looks people up in sets, and never grows with their number.

In goes a gateway and which sets are in use; out come chains, a module for each concern. Why each line stands where it stands is in
docs/ruleset.md; the order is that of the hooks a packet passes.
"""

from functools import lru_cache

from firewall import names, probing
from firewall.chains import (
    bans,
    blocks,
    bogons,
    directions,
    dstnat,
    forward,
    guards,
    helpers,
    icmp6,
    input,
    limits,
    listeners,
    mangle,
    members,
    new,
    postrouting,
    rates,
    raw,
    spoofed,
)
from firewall.chains.used_sets import Used
from firewall.policy import Gateway, PolicyError, Settings
from firewall.ruleset import Chain

COUNTERS = frozenset({"leaked", "spoofed", "refused", "unmatched", "unmapped", "portless", "blocked", "misdirected"})


def counters(gateway: Gateway, used: Used) -> frozenset[str]:
    """The names of all counters of one gateway."""
    of_settings = _of_settings(gateway.settings) | limits.counters(gateway) | rates.counters(gateway, used)
    return COUNTERS | probing.counters(gateway) | of_settings | ({"untracked"} if listeners.in_use(used) else frozenset())


def _of_settings(settings: Settings) -> frozenset[str]:
    return frozenset({"bogons_from", "bogons_to"} if settings.protection.bogons else ())


def build(gateway: Gateway, used: Used) -> dict[str, Chain]:
    """All chains of one gateway by name, those that are jumped to before those that jump.

    Nearly every change is of elements alone and finds the chains of the one before it: building them takes most of the time that one
    costs. The chains are the same objects then, so comparing them costs nothing either.
    """
    return dict(_build(gateway, used))


@lru_cache(maxsize=64)
def _build(gateway: Gateway, used: Used) -> dict[str, Chain]:
    return directions.split(gateway.interfaces, whole(gateway, used))


def whole(gateway: Gateway, used: Used) -> dict[str, Chain]:
    """The chains before connections have lanes: they do the same, and ask more."""
    at = gateway.interfaces
    for interface in (at.lan, at.wan, at.management, *filter(None, [at.sync, at.server])):
        names.interface(interface)
    if at.server in (at.lan, at.wan, at.management, *filter(None, [at.sync])):
        raise PolicyError(f"gateway {gateway.name}: {at.server} is another interface of it already; servers need one of their own, or none")
    if gateway.probe:
        probing.check(gateway.name, at, gateway.probe)
    chains = (
        *bans.sources(used),
        *bans.destinations(used),
        listeners.raw(gateway, used),
        raw.prerouting(gateway, used),
        raw.output(gateway),
        dstnat.chain(gateway, used),
        helpers.chain(gateway),
        input.chain(gateway),
        bans.chain(gateway, used),
        spoofed.chain(gateway, used),
        *bogons.chains(gateway),
        blocks.chain(gateway),
        *limits.chains(gateway, used),
        listeners.chain(gateway, used),
        *guards.chains(gateway, used),
        new.chain(gateway, used),
        icmp6.related(),
        members.up(gateway, used),
        members.down(gateway, used),
        members.inside6(used),
        members.inside(used),
        *rates.chains(gateway, used),
        mangle.forward(gateway, used),
        forward.chain(gateway, used),
        postrouting.srcnat(gateway),
        postrouting.fail_closed(gateway),
    )
    return {chain.name: chain for chain in chains if chain}

"""The chains of a gateway: a fixed shape that looks members up in sets, and never grows with their number.

Input: a gateway and the sets in use. Output: chains, with one module for each concern. docs/ruleset.md gives the reason for the
place of each line; the order is that of the hooks a packet passes.
"""

from functools import lru_cache

from firewall import names, probing
from firewall.chains import (
    bans,
    blocks,
    bogons,
    conntrack_helpers,
    directions,
    dstnat,
    forward,
    guards,
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
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewayGroupSettings, GatewaySpec, PolicyError
from firewall.ruleset import Chain

COUNTERS = frozenset({"leaked", "spoofed", "refused", "unmatched", "unmapped", "portless", "blocked", "misdirected"})


def list_counters(gateway: GatewaySpec, used: UsedSets) -> frozenset[str]:
    """Return the names of all counters of one gateway."""
    of_settings = _list_settings_counters(gateway.settings) | limits.list_counters(gateway) | rates.list_counters(gateway, used)
    return COUNTERS | probing.list_counters(gateway) | of_settings | ({"untracked"} if listeners.is_in_use(used) else frozenset())


def _list_settings_counters(settings: GatewayGroupSettings) -> frozenset[str]:
    return frozenset({"bogons_from", "bogons_to"} if settings.protection.bogons else ())


def build_chains(gateway: GatewaySpec, used: UsedSets) -> dict[str, Chain]:
    """Return all chains of one gateway by name, those that are jumped to before those that jump.

    The result is cached: nearly every change is of elements alone and gets the chains of the one before, while building them would
    take most of its time. The chains are the same objects then, so comparing them costs nothing either.
    """
    return dict(_build_cached(gateway, used))


@lru_cache(maxsize=512)  # gateways of one portal: with fewer than it looks at in turn, none would be found
def _build_cached(gateway: GatewaySpec, used: UsedSets) -> dict[str, Chain]:
    return directions.split_by_direction(gateway.interfaces, build_unspecialized(gateway, used))


def build_unspecialized(gateway: GatewaySpec, used: UsedSets) -> dict[str, Chain]:
    """Return the chains before they are split by direction: they do the same, and check more."""
    at = gateway.interfaces
    for interface in (at.lan, at.wan, at.management, *filter(None, [at.sync, at.server])):
        names.validate_interface(interface)
    if at.server in (at.lan, at.wan, at.management, *filter(None, [at.sync])):
        raise PolicyError(f"gateway {gateway.name}: {at.server} has another role already; give servers their own interface, or none")
    if gateway.probe:
        probing.check_probe(gateway.name, at, gateway.probe)
    if gateway.settings.responder:
        probing.check_responder(gateway.name, gateway.settings.responder)
    chains = (
        *bans.build_banned_source_chains(used),
        *bans.build_banned_destination_chains(used),
        listeners.build_raw_listener_chain(used),
        *raw.build_prerouting_chains(gateway, used),
        raw.build_output_chain(gateway),
        *dstnat.build_chains(gateway, used),
        conntrack_helpers.build_chain(gateway),
        input.build_chain(gateway),
        bans.build_chain(gateway, used),
        spoofed.build_chain(gateway, used),
        *bogons.build_chains(gateway),
        blocks.build_chain(gateway),
        *limits.build_chains(gateway, used),
        listeners.build_chain(gateway, used),
        *guards.build_chains(gateway, used),
        members.build_up_chain(gateway, used),
        members.build_down_chain(gateway, used),
        members.build_member_receiver6_chain(used),
        members.build_member_to_member_chain(used),
        new.build_chain(gateway, used),
        icmp6.build_icmp6_error_chain(),
        *rates.build_chains(gateway, used),
        mangle.build_mangle_forward_chain(gateway, used),
        forward.build_chain(gateway, used),
        *postrouting.build_srcnat_chains(gateway),
        postrouting.build_leak_drop_chain(gateway),
    )
    return {chain.name: chain for chain in chains if chain}

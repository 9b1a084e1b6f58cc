"""The chains of a gateway: the fixed shape that looks people up in sets, and never grows with their number.

In goes a gateway and which sets are in use; out come chains, a module for each concern. Why each line stands where it stands is in
docs/ruleset.md; the order is that of the hooks a packet passes.
"""

from firewall import names, probing
from firewall.chains import bans, blocks, dstnat, forward, input, listeners, mangle, members, new, postrouting, raw, spoofed
from firewall.chains.used import Used
from firewall.policy import Gateway, PolicyError
from firewall.ruleset import Chain

COUNTERS = frozenset({"leaked", "spoofed", "refused", "unmatched", "blocked"})


def counters(gateway: Gateway, used: Used) -> frozenset[str]:
    """The names of all counters of one gateway."""
    return COUNTERS | probing.counters(gateway) | ({"untracked"} if listeners.in_use(used) else frozenset())


def build(gateway: Gateway, used: Used) -> dict[str, Chain]:
    """All chains of one gateway by name, those that are jumped to before those that jump."""
    at = gateway.interfaces
    for interface in (at.lan, at.wan, at.management, *filter(None, [at.sync, at.server])):
        names.interface(interface)
    if at.server in (at.lan, at.wan, at.management, *filter(None, [at.sync])):
        raise PolicyError(f"gateway {gateway.name}: {at.server} is another interface of it already; servers need one of their own, or none")
    if gateway.probe:
        probing.check(gateway.name, at, gateway.probe)
    chains = (
        raw.prerouting(gateway, used),
        raw.output(gateway),
        dstnat.chain(gateway, used),
        input.chain(gateway),
        bans.chain(used),
        spoofed.chain(gateway, used),
        blocks.chain(gateway),
        listeners.chain(gateway, used),
        new.chain(gateway, used),
        members.up(gateway, used),
        members.down(gateway, used),
        members.inside(used),
        mangle.forward(gateway.settings),
        forward.chain(gateway, used),
        postrouting.srcnat(gateway),
        postrouting.fail_closed(gateway),
    )
    return {chain.name: chain for chain in chains if chain}

"""Destination NAT of new connections: the notice page for blocked members, port forwards, what comes in to the probe, and refusals
from inside where none applies.

NAT chains see a connection's first packet alone, so nothing here costs the other packets.
"""

from collections.abc import Iterator

from firewall import probing
from firewall.chains import blocks
from firewall.chains.rule_helpers import DROP, make_rule, match_field
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec
from firewall.ruleset import (
    Chain,
    Count,
    Dnat,
    Field,
    Hook,
    HookPriority,
    Lookup,
    Match,
    Reject,
    RejectType,
    Rule,
    Verdict,
    VerdictAction,
)

DESTINATION_PORT = (Field.IP_DADDR, Field.L4PROTO, Field.TH_DPORT)


def build_chains(gateway: GatewaySpec, used: UsedSets) -> tuple[Chain, ...]:
    """Return the chains for packets from members and from the uplink, and the one that leads there."""
    names = gateway.interfaces
    forwards = make_rule(Dnat(DESTINATION_PORT, "forward4"), comment="port forwards")
    refused = Chain("dstnat_refused", tuple(_iter_refusals()))
    ours = Match(Field.IP_DADDR, gateway.settings.publics)
    refusal = (make_rule(ours, Verdict(VerdictAction.GOTO, refused.name), comment="no forward"),) if ours.values else ()
    inside = Chain("dstnat_lan", (*blocks.iter_notice_redirects(gateway, used), forwards, *refusal))
    outside = Chain("dstnat_wan", (forwards, *probing.iter_redirects(gateway)))
    sides = ((names.lan, inside), (names.wan, outside))
    led = tuple(make_rule(match_field(Field.IIFNAME, interface), Verdict(VerdictAction.GOTO, chain.name)) for interface, chain in sides)
    found = (inside, outside, Chain("dstnat", led, Hook("nat", "prerouting", HookPriority.DSTNAT)))
    return (refused, *found) if refusal else found


def _iter_refusals() -> Iterator[Rule]:
    """Yield the rules that refuse a member's connection to a public address at a port without a forward; routing would drop it in silence.

    Sources that no member holds get no refusal; otherwise they could make the gateway send refusals to others by using their
    addresses.
    """
    nobody = Lookup((Field.IP_SADDR,), "up4", negated=True)
    yield make_rule(nobody, Count("spoofed"), DROP, comment="not a member's source")
    yield make_rule(Match(Field.L4PROTO, ("tcp",)), Count("refused"), Reject(RejectType.TCP_RESET))
    yield make_rule(Count("refused"), Reject(RejectType.ADMIN_PROHIBITED))

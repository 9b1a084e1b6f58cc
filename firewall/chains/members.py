"""Chains of members' packets, sent and received. One lookup in a set checks membership, counts the packet and accepts it.

A prefix of a member is in `up6` and in `down6`, so both families have sets of the same lengths.
"""

from typing import Final

from firewall import probing
from firewall.addresses import PRIVATE
from firewall.chains import bogons
from firewall.chains.rule_helpers import ACCEPT, DROP, RETURN, make_jump, make_rule, match_field, match_prefix, match_public_source
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Count, Field, Lookup, Match, Rule

RECEIVED: Final = (Lookup((Field.IP_DADDR,), "down4"), ACCEPT)


def build_up_chain(gateway: GatewaySpec, used: UsedSets) -> Chain:
    rules = [make_rule(Lookup((Field.IP_SADDR,), "up4"), ACCEPT)]
    rules += [make_rule(match_prefix(Field.IP6_SADDR, "up6", length), ACCEPT) for length in used.list_lengths("up6")]
    return Chain("up", (*rules, *probing.iter_probe_up_rules(gateway)))


def build_down_chain(gateway: GatewaySpec, used: UsedSets) -> Chain:
    rules = [make_rule(*RECEIVED)]
    rules += [make_rule(match_prefix(Field.IP6_DADDR, "down6", length), ACCEPT) for length in used.list_lengths("up6")]
    return Chain("down", (*_build_join_guard(gateway), *rules, *probing.iter_probe_down_rules(gateway)))


def _build_join_guard(gateway: GatewaySpec) -> tuple[Rule, ...]:
    """Return the rules that drop established packets with a private source from outside: they could match a connection between two
    members. ICMP errors of private routers are related, and pass.

    Nearly every packet is accepted before: those of connections that members began to the uplink, whose source is translated and
    whose other side is outside whatever its address; and those with a public source.
    """
    protection = gateway.settings.protection
    if not protection.bogons:
        return ()
    private = bogons.build_bogon_matches(Field.IP_SADDR, PRIVATE, protection)
    return (
        make_rule(Match(Field.CT_STATUS, ("snat",)), Match(Field.CT_STATUS, ("dnat",), negated=True), *RECEIVED),
        make_rule(*match_public_source(), *RECEIVED),
        make_rule(match_field(Field.CT_STATE, "established"), *private, Count("spoofed"), DROP, comment="private source from outside"),
    )


def build_member_to_member_chain(used: UsedSets) -> Chain:
    """Return the chain of packets from member to member through the gateway: up for one, down for the other.

    Packets to no member return before the sender is looked up, so that a packet that is not forwarded counts for no member.
    """
    not_to6 = tuple(match_prefix(Field.IP6_DADDR, "down6", length, negated=True) for length in used.list_lengths("up6"))
    rules = [
        make_rule(Lookup((Field.IP_DADDR,), "down4", negated=True), RETURN),
        make_rule(Lookup((Field.IP_SADDR,), "up4"), Lookup((Field.IP_DADDR,), "down4"), ACCEPT),
    ]
    rules += [make_rule(*not_to6, RETURN)] if not_to6 else []
    rules += [make_rule(match_prefix(Field.IP6_SADDR, "up6", length), make_jump("inside6")) for length in used.list_lengths("up6")]
    return Chain("inside", tuple(rules))


def build_member_receiver6_chain(used: UsedSets) -> Chain | None:
    """Return the chain that looks up the receiver, or None without prefixes.

    `build_member_to_member_chain` has found and counted the sender before. There is one such chain, whatever the number of lengths.
    """
    rules = [make_rule(match_prefix(Field.IP6_DADDR, "down6", length), ACCEPT) for length in used.list_lengths("up6")]
    return Chain("inside6", tuple(rules)) if rules else None

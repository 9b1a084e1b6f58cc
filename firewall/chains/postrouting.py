"""Source NAT of packets that leave, and behind it the chain that fails closed when NAT is missing."""

from typing import Final

from firewall.addresses import PRIVATE
from firewall.chains import timeouts
from firewall.chains.rule_helpers import ACCEPT, DROP, WITH_PORTS, make_rule, match_field, match_public_source
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Count, Field, Hook, HookPriority, Masquerade, Match, Rule, Snat, Verdict, VerdictAction


def _build_snat(name: str, first: int = 0, last: int = 0) -> Snat:
    return Snat((Field.IP_SADDR,), name, first_port=first, last_port=last)


OWN: Final = make_rule(_build_snat("snat4_own"), comment="keeps its port where it can")
SHARED_PORTS = (1024, 32_767)
"""With which ports members leave who share an address: none that their systems draw by themselves (49152 to 65535, RFC 6335; Linux:
32768 to 60999). So two who connect from the same such port in the same instant each get one drawn, and are not taken for each other."""


def build_srcnat_chains(gateway: GatewaySpec) -> tuple[Chain, ...]:
    """Return the chain of source NAT, and those that it leads to: for the uplink, and for members who reach each other's forwards from
    inside (hairpin).
    """
    names = gateway.interfaces
    hairpin = (match_field(Field.IIFNAME, names.lan), match_field(Field.OIFNAME, names.lan), Match(Field.CT_STATUS, ("dnat",)))
    out = make_rule(match_field(Field.OIFNAME, names.wan), Verdict(VerdictAction.GOTO, "srcnat_out"))
    inside = make_rule(*hairpin, Verdict(VerdictAction.GOTO, "srcnat_hairpin"))
    rules = (*timeouts.iter_timeout_rules(gateway), out, inside)
    return (
        Chain("srcnat_out", (*_list_port_rules(), make_rule(_build_snat("snat4"), comment="shared, without ports"), OWN)),
        Chain("srcnat_hairpin", (*_list_port_rules(), OWN, make_rule(Masquerade(), comment="no public address"))),
        Chain("srcnat", rules, Hook("nat", "postrouting", HookPriority.SRCNAT)),
    )


def _list_port_rules() -> tuple[Rule, ...]:
    """Return the rules for protocols with ports, and for ICMP, whose identifiers count as ports. (nft takes ports for nothing else.)"""
    return (
        make_rule(WITH_PORTS, _build_snat("snat4", *SHARED_PORTS), comment="ports of a shared address"),
        make_rule(WITH_PORTS, _build_snat("snat4_block"), comment="a block's ports and identifiers"),
    )


def build_leak_drop_chain(gateway: GatewaySpec) -> Chain:
    """Return the chain after source NAT, which drops what still has a private source. (Chains of srcnat do not see known flows.)

    Most packets are let through by the first two rules: known connections whose source is translated have one bit (only what leaves by
    the uplink, and hairpins, is translated), and a few comparisons find the others that have a public source. The bit alone does not
    do: the gateway's refusal of a connection from outside passes srcnat in the name of that connection, which then has the bit, while
    the refusal itself is not translated. Such a connection has seen no reply (connection tracking does not look at the refusal).
    """
    known = match_field(Field.CT_STATUS, "seen-reply")
    translated = make_rule(known, Match(Field.CT_STATUS, ("snat",)), ACCEPT, comment="translated")
    public = make_rule(*match_public_source(), ACCEPT, comment="a public source")
    shut = make_rule(Match(Field.IP_SADDR, PRIVATE), match_field(Field.OIFNAME, gateway.interfaces.wan), Count("leaked"), DROP)
    return Chain("fail_closed", (translated, public, shut), Hook("filter", "postrouting", HookPriority.AFTER_SRCNAT))

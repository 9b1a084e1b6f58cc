"""Source NAT of packets that leave, and behind it the chain that fails closed when NAT is missing."""

from firewall.addresses import PRIVATE
from firewall.chains import timeouts
from firewall.chains.rule_helpers import DROP, WITH_PORTS, make_rule, match_field
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Count, Field, Hook, HookPriority, Masquerade, Match, Snat

SHARED_PORTS = (1024, 32_767)
"""With which ports members leave who share an address: none that their systems draw by themselves (49152 to 65535, RFC 6335; Linux:
32768 to 60999). So two who connect from the same such port in the same instant each get one drawn, and are not taken for each other."""


def build_srcnat_chain(gateway: GatewaySpec) -> Chain:
    """Return the chain of source NAT on the uplink, and for members who reach each other's forwards from inside (hairpin)."""
    names = gateway.interfaces
    out = (match_field(Field.OIFNAME, names.wan),)
    hairpin = (match_field(Field.IIFNAME, names.lan), match_field(Field.OIFNAME, names.lan), Match(Field.CT_STATUS, ("dnat",)))
    rules = (
        *timeouts.iter_timeout_rules(gateway),
        make_rule(*out, WITH_PORTS, _build_snat("snat4_block"), comment="a block's ports and identifiers"),
        make_rule(*out, WITH_PORTS, _build_snat("snat4", *SHARED_PORTS), comment="ports of a shared address"),
        make_rule(*out, _build_snat("snat4"), comment="shared, without ports"),
        make_rule(*out, _build_snat("snat4_own"), comment="keeps its port where it can"),
        make_rule(*hairpin, WITH_PORTS, _build_snat("snat4_block"), comment="hairpin"),
        make_rule(*hairpin, WITH_PORTS, _build_snat("snat4", *SHARED_PORTS), comment="hairpin"),
        make_rule(*hairpin, _build_snat("snat4_own"), comment="hairpin"),
        make_rule(*hairpin, Masquerade(), comment="hairpin of who has no public address"),
    )
    return Chain("srcnat", rules, Hook("nat", "postrouting", HookPriority.SRCNAT))


def _build_snat(name: str, first: int = 0, last: int = 0) -> Snat:
    return Snat((Field.IP_SADDR,), name, first_port=first, last_port=last)


def build_leak_drop_chain(gateway: GatewaySpec) -> Chain:
    """Return the chain after source NAT, which drops what still has a private source. (Chains of srcnat do not see known flows.)"""
    shut = make_rule(match_field(Field.OIFNAME, gateway.interfaces.wan), Match(Field.IP_SADDR, PRIVATE), Count("leaked"), DROP)
    return Chain("fail_closed", (shut,), Hook("filter", "postrouting", HookPriority.AFTER_SRCNAT))

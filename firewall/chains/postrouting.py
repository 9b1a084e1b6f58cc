"""The sources of what leaves: source NAT, and behind it the door that stays shut when NAT is missing."""

from firewall.addresses import PRIVATE
from firewall.chains.parts import DROP, WITH_PORTS, at, rule
from firewall.policy import Gateway
from firewall.ruleset import Chain, Count, Field, Hook, Masquerade, Match, Priority, Snat

TCP, UDP_OR_ICMP = Match(Field.L4PROTO, ("tcp",)), Match(Field.L4PROTO, ("udp", "icmp"))


def srcnat(gateway: Gateway) -> Chain:
    """Source NAT on the uplink; and for members who reach each other's forwards from inside (hairpin)."""
    names = gateway.interfaces
    out = (at(Field.OIFNAME, names.wan),)
    hairpin = (at(Field.IIFNAME, names.lan), at(Field.OIFNAME, names.lan), Match(Field.CT_STATUS, ("dnat",)))
    rules = (
        rule(*out, _snat("snat4", drawn=True)),
        rule(*out, TCP, _snat("snat4_own", drawn=True)),
        rule(*out, _snat("snat4_own"), comment="keeps its port where it can"),
        rule(*out, TCP, _snat("snat4_block", drawn=True)),
        rule(*out, UDP_OR_ICMP, _snat("snat4_block"), comment="its ports and identifiers"),
        rule(*hairpin, _snat("snat4"), comment="hairpin"),
        rule(*hairpin, _snat("snat4_own"), comment="hairpin"),
        rule(*hairpin, WITH_PORTS, _snat("snat4_block"), comment="hairpin"),
        rule(*hairpin, Masquerade(), comment="hairpin of who has no public address"),
    )
    return Chain("srcnat", rules, Hook("nat", "postrouting", Priority.SRCNAT))


def _snat(name: str, *, drawn: bool = False) -> Snat:
    return Snat((Field.IP_SADDR,), name, fully_random=drawn)


def fail_closed(gateway: Gateway) -> Chain:
    """After source NAT: whatever still carries a private source does not leave. (Within srcnat, known flows are not seen.)"""
    shut = rule(at(Field.OIFNAME, gateway.interfaces.wan), Match(Field.IP_SADDR, PRIVATE), Count("leaked"), DROP)
    return Chain("fail_closed", (shut,), Hook("filter", "postrouting", Priority.AFTER_SRCNAT))

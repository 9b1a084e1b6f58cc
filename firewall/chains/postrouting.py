"""The sources of what leaves: source NAT, and behind it the door that stays shut when NAT is missing."""

from firewall.addresses import PRIVATE
from firewall.chains.parts import DROP, at, rule
from firewall.policy import Gateway
from firewall.ruleset import Chain, Count, Field, Hook, Masquerade, Match, Priority, Snat


def srcnat(gateway: Gateway) -> Chain:
    """Source NAT on the uplink; and for members who reach each other's forwards from inside (hairpin)."""
    names = gateway.interfaces
    hairpin = (at(Field.IIFNAME, names.lan), at(Field.OIFNAME, names.lan), Match(Field.CT_STATUS, ("dnat",)))
    return Chain(
        "srcnat",
        (
            rule(at(Field.OIFNAME, names.wan), Snat((Field.IP_SADDR,), "snat4", fully_random=True)),
            rule(*hairpin, Snat((Field.IP_SADDR,), "snat4"), comment="hairpin"),
            rule(*hairpin, Masquerade(), comment="hairpin of who has no public address"),
        ),
        Hook("nat", "postrouting", Priority.SRCNAT),
    )


def fail_closed(gateway: Gateway) -> Chain:
    """After source NAT: whatever still carries a private source does not leave. (Within srcnat, known flows are not seen.)"""
    shut = rule(at(Field.OIFNAME, gateway.interfaces.wan), Match(Field.IP_SADDR, PRIVATE), Count("leaked"), DROP)
    return Chain("fail_closed", (shut,), Hook("filter", "postrouting", Priority.AFTER_SRCNAT))

"""Who may use the gateway, and how much goes through it for each: one lookup is membership, accounting and acceptance."""

from firewall import probing
from firewall.addresses import PRIVATE
from firewall.chains import bogons
from firewall.chains.rule_helpers import ACCEPT, DROP, at, in_prefixes, jump, rule
from firewall.chains.used_sets import Used
from firewall.policy import Gateway
from firewall.ruleset import Chain, Count, Field, Lookup, Rule


def up(gateway: Gateway, used: Used) -> Chain:
    rules = [rule(Lookup((Field.IP_SADDR,), "up4"), ACCEPT)]
    rules += [rule(in_prefixes(Field.IP6_SADDR, "up6", length), ACCEPT) for length in used.lengths("up6")]
    return Chain("up", (*rules, *probing.up(gateway)))


def down(gateway: Gateway, used: Used) -> Chain:
    rules = [rule(Lookup((Field.IP_DADDR,), "down4"), ACCEPT)]
    rules += [rule(in_prefixes(Field.IP6_DADDR, "down6", length), ACCEPT) for length in used.lengths("up6")]
    return Chain("down", (*_joined(gateway), *rules, *probing.down(gateway)))


def _joined(gateway: Gateway) -> tuple[Rule, ...]:
    """A private source from outside would join a connection that two members have inside. ICMP errors of private routers may come."""
    protection = gateway.settings.protection
    if not protection.bogons:
        return ()
    private = bogons.refused(Field.IP_SADDR, PRIVATE, protection)
    return (rule(at(Field.CT_STATE, "established"), *private, Count("spoofed"), DROP, comment="private source from outside"),)


def inside(used: Used) -> Chain:
    """From member to member through the gateway: up for one, down for the other."""
    rules = [rule(Lookup((Field.IP_SADDR,), "up4"), Lookup((Field.IP_DADDR,), "down4"), ACCEPT)]
    rules += [rule(in_prefixes(Field.IP6_SADDR, "up6", length), jump("inside6")) for length in used.lengths("up6")]
    return Chain("inside", tuple(rules))


def inside6(used: Used) -> Chain | None:
    """To whom, after `inside` has found and counted from whom: once, whatever the number of lengths. None without prefixes."""
    rules = [rule(in_prefixes(Field.IP6_DADDR, "down6", length), ACCEPT) for length in used.lengths("up6")]
    return Chain("inside6", tuple(rules)) if rules else None

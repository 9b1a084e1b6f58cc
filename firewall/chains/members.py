"""Who may use the gateway, and how much goes through it for each: one lookup is membership, accounting and acceptance."""

from firewall import probing
from firewall.chains.parts import ACCEPT, in_prefixes, jump, rule
from firewall.chains.used import Used
from firewall.policy import Gateway
from firewall.ruleset import Chain, Field, Lookup


def up(gateway: Gateway, used: Used) -> Chain:
    rules = [rule(Lookup((Field.IP_SADDR,), "up4"), ACCEPT)]
    rules += [rule(in_prefixes(Field.IP6_SADDR, "up6", length), ACCEPT) for length in used.lengths("up6")]
    return Chain("up", (*rules, *probing.up(gateway)))


def down(gateway: Gateway, used: Used) -> Chain:
    rules = [rule(Lookup((Field.IP_DADDR,), "down4"), ACCEPT)]
    rules += [rule(in_prefixes(Field.IP6_DADDR, "down6", length), ACCEPT) for length in used.lengths("up6")]
    return Chain("down", (*rules, *probing.down(gateway)))


def inside(used: Used) -> Chain:
    """From member to member through the gateway: up for one, down for the other."""
    rules = [rule(Lookup((Field.IP_SADDR,), "up4"), Lookup((Field.IP_DADDR,), "down4"), ACCEPT)]
    rules += [rule(in_prefixes(Field.IP6_SADDR, "up6", length), jump("inside6")) for length in used.lengths("up6")]
    return Chain("inside", tuple(rules))


def inside6(used: Used) -> Chain | None:
    """To whom, after `inside` has found and counted from whom: once, whatever the number of lengths. None without prefixes."""
    rules = [rule(in_prefixes(Field.IP6_DADDR, "down6", length), ACCEPT) for length in used.lengths("up6")]
    return Chain("inside6", tuple(rules)) if rules else None

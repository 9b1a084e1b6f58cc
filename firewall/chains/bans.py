"""Foreign addresses that nobody talks to."""

from firewall.chains.parts import DROP, in_prefixes, rule
from firewall.chains.used import Used
from firewall.ruleset import Chain, Field


def chain(used: Used) -> Chain:
    rules = []
    for family, lengths, fields in (
        (4, used.lengths("bans4"), (Field.IP_SADDR, Field.IP_DADDR)),
        (6, used.lengths("bans6"), (Field.IP6_SADDR, Field.IP6_DADDR)),
    ):
        for length in lengths:
            rules += [rule(in_prefixes(field, f"bans{family}", length), DROP) for field in fields]
    return Chain("bans", tuple(rules))

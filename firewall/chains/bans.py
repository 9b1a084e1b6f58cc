"""Foreign addresses that nobody talks to: banned sources, and banned destinations. Whoever is allowed returns first."""

from firewall.chains.parts import DROP, RETURN, at, in_prefixes, jump, rule
from firewall.chains.used import Used
from firewall.policy import Gateway
from firewall.ruleset import Chain, Field, Rule

FROM, TO = "bans_from", "bans_to"


def sources(used: Used) -> Chain | None:
    """Drops a banned source; also called before connection tracking, in flood mode."""
    return _side(FROM, used, {4: Field.IP_SADDR, 6: Field.IP6_SADDR}, ("bans", "bansin"))


def destinations(used: Used) -> Chain | None:
    """Drops what goes to a banned destination."""
    return _side(TO, used, {4: Field.IP_DADDR, 6: Field.IP6_DADDR}, ("bans", "bansout"))


def chain(gateway: Gateway, used: Used) -> Chain:
    """Both, for a connection's first packet. Foreign is who is on the uplink: nobody else is looked up."""
    sides = ((Field.IIFNAME, sources(used)), (Field.OIFNAME, destinations(used)))
    return Chain("bans", tuple(rule(at(way, gateway.interfaces.wan), jump(side.name)) for way, side in sides if side))


def _side(name: str, used: Used, fields: dict[int, Field], families: tuple[str, ...]) -> Chain | None:
    """None when nothing is banned on this side, whatever is allowed."""
    rules: list[Rule] = []
    for version, field in fields.items():
        drops = [
            rule(in_prefixes(field, family, length), DROP)
            for family in (f"{each}{version}" for each in families)
            for length in used.lengths(family)
        ]
        returns = [rule(in_prefixes(field, f"allowed{version}", length), RETURN) for length in used.lengths(f"allowed{version}")]
        rules += [*returns, *drops] if drops else []
    return Chain(name, tuple(rules)) if rules else None

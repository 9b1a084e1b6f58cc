"""Foreign addresses that nobody talks to: banned sources, and banned destinations. Whoever is allowed returns first."""

from collections.abc import Mapping

from firewall.chains.rule_helpers import DROP, RETURN, at, in_prefixes, jump, rule
from firewall.chains.used_sets import Used
from firewall.policy import Gateway
from firewall.ruleset import Action, Chain, Field, Verdict, VerdictMap

FROM, TO = "bans_from", "bans_to"
_SOURCES = {4: Field.IP_SADDR, 6: Field.IP6_SADDR}
_DESTINATIONS = {4: Field.IP_DADDR, 6: Field.IP6_DADDR}


def sources(used: Used) -> tuple[Chain, ...]:
    """Drop a banned source; the last is also called before connection tracking, in flood mode. None when no source is banned."""
    return _side(FROM, used, _SOURCES, ("bans", "bansin"))


def destinations(used: Used) -> tuple[Chain, ...]:
    """Drop what goes to a banned destination. None when none is banned."""
    return _side(TO, used, _DESTINATIONS, ("bans", "bansout"))


def chain(gateway: Gateway, used: Used) -> Chain:
    """Both, for a connection's first packet. Foreign is who is on the uplink: nobody else is looked up."""
    sides = ((Field.IIFNAME, FROM, sources(used)), (Field.OIFNAME, TO, destinations(used)))
    return Chain("bans", tuple(rule(at(way, gateway.interfaces.wan), jump(name)) for way, name, side in sides if side))


def _side(name: str, used: Used, fields: Mapping[int, Field], families: tuple[str, ...]) -> tuple[Chain, ...]:
    """A chain for each version of IP with bans, and the one that leads there."""
    versions = {version: each for version, field in fields.items() if (each := _version(name, used, version, field, families))}
    if not versions:
        return ()
    entries = tuple(((f"ipv{version}",), Verdict(Action.GOTO, each.name)) for version, each in versions.items())
    return (*versions.values(), Chain(name, (rule(VerdictMap((Field.NFPROTO,), entries)),)))


def _version(name: str, used: Used, version: int, field: Field, families: tuple[str, ...]) -> Chain | None:
    """None when nothing is banned, whatever is allowed."""
    lengths = [(f"{family}{version}", length) for family in families for length in used.lengths(f"{family}{version}")]
    drops = [rule(in_prefixes(field, family, length), DROP) for family, length in lengths]
    returns = [rule(in_prefixes(field, f"allowed{version}", length), RETURN) for length in used.lengths(f"allowed{version}")]
    return Chain(f"{name}{version}", (*returns, *drops)) if drops else None

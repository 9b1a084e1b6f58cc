"""Chains that drop packets from banned sources and to banned destinations. An allowed address returns first."""

from collections.abc import Mapping

from firewall.chains.rule_helpers import DROP, RETURN, make_jump, make_rule, match_field, match_prefix
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Field, Verdict, VerdictAction, VerdictMap

FROM, TO = "bans_from", "bans_to"
MOST_LOOKUPS = 32
"""In one rule: each is up to three expressions, and the kernel takes 128 (NFT_RULE_MAXEXPRS, net/netfilter/nf_tables_api.c)."""
_SOURCES = {4: Field.IP_SADDR, 6: Field.IP6_SADDR}
_DESTINATIONS = {4: Field.IP_DADDR, 6: Field.IP6_DADDR}


def build_banned_source_chains(used: UsedSets) -> tuple[Chain, ...]:
    """Return the chains that drop banned sources; none when no source is banned. In flood mode the last is also called before tracking."""
    return _build_side(FROM, used, _SOURCES, ("bans", "bans_in"))


def build_banned_destination_chains(used: UsedSets) -> tuple[Chain, ...]:
    """Return the chains that drop packets to banned destinations; none when no destination is banned."""
    return _build_side(TO, used, _DESTINATIONS, ("bans", "bans_out"))


def build_chain(gateway: GatewaySpec, used: UsedSets) -> Chain:
    """Return the chain that calls both, for a connection's first packet. Foreign hosts are on the uplink, so no other side is looked up."""
    sides = ((Field.IIFNAME, FROM, build_banned_source_chains(used)), (Field.OIFNAME, TO, build_banned_destination_chains(used)))
    return Chain("bans", tuple(make_rule(match_field(way, gateway.interfaces.wan), make_jump(name)) for way, name, side in sides if side))


def _build_side(name: str, used: UsedSets, fields: Mapping[int, Field], families: tuple[str, ...]) -> tuple[Chain, ...]:
    """Return a chain for each version of IP with bans, and the one that leads there."""
    versions = {version: each for version, field in fields.items() if (each := _build_version_chain(name, used, version, field, families))}
    if not versions:
        return ()
    entries = tuple(((f"ipv{version}",), Verdict(VerdictAction.GOTO, each.name)) for version, each in versions.items())
    return (*versions.values(), Chain(name, (make_rule(VerdictMap((Field.NFPROTO,), entries)),)))


def _build_version_chain(name: str, used: UsedSets, version: int, field: Field, families: tuple[str, ...]) -> Chain | None:
    """Return the chain for one version of IP; None when nothing is banned, whatever is allowed.

    Hardly any address is banned, so one rule returns for the others, and exceptions are looked up for banned ones alone.
    """
    lengths = [(f"{family}{version}", length) for family in families for length in used.list_lengths(f"{family}{version}")]
    drops = [make_rule(match_prefix(field, family, length), DROP) for family, length in lengths]
    returns = [make_rule(match_prefix(field, f"allowed{version}", length), RETURN) for length in used.list_lengths(f"allowed{version}")]
    if not drops:
        return None
    unbanned = make_rule(*(match_prefix(field, family, length, negated=True) for family, length in lengths), RETURN, comment="not banned")
    saves = len(returns) + len(drops) > 1 and len(drops) <= MOST_LOOKUPS
    return Chain(f"{name}{version}", (*((unbanned,) if saves else ()), *returns, *drops))

"""Chains by direction: a connection's first packet passes chains of its own direction, which check only what concerns that direction."""

from dataclasses import replace

from firewall.chains.rule_helpers import RETURN
from firewall.chains.specialize import KnownFields, SpecializedChains
from firewall.policy import Interfaces
from firewall.ruleset import Chain, Field, Match, Rule, Verdict, VerdictAction, VerdictMap, iter_used_chains

CHAIN = "new"
_FIELDS = (Field.NFPROTO, Field.IIFNAME, Field.OIFNAME)


def list_common_directions(names: Interfaces) -> tuple[KnownFields, ...]:
    """Return the directions that most connections go; the rest goes through the general chain. Only IPv4 has forwards."""
    return tuple(
        KnownFields(f"{way}{version}", come, leave, f"ipv{version}", version == 4)
        for way, (come, leave) in _get_ways(names).items()
        for version in (4, 6)
    )


def _get_ways(names: Interfaces) -> dict[str, tuple[str, str]]:
    """Return where packets come in and leave, by the name of the chain that accepts and counts them (firewall.chains.members)."""
    return {"up": (names.lan, names.wan), "down": (names.wan, names.lan), "inside": (names.lan, names.lan)}


def split_by_direction(names: Interfaces, chains: dict[str, Chain]) -> dict[str, Chain]:
    """Return the chains with those of each direction, those that are jumped to before those that jump."""
    narrow: dict[str, Chain] = {}
    entries = []
    for known in list_common_directions(names):
        lane = SpecializedChains(known, chains)
        target = lane.specialize(CHAIN)
        narrow |= lane.chains | {target: _lead_on(lane.chains[target], known.name[:-1])}
        entries.append(((known.nfproto, known.iifname, known.oifname), Verdict(VerdictAction.GOTO, target)))
    usual, *others = entries
    first = (_compare(usual), Rule((VerdictMap(_FIELDS, tuple(others)),), "each way its own"))
    rest = chains | {name: _drop_covered_rules(chains[name], names) for name in _list_exclusive_chains(chains)}
    found: dict[str, Chain] = {}
    for name, chain in rest.items():
        found |= narrow | {name: replace(chain, rules=(*first, *chain.rules))} if name == CHAIN else {name: chain}
    return found


def _compare(entry: tuple[tuple[str, ...], Verdict]) -> Rule:
    """Return the rule for what most connections are, those from members to the uplink: a lookup of two names costs more."""
    key, verdict = entry
    return Rule((*(Match(field, (value,)) for field, value in zip(_FIELDS, key, strict=True)), verdict))


def _lead_on(chain: Chain, to: str) -> Chain:
    """Return the chain of a direction, going on to the one that counts and accepts: the forward chain would find it by another lookup."""
    on = Verdict(VerdictAction.GOTO, to)
    led = (replace(rule, parts=tuple(on if part == RETURN else part for part in rule.parts)) for rule in chain.rules)
    return replace(chain, rules=tuple(led))


def _list_exclusive_chains(chains: dict[str, Chain]) -> frozenset[str]:
    """Return the names of the general chain and of the chains that nothing else calls."""
    elsewhere = {called for name, chain in chains.items() if name != CHAIN for called in iter_used_chains(chain)}
    return frozenset({CHAIN, *iter_used_chains(chains[CHAIN])} - (elsewhere - {CHAIN}))


def _drop_covered_rules(chain: Chain, names: Interfaces) -> Chain:
    """Return the chain without rules that only concern packets with chains for their direction."""
    return replace(chain, rules=tuple(rule for rule in chain.rules if not _is_covered(rule, names)))


def _is_covered(rule: Rule, names: Interfaces) -> bool:
    """True if the rule only concerns such packets."""
    come, leave = (_list_matched_values(rule, field) for field in (Field.IIFNAME, Field.OIFNAME))
    pairs = {(known.iifname, known.oifname) for known in list_common_directions(names)}
    return bool(come and leave) and {(a, b) for a in come for b in leave} <= pairs


def _list_matched_values(rule: Rule, field: Field) -> set[str]:
    """Return the values of the field that the rule matches; none: it does not match the field."""
    asked = [part for part in rule.parts if isinstance(part, Match) and part.field is field and not part.negated]
    return {str(value) for part in asked for value in part.values}

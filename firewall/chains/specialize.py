"""Specialises chains for a known interface pair and IP version (partial evaluation).

A rule that cannot match is left out, and so is a condition that always holds. The cost of a rule is in its conditions, not in what
it does. Most rules about a connection's first packet concern another direction or the other version of IP; a chain made for one
direction and version checks less than half of them, and reads from top to bottom like that direction.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from firewall.ruleset import (
    AddKey,
    Chain,
    Count,
    Field,
    Lookup,
    Match,
    OpenOver,
    Part,
    RateOver,
    Reject,
    Rule,
    Verdict,
    VerdictAction,
    VerdictMap,
)

_VERSIONS = {
    Field.IP_SADDR: "ipv4",
    Field.IP_DADDR: "ipv4",
    Field.IP6_SADDR: "ipv6",
    Field.IP6_DADDR: "ipv6",
    Field.HOPLIMIT: "ipv6",
    Field.ICMP_TYPE: "ipv4",
    Field.ICMPV6_TYPE: "ipv6",
}


@dataclass(frozen=True, slots=True)
class KnownFields:
    """Known fields of a packet. name: suffix of chains made for it; may_be_forwarded: True if its destination may be a forward's."""

    name: str
    iifname: str
    oifname: str
    nfproto: str
    may_be_forwarded: bool

    def find_value(self, field: Field) -> str | None:
        """Return what the field reads; None: not known."""
        return {Field.IIFNAME: self.iifname, Field.OIFNAME: self.oifname, Field.NFPROTO: self.nfproto}.get(field)

    def get_key(self, fields: tuple[Field, ...]) -> tuple[str, ...]:
        """Return what the fields read together; empty unless all of it is known."""
        values = tuple(value for field in fields if (value := self.find_value(field)))
        return values if len(values) == len(fields) else ()


class SpecializedChains:
    """The chains that packets of one kind pass, made from those for all packets."""

    def __init__(self, known: KnownFields, chains: Mapping[str, Chain]) -> None:
        self._known, self._all = known, chains
        self.chains: dict[str, Chain] = {}  # made so far, by name; each after those it jumps to

    def specialize(self, name: str) -> str:
        """Specialise the chain and return the name of the one to call instead: its own where nothing could be left out."""
        narrow = Chain(f"{name}_{self._known.name}", tuple(self._iter_rules(self._all[name])))
        if narrow.rules == self._all[name].rules:
            return name
        if gone := _find_goto_target(narrow):
            return gone
        self.chains[narrow.name] = narrow
        return narrow.name

    def _iter_rules(self, chain: Chain) -> Iterator[Rule]:
        """Yield the specialised rules, up to one that no packet gets past."""
        for rule in chain.rules:
            parts = self._reduce_rule(rule)
            if parts is None:
                continue
            narrow = replace(rule, parts=parts)
            put = tuple(self._iter_inlined(narrow))
            yield from put
            if put and _is_terminal(put[-1]):
                return

    def _reduce_rule(self, rule: Rule) -> tuple[Part, ...] | None:
        """Return the parts that are left; None: the rule cannot match."""
        left = [self._reduce_part(part) for part in rule.parts]
        return None if False in left else tuple(part for part in left if not isinstance(part, bool))

    def _reduce_part(self, part: Part) -> Part | bool:
        """Return what is left of the part: a part, when it depends on the packet or does something; else True or False for whether
        it matches.
        """
        match part:
            case Match(field, values, negated) if (value := self._known.find_value(field)) is not None:
                return (value in values) != negated
            case VerdictMap(fields, entries) if key := self._known.get_key(fields):
                return dict(entries).get(key, False)
            case Match(Field.CT_STATUS, ("dnat",)) if not self._known.may_be_forwarded:
                return False
            case Match(field):
                return self._is_readable((field,)) and part
            case Lookup(fields) | RateOver(fields) | OpenOver(fields) | AddKey(fields):
                return self._is_readable(fields) and part
            case _:
                return part

    def _is_readable(self, fields: tuple[Field, ...]) -> bool:
        """True if a packet of this version of IP has these fields."""
        return all(_VERSIONS.get(field, self._known.nfproto) == self._known.nfproto for field in fields)

    def _iter_inlined(self, rule: Rule) -> Iterator[Rule]:
        """Yield the rule with the specialised chain in its verdict.

        Where a jump is all the rule does, and the chain was made for it alone and does not return early, yield that chain's rules
        instead.
        """
        verdict = rule.parts[-1] if rule.parts else None
        if not isinstance(verdict, Verdict) or not verdict.chain:
            yield rule
            return
        target = SpecializedChains(self._known, self._all)
        name = target.specialize(verdict.chain)
        made = target.chains.get(name)
        if made and rule.parts == (verdict,) and verdict.action is VerdictAction.JUMP and not self._can_return(made):
            self.chains |= {each: chain for each, chain in target.chains.items() if each != name}
            yield from made.rules
        else:
            self.chains |= target.chains
            yield replace(rule, parts=(*rule.parts[:-1], Verdict(verdict.action, name)))

    def _can_return(self, chain: Chain) -> bool:
        """True if a packet can get back from the chain to its caller before the chain's end.

        A packet that goes to another chain comes back at that chain's end.
        """
        verdicts = [part for rule in chain.rules for part in rule.parts if isinstance(part, Verdict)]
        gone = (verdict.chain for verdict in verdicts if verdict.action is VerdictAction.GOTO)
        return any(verdict.action is VerdictAction.RETURN for verdict in verdicts) or not all(map(self._is_final, gone))

    def _is_final(self, name: str) -> bool:
        """True if every packet ends in the chain."""
        chain = self.chains.get(name, self._all.get(name))
        return bool(chain and chain.rules and _is_terminal(chain.rules[-1]) and not self._can_return(chain))


def _find_goto_target(chain: Chain) -> str:
    """Return the chain that every packet of this one goes on to; "" if the chain does something itself."""
    parts = [part for rule in chain.rules for part in rule.parts]
    return parts[0].chain if len(parts) == 1 and isinstance(parts[0], Verdict) and parts[0].action is VerdictAction.GOTO else ""


def _is_terminal(rule: Rule) -> bool:
    """True if no packet gets past the rule."""
    last = rule.parts[-1] if rule.parts else None
    decides = isinstance(last, Reject) or (isinstance(last, Verdict) and last.action is not VerdictAction.JUMP)
    return decides and all(isinstance(part, Count) for part in rule.parts[:-1])

"""Chains for packets of which something is certain: what cannot match is left out, what must match is not asked.

What a rule costs is asking, not doing. Of the rules about a connection's first packet most are about another way or the other version of
IP; a chain made for one way and version asks less than half of them, and reads from top to bottom like that way.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from firewall.ruleset import Chain, Count, Field, Lookup, Match, OpenOver, Part, RateOver, Reject, Rule, Verdict, VerdictAction, VerdictMap

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
    """What is certain of a packet. name: what is appended to the names of chains made for it; led: may its destination be a forward's?"""

    name: str
    iifname: str
    oifname: str
    nfproto: str
    led: bool

    def value(self, field: Field) -> str | None:
        """What the field reads; None: that is not certain."""
        return {Field.IIFNAME: self.iifname, Field.OIFNAME: self.oifname, Field.NFPROTO: self.nfproto}.get(field)

    def key(self, fields: tuple[Field, ...]) -> tuple[str, ...]:
        """What the fields read together; nothing, unless all of it is certain."""
        values = tuple(value for field in fields if (value := self.value(field)))
        return values if len(values) == len(fields) else ()


class SpecializedChains:
    """The chains that packets of one kind pass, made from those for all packets."""

    def __init__(self, known: KnownFields, chains: Mapping[str, Chain]) -> None:
        self._known, self._all = known, chains
        self.chains: dict[str, Chain] = {}  # those made so far by name, each after what it jumps to

    def chain(self, name: str) -> str:
        """Make the chain narrow; the name of what it has become, which is itself where nothing could be left out."""
        narrow = Chain(f"{name}_{self._known.name}", tuple(self._rules(self._all[name])))
        if narrow.rules == self._all[name].rules:
            return name
        if gone := _find_goto_target(narrow):
            return gone
        self.chains[narrow.name] = narrow
        return narrow.name

    def _rules(self, chain: Chain) -> Iterator[Rule]:
        """The narrow rules, up to one that no packet comes past."""
        for rule in chain.rules:
            parts = self._parts(rule)
            if parts is None:
                continue
            narrow = replace(rule, parts=parts)
            put = tuple(self._jumped(narrow))
            yield from put
            if put and _is_terminal(put[-1]):
                return

    def _parts(self, rule: Rule) -> tuple[Part, ...] | None:
        """What is left to ask and to do; None: the rule cannot match."""
        left = [self._left(part) for part in rule.parts]
        return None if False in left else tuple(part for part in left if not isinstance(part, bool))

    def _left(self, part: Part) -> Part | bool:
        """What is left of the part: itself, when that depends on the packet or does something; else whether it matches."""
        match part:
            case Match(field, values, negated) if (value := self._known.value(field)) is not None:
                return (value in values) != negated
            case VerdictMap(fields, entries) if key := self._known.key(fields):
                return dict(entries).get(key, False)
            case Match(Field.CT_STATUS, ("dnat",)) if not self._known.led:
                return False
            case Match(field):
                return self._readable((field,)) and part
            case Lookup(fields) | RateOver(fields) | OpenOver(fields):
                return self._readable(fields) and part
            case _:
                return part

    def _readable(self, fields: tuple[Field, ...]) -> bool:
        """Does a packet of this version of IP have these fields?"""
        return all(_VERSIONS.get(field, self._known.nfproto) == self._known.nfproto for field in fields)

    def _jumped(self, rule: Rule) -> Iterator[Rule]:
        """The rule with the narrow chain in its verdict; the rules of a chain made for this alone, where a jump there is all it does."""
        verdict = rule.parts[-1] if rule.parts else None
        if not isinstance(verdict, Verdict) or not verdict.chain:
            yield rule
            return
        target = SpecializedChains(self._known, self._all)
        name = target.chain(verdict.chain)
        made = target.chains.get(name)
        if made and rule.parts == (verdict,) and verdict.action is VerdictAction.JUMP and not self._returns(made):
            self.chains |= {each: chain for each, chain in target.chains.items() if each != name}
            yield from made.rules
        else:
            self.chains |= target.chains
            yield replace(rule, parts=(*rule.parts[:-1], Verdict(verdict.action, name)))

    def _returns(self, chain: Chain) -> bool:
        """Does a packet get back from the chain to whoever called it, before its end? Who goes to another chain comes back from its end."""
        verdicts = [part for rule in chain.rules for part in rule.parts if isinstance(part, Verdict)]
        gone = (verdict.chain for verdict in verdicts if verdict.action is VerdictAction.GOTO)
        return any(verdict.action is VerdictAction.RETURN for verdict in verdicts) or not all(map(self._decides, gone))

    def _decides(self, name: str) -> bool:
        """Does every packet end in the chain?"""
        chain = self.chains.get(name, self._all.get(name))
        return bool(chain and chain.rules and _is_terminal(chain.rules[-1]) and not self._returns(chain))


def _find_goto_target(chain: Chain) -> str:
    """The chain that every packet of this one goes on to; "" if it does something itself."""
    parts = [part for rule in chain.rules for part in rule.parts]
    return parts[0].chain if len(parts) == 1 and isinstance(parts[0], Verdict) and parts[0].action is VerdictAction.GOTO else ""


def _is_terminal(rule: Rule) -> bool:
    """Does no packet come past the rule?"""
    last = rule.parts[-1] if rule.parts else None
    decides = isinstance(last, Reject) or (isinstance(last, Verdict) and last.action is not VerdictAction.JUMP)
    return decides and all(isinstance(part, Count) for part in rule.parts[:-1])

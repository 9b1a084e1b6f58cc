"""Coverage of the rule language by traced packets: shows that random policies leave no line untested.

A line is a rule without the policy's own numbers: its chain, what its parts match and do, and its comment. A packet has passed a line
when it passed all its parts. A limit counts as passed as soon as it was evaluated, because no packet of a trace is over a limit. The
same line in chains of several directions counts once (firewall/chains/directions.py).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from firewall.limit_sets import is_over_set
from firewall.ruleset import (
    AddKey,
    Chain,
    Dnat,
    Lookup,
    Match,
    OpenOver,
    Part,
    RateOver,
    Reject,
    Rule,
    Ruleset,
    SampleConnection,
    Snat,
    TcpFlags,
    Verdict,
    VerdictAction,
    VerdictMap,
)
from firewall.sets import find_set_family
from firewall.tracing import PartReading, Trace, TraceStep

Line = tuple[str, ...]
LED_ON = ("up", "down", "inside")  # where a direction's chain goes, and the chain for all directions returns
OVER = (RateOver, OpenOver, SampleConnection)
_LANE = re.compile("_(up|down|inside)[46]$")


@dataclass
class RuleCoverage:
    """Lines that exist, and lines that packets have passed.

    there: lines of all rulesets; parts: the types of their parts; passed: number of packets that passed each line; found: number of
    packets that matched an element of each set family.
    """

    there: set[Line] = field(default_factory=set)
    parts: set[type[Part]] = field(default_factory=set)
    passed: Counter[Line] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)

    def add_ruleset(self, ruleset: Ruleset) -> None:
        """Add the lines and part types of this ruleset."""
        self.there |= {line for chain in ruleset.chains.values() for line in lines_of(chain)}
        self.parts |= {type(part) for chain in ruleset.chains.values() for rule in chain.rules for part in rule.parts}

    def add_trace(self, trace: Trace | None) -> None:
        """Add what this packet passed, and what its answer passed."""
        if trace is None:
            return
        for step in trace.steps:
            self.passed.update(_iter_passed(step))
            self.found.update(_family(read.set) for read in step.reads if _is_element(read))
        self.add_trace(trace.answer)

    def never(self) -> set[Line]:
        """Return the lines that no packet has passed."""
        return self.there - self.passed.keys()


def lines_of(chain: Chain) -> Iterator[Line]:
    """Yield all lines of a chain: one for each entry of a verdict map, one for each other rule, and one for a base chain's policy."""
    for rule in chain.rules:
        maps = [part for part in rule.parts if isinstance(part, VerdictMap)]
        yield from (_of_entry(chain, verdict) for part in maps for _key, verdict in part.entries)
        if not maps:
            yield _line(chain, rule)
    if chain.hook:
        yield chain.name, "policy"


def _iter_passed(step: TraceStep) -> Iterator[Line]:
    if step.rule is None:
        yield step.chain.name, "policy"
    elif any(isinstance(part, VerdictMap) for part in step.rule.parts):
        if isinstance(step.verdict, Verdict) and step.has_matched:
            yield _of_entry(step.chain, step.verdict)
    elif step.has_matched or _is_limit(step.reads):
        yield _line(step.chain, step.rule)


def _is_limit(reads: Iterable[PartReading]) -> bool:
    """Return whether a limit was the first part that stopped the packet, and whether that limit applied to this packet."""
    first = next(read for read in reads if not read.passed)
    limits = isinstance(first.part, OVER) or (isinstance(first.part, Lookup) and is_over_set(first.part.set))
    return (limits and None not in first.values) or _is_element(first)


def _is_element(read: PartReading) -> bool:
    """Return whether the packet matched an element. In a set that polices, a packet within its rate also counts."""
    family = find_set_family(read.set)
    return read.element is not None and (read.passed or bool(family and family.polices))


def _of_entry(chain: Chain, verdict: Verdict) -> Line:
    return _plain(chain.name), f"{verdict.action} {verdict.chain}"


def _line(chain: Chain, rule: Rule) -> Line:
    """Return the rule's line; parts that differ only in prefix length appear once."""
    return _plain(chain.name), *dict.fromkeys(map(_words, rule.parts)), rule.comment


def _plain(chain: str) -> str:
    """Return the chain's name without direction and IP version."""
    return _LANE.sub("", chain)


def _words(part: Part) -> str:
    match part:
        case Match():
            symbols = " ".join(str(value) for value in part.values if isinstance(value, str))
            return f"{part.field}{' not' * part.negated} {symbols}"
        case Lookup():
            return f"{' '.join(part.fields)}{' not' * part.negated} in {_family(part.set)}"
        case Dnat() | Snat():
            return f"{type(part).__name__} {_family(part.map)}"
        case RateOver() | OpenOver() | AddKey():
            return f"{type(part).__name__} {part.set.rstrip('_0123456789')} {' '.join(part.fields)}"
        case Verdict(VerdictAction.GOTO, chain) if chain in LED_ON:
            return "return"
        case Verdict():
            return f"{part.action} {_plain(part.chain)}"
        case TcpFlags():
            return f"tcp {' '.join(part.on)}"
        case Reject():
            return str(part.refusal)
        case _:
            return type(part).__name__


def _family(name: str) -> str:
    family = find_set_family(name)
    return family.name if family else name

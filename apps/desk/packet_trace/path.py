"""The path of a traced packet, for the page and the command: one stop per stretch of a chain, with its rules as nft text."""

from dataclasses import dataclass
from itertools import groupby

from django.utils.translation import gettext as _

from apps.deployments.rule_kinds.kind import ElementOrigin
from apps.desk.packet_trace import packet_trace_texts
from apps.desk.packet_trace.answer import TraceAnswer, is_forwarded_or_delivered
from apps.lib.ui.states import StateKind
from firewall.render import render_rule
from firewall.ruleset import Chain, Verdict
from firewall.tracing import Packet, TraceStep

HOOKS = ("prerouting", "forward", "postrouting")


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule: its nft text, what it read, what it did if it matched, and the objects that it found. number: 0 for a policy."""

    number: int
    matched: bool
    text: str
    read: str
    did: str
    things: list[ElementOrigin]


@dataclass(frozen=True, slots=True)
class PathSection:
    """A stretch of one chain with the rules that the packet met.

    packet: the packet after it, "" if unchanged; kind: "" for nothing notable; decides: the packet's path ends here.
    """

    number: int
    name: str
    place: str
    lines: list[RuleLine]
    packet: str
    kind: StateKind | str
    decides: bool
    reached: bool = True

    @property
    def matched_lines(self) -> list[RuleLine]:
        """The rules that matched."""
        return [line for line in self.lines if line.matched]

    @property
    def other_lines(self) -> list[RuleLine]:
        """The rules that did not match."""
        return [line for line in self.lines if not line.matched]


def list_path_stops(answer: TraceAnswer) -> list[PathSection]:
    """Return the path in order, then the base chains that the packet did not reach."""
    reached = [
        _build_stop(answer, number, list(steps))
        for number, (_chain, steps) in enumerate(groupby(answer.trace.steps, lambda step: step.chain), 1)
    ]
    missed = (_build_unreached_stop(len(reached) + number, chain) for number, chain in enumerate(_list_unreached(answer), 1))
    return [*reached, *missed]


def _build_stop(answer: TraceAnswer, number: int, steps: list[TraceStep]) -> PathSection:
    chain, last = steps[0].chain, steps[-1] is answer.trace.steps[-1]
    lines = [_build_line(answer, step) for step in steps]
    before, after = steps[0].packet, _find_packet_after(answer, steps[-1])
    moved = before.ends != after.ends
    decides = last and not is_forwarded_or_delivered(answer.trace)
    kind = StateKind.BAD if decides else StateKind.OK if last else StateKind.MOVING if moved else ""
    return PathSection(
        number,
        chain.name,
        _describe_hook(chain),
        lines,
        packet_trace_texts.render_packet(after) if moved else "",
        kind,
        decides,
    )


def _find_packet_after(answer: TraceAnswer, step: TraceStep) -> Packet:
    """Return the packet after this step."""
    steps = answer.trace.steps
    at = next(place for place, each in enumerate(steps) if each is step)
    if at + 1 < len(steps):
        return steps[at + 1].packet
    return answer.trace.leaves.packet if answer.trace.leaves else step.packet


def _build_line(answer: TraceAnswer, step: TraceStep) -> RuleLine:
    things = [each for read in step.reads for each in answer.list_origins(read)] if step.has_matched else []
    read = "; ".join(filter(None, (packet_trace_texts.describe_part_reading(answer.ruleset, each) for each in step.reads)))
    return RuleLine(
        step.number, step.has_matched, _render_step(step), read, packet_trace_texts.describe_step(step) if step.has_matched else "", things
    )


def _render_step(step: TraceStep) -> str:
    if step.rule:
        return render_rule(step.rule)
    return f"policy {step.verdict.action}" if isinstance(step.verdict, Verdict) else "policy"


def _describe_hook(chain: Chain) -> str:
    if chain.hook is None:
        return ""
    return _("hook %(hook)s, %(priority)s") % {"hook": chain.hook.hook, "priority": str(int(chain.hook.priority)).replace("-", "−")}


def _list_unreached(answer: TraceAnswer) -> list[Chain]:
    """Return the base chains after the one where the packet's path ended."""
    last = next((step.chain.hook for step in reversed(answer.trace.steps) if step.chain.hook), None)
    if is_forwarded_or_delivered(answer.trace) or last is None or last.hook not in HOOKS:
        return []
    chains = ((chain, chain.hook) for chain in answer.ruleset.chains.values())
    based = [(HOOKS.index(hook.hook), hook.priority, chain) for chain, hook in chains if hook and hook.hook in HOOKS]
    later = [each for each in based if each[:2] > (HOOKS.index(last.hook), last.priority)]
    return [chain for *_order, chain in sorted(later, key=lambda each: each[:2])]


def _build_unreached_stop(number: int, chain: Chain) -> PathSection:
    return PathSection(number, chain.name, _("not reached"), [], "", "", decides=False, reached=False)

"""Texts of packet traces: the packet's fate and its reason in a sentence, and what each rule of the path read and did."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.deployments.rule_kinds.kind import ElementOrigin
from apps.desk.packet_trace.answer import TraceAnswer, is_forwarded_or_delivered, is_same_fate
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind
from firewall.render import get_key_renderer
from firewall.ruleset import Count, Dnat, DnatTo, Masquerade, Reject, Ruleset, Snat, Synproxy, Verdict, VerdictAction
from firewall.sets import find_set_family
from firewall.tracing import ConntrackState, Endpoints, LeavingPacket, Packet, PartReading, Trace, TraceOutcome, TraceStep

# Explanations of named counters that counted a packet which did not get through
CAUSES: dict[str, str | Promise] = {
    "spoofed": gettext_lazy("Its source address belongs to no active member, or it arrived on the wrong interface."),
    "refused": gettext_lazy("Opening this connection is not allowed."),
    "misdirected": gettext_lazy("It comes from the internet to a private address, which cannot be reached from there."),
    "leaked": gettext_lazy("It would leave with a private source address, because this address has no public one."),
    "bogons_from": gettext_lazy("Its source address cannot be on the internet, and is in none of the networks excepted for the group."),
    "bogons_to": gettext_lazy("Its destination address cannot be on the internet, and is in none of the networks excepted for the group."),
    "blocked": gettext_lazy(
        "Its source or its destination is a blocked member, and the connection is not among those that stay reachable."
    ),
    "untracked": gettext_lazy("It is not tracked, and belongs to no listener."),
    "rates_up": gettext_lazy("The sending member exceeds the allowed rate."),
    "rates_down": gettext_lazy("The receiving member exceeds the allowed rate."),
    "unmatched": gettext_lazy("Neither end is an active member, or nothing is forwarded between these interfaces."),
}
_PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6"}


@dataclass(frozen=True, slots=True)
class VerdictText:
    """A verdict: one or two words, a sentence, and the objects that caused it."""

    kind: StateKind
    lead: str
    sentence: str
    things: list[ElementOrigin] = field(default_factory=list)

    def __str__(self) -> str:
        things = "; ".join(f"{each.name} ({each.note})" if each.note else each.name for each in self.things)
        return " ".join(filter(None, [self.lead, self.sentence, f"[{things}]" if things else ""]))


def describe_verdict(answer: TraceAnswer) -> VerdictText:
    """Describe the packet's fate and its reason."""
    trace = answer.trace
    if is_forwarded_or_delivered(trace):
        return VerdictText(StateKind.OK, *_describe_arrival(answer), _list_origins(answer))
    step = trace.deciding_step
    things = [each for read in (step.reads if step else ()) for each in answer.list_origins(read)] or list(_iter_blocks(answer))
    match trace.outcome:
        case TraceOutcome.ANSWERED:
            return VerdictText(StateKind.OK, _("Answered by the gateway."), _describe_stand_in(trace), things)
        case TraceOutcome.DROPPED if any(isinstance(read.part, Synproxy) for read in (step.reads if step else ())):
            return VerdictText(
                StateKind.BAD, _("Dropped."), _("It acknowledges nothing that the gateway has sent on the server’s behalf:"), things
            )
        case TraceOutcome.DROPPED:
            return VerdictText(StateKind.BAD, _("Dropped."), _describe_reason(answer, things), things)
        case TraceOutcome.REJECTED:
            told = _("with a TCP reset") if trace.refusal and "tcp" in trace.refusal else _("with an ICMP error")
            return VerdictText(
                StateKind.BAD,
                _("Refused."),
                f"{_('The sender gets an answer, %(how)s.') % {'how': told}} {_describe_reason(answer, things)}",
                things,
            )
        case _:
            nowhere = _("%(address)s can only be reached through a port forward, and none matches this packet.")
            return VerdictText(StateKind.WARN, _("No route."), nowhere % {"address": trace.packet.destination})


def describe_guess(answer: TraceAnswer) -> str:
    """Describe the assumption that the answer rests on; "" if nothing was guessed."""
    words = _("Traced as coming from outside. If %(source)s is one of your servers, choose “servers”.")
    return words % {"source": answer.question.source} if answer.is_interface_guessed else ""


def _describe_stand_in(trace: Trace) -> str:
    """Describe what the gateway did in place of the server or the client."""
    if trace.packet.cookie:
        return _("The sender has proved that it exists, so the gateway now connects to the server. Guarded:")
    return _("The SYN flood guard is on: the server hears of it only after the sender has answered. Guarded:")


def _describe_arrival(answer: TraceAnswer) -> tuple[str, str]:
    trace = answer.trace
    if trace.outcome is TraceOutcome.DELIVERED or trace.leaves is None:
        return _("Reaches the gateway itself."), _("The ruleset does not say which service answers there.")
    words = _("It leaves through %(interface)s as %(packet)s. Involved:") % {
        "interface": trace.interface,
        "packet": render_leaving(trace.leaves),
    }
    if any(read.element is not None and _is_policing(read) for step in trace.steps for read in step.reads):
        may = _("It may be dropped while the member exceeds the allowed rate.")
        words = f"{may} {words}"
    return _("Goes through."), words


def _is_policing(read: PartReading) -> bool:
    family = find_set_family(read.set)
    return bool(family and family.polices)


def _list_origins(answer: TraceAnswer) -> list[ElementOrigin]:
    """Return the objects that let the packet through or rewrote it."""
    things: dict[ElementOrigin, None] = {}
    for step in answer.trace.steps:
        if step.has_matched:
            things |= dict.fromkeys(each for read in step.reads for each in answer.list_origins(read))
    return list(things)


def _iter_blocks(answer: TraceAnswer) -> Iterator[ElementOrigin]:
    """Yield the blocks that sent the packet to the chain that refused it."""
    if answer.trace.deciding_step and answer.trace.deciding_step.chain.name == "blocked":
        for step in answer.trace.steps:
            yield from (
                each for read in step.reads if step.has_matched and read.set.startswith("blocked") for each in answer.list_origins(read)
            )


def _describe_reason(answer: TraceAnswer, things: list[ElementOrigin]) -> str:
    trace, step = answer.trace, answer.trace.deciding_step
    if things:
        return _("The reason:")
    counted = [name for each in trace.steps if each.has_matched for name in _list_counters(each)]
    if counted and counted[-1] in CAUSES:
        return str(CAUSES[counted[-1]])
    if trace.state is ConntrackState.INVALID:
        return _("It belongs to no connection that the gateway knows.")
    if trace.state is ConntrackState.UNTRACKED:
        return _("Only tracked connections go through.")
    return _("No rule of the chain %(chain)s allows it.") % {"chain": step.chain.name if step else ""}


OUTCOMES: dict[TraceOutcome, str | Promise] = {
    TraceOutcome.FORWARDED: gettext_lazy("goes through"),
    TraceOutcome.DELIVERED: gettext_lazy("reaches the gateway itself"),
    TraceOutcome.ANSWERED: gettext_lazy("answered by the gateway"),
    TraceOutcome.DROPPED: gettext_lazy("dropped"),
    TraceOutcome.REJECTED: gettext_lazy("refused"),
    TraceOutcome.UNROUTED: gettext_lazy("no route"),
    TraceOutcome.WAITS_FOR_FRAGMENTS: gettext_lazy("waits for its other fragments"),
}


def iter_fates_elsewhere(answer: TraceAnswer) -> Iterator[str]:
    """Yield the packet's fate on each of the other gateways."""
    for name, trace in answer.elsewhere.items():
        fate = _("the same") if is_same_fate(answer.trace, trace) else OUTCOMES[trace.outcome]
        yield _("%(gateway)s: %(fate)s") % {"gateway": name, "fate": fate}


def _list_counters(of: TraceStep) -> list[str]:
    return [read.part.name for read in of.reads if isinstance(read.part, Count) and read.part.name]


def render_packet(of: Packet) -> str:
    """Render protocol and ends: “TCP 10.16.0.10:50000 → 203.0.113.9:443”."""
    return f"{_PROTOCOLS.get(of.protocol, of.protocol)} {render_ends(of.ends)}"


def render_ends(of: Endpoints) -> str:
    """Render both ends, with their ports where they have one."""
    return f"{_render_end(of.source, of.source_port)} → {_render_end(of.destination, of.destination_port)}"


def render_leaving(of: LeavingPacket) -> str:
    """Render both ends of a leaving packet; the kernel may choose its source port from a range."""
    shown, ports = of.get_ends(), of.source_ports
    if not of.source_known:
        return f"{_('an address of the gateway itself')} → {_render_end(shown.destination, shown.destination_port)}"
    if len(ports) == 1:
        return render_ends(shown)
    source = formats.format_address(shown.source, ports[0])
    return f"{source}–{ports[-1]} → {_render_end(shown.destination, shown.destination_port)}"


def _render_end(address: object, port: int) -> str:
    return formats.format_address(str(address), port or None)


def describe_part_reading(ruleset: Ruleset, read: PartReading) -> str:
    """Describe what a part of a rule read, and the result; keys of sets as nft writes them."""
    values = " . ".join("–" if value is None else _render_value(value) for value in read.values)
    if not read.set:
        return values
    key = get_key_renderer(ruleset.sets[read.set].key)(read.key) if read.key else values
    if ruleset.sets[read.set].polices and read.element is not None:
        bits = formats.format_rate(8 * int.from_bytes(read.element.value))
        return _("%(key)s is in %(set)s: may be dropped above %(rate)s") % {"key": key, "set": read.set, "rate": bits}
    words = _("%(key)s is in %(set)s") if read.element is not None else _("%(key)s is not in %(set)s")
    return words % {"key": key, "set": read.set}


def _render_value(value: object) -> str:
    return ", ".join(sorted(value)) or _("none") if isinstance(value, frozenset) else str(value)


def describe_step(of: TraceStep) -> str:
    """Describe the effect of a rule that matched."""
    match of.verdict:
        case Verdict(VerdictAction.JUMP | VerdictAction.GOTO, chain):
            return _("on to the chain %(chain)s") % {"chain": chain}
        case Verdict(VerdictAction.RETURN):
            return _("allowed so far: back to the calling chain")
        case Verdict(VerdictAction.DROP):
            return _("dropped")
        case Verdict(VerdictAction.ACCEPT):
            return _describe_rewrite(of) or _("accepted")
        case Reject():
            return _("refused")
        case Synproxy():
            return _("answered on the server’s behalf")
        case _:
            return _("counted") if any(isinstance(read.part, Count) for read in of.reads) else _("goes on")


def _describe_rewrite(of: TraceStep) -> str:
    for read in of.reads:
        if isinstance(read.part, Dnat | DnatTo):
            return _("the destination is rewritten")
        if isinstance(read.part, Snat | Masquerade):
            return _("the source is rewritten")
    return ""

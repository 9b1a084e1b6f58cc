"""An answer in words: what became of the packet and why, in a sentence; and each rule of the path as what it asked and found."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.desk.packet_trace.answer import Answer, same, succeeded
from apps.desk.packet_trace.element_origin import Behind
from apps.lib.ui import formats
from apps.lib.ui.states import Kind
from firewall.render import key_renderer
from firewall.ruleset import Action, Count, Dnat, DnatTo, Reject, Ruleset, Snat, Synproxy, Verdict
from firewall.sets import family_of
from firewall.tracing import Ends, Leaving, Outcome, Packet, Read, State, Step, Trace

# What it means that a named counter counted a packet which did not get through
CAUSES: dict[str, str | Promise] = {
    "spoofed": gettext_lazy("No active member holds its source, or it comes from the wrong side."),
    "refused": gettext_lazy("Nothing allows this connection to begin."),
    "misdirected": gettext_lazy("It comes from the internet to a private address, which nobody there can reach."),
    "leaked": gettext_lazy("It would leave with a private source: the address has no public one to leave as."),
    "bogons_from": gettext_lazy("Its sender cannot be on the internet, and is none of the networks that the group calls its own."),
    "bogons_to": gettext_lazy("Its target cannot be on the internet, and is none of the networks that the group calls its own."),
    "blocked": gettext_lazy("A member at one of its ends is blocked, and this is not among what stays reachable."),
    "untracked": gettext_lazy("It is not tracked, and neither to nor from a listener."),
    "rates_up": gettext_lazy("The member it comes from has sent more than the rate lets through."),
    "rates_down": gettext_lazy("The member it goes to has been sent more than the rate lets through."),
    "unmatched": gettext_lazy("Neither end is an active member, or no way leads between these interfaces."),
}
_PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6"}


@dataclass(frozen=True, slots=True)
class Said:
    """A verdict: one or two words, a sentence, and what people made that brought it about."""

    kind: Kind
    lead: str
    sentence: str
    things: list[Behind] = field(default_factory=list)

    def __str__(self) -> str:
        things = "; ".join(f"{each.name} ({each.note})" if each.note else each.name for each in self.things)
        return " ".join(filter(None, [self.lead, self.sentence, f"[{things}]" if things else ""]))


def verdict(answer: Answer) -> Said:
    """What became of the packet, and why."""
    trace = answer.trace
    if succeeded(trace):
        return Said(Kind.OK, *_arrived(answer), _made_by(answer))
    step = trace.decided
    things = [each for read in (step.reads if step else ()) for each in answer.behind(read)] or list(_blocks(answer))
    match trace.outcome:
        case Outcome.ANSWERED:
            return Said(Kind.OK, _("Answered by the gateway."), _stood_in(trace), things)
        case Outcome.DROPPED if any(isinstance(read.part, Synproxy) for read in (step.reads if step else ())):
            return Said(Kind.BAD, _("Dropped."), _("It acknowledges nothing that the gateway has sent in the server's stead:"), things)
        case Outcome.DROPPED:
            return Said(Kind.BAD, _("Dropped."), _why(answer, things), things)
        case Outcome.REJECTED:
            told = _("with a TCP reset") if trace.refusal and "tcp" in trace.refusal else _("with an ICMP error")
            return Said(Kind.BAD, _("Refused."), f"{_why(answer, things)} {_('The sender is told, %(how)s.') % {'how': told}}", things)
        case _:
            nowhere = _("%(address)s is reached through a port forward only, and there is none.")
            return Said(Kind.WARN, _("Leads nowhere."), nowhere % {"address": trace.packet.destination})


def guessed(answer: Answer) -> str:
    """What the answer rests on and nobody said; "" where nothing was guessed."""
    words = _("Taken as coming from outside. If %(source)s is a server of yours, say “servers”.")
    return words % {"source": answer.question.source} if answer.is_guess else ""


def _stood_in(trace: Trace) -> str:
    """What the gateway did in the server's stead, and in the client's."""
    if trace.packet.cookie:
        return _("Its sender has proved to be there, so now the gateway connects to the server. What the guard is for:")
    return _("The server hears of it when its sender has answered: the guard against SYN floods is on. What it is for:")


def _arrived(answer: Answer) -> tuple[str, str]:
    trace = answer.trace
    if trace.outcome is Outcome.DELIVERED or trace.leaves is None:
        return _("Reaches the gateway itself."), _("What answers there is not for the ruleset to say.")
    words = _("It leaves by %(interface)s as %(packet)s. Behind it:") % {"interface": trace.interface, "packet": leaving(trace.leaves)}
    if any(read.element is not None and _polices(read) for step in trace.steps for read in step.reads):
        may = _("It may be dropped by rate, while more comes than the member’s rate lets through.")
        words = f"{may} {words}"
    return _("Goes through."), words


def _polices(read: Read) -> bool:
    family = family_of(read.set)
    return bool(family and family.polices)


def _made_by(answer: Answer) -> list[Behind]:
    """What let the packet through or rewrote it."""
    things: dict[Behind, None] = {}
    for step in answer.trace.steps:
        if step.matched:
            things |= dict.fromkeys(each for read in step.reads for each in answer.behind(read))
    return list(things)


def _blocks(answer: Answer) -> Iterator[Behind]:
    """Blocks that led the packet to the chain which refused it."""
    if answer.trace.decided and answer.trace.decided.chain.name == "blocked":
        for step in answer.trace.steps:
            yield from (each for read in step.reads if step.matched and read.set.startswith("blocked") for each in answer.behind(read))


def _why(answer: Answer, things: list[Behind]) -> str:
    trace, step = answer.trace, answer.trace.decided
    if things:
        return _("That is what somebody asked for:")
    counted = [name for each in trace.steps if each.matched for name in _counters(each)]
    if counted and counted[-1] in CAUSES:
        return str(CAUSES[counted[-1]])
    if trace.state is State.INVALID:
        return _("It belongs to no connection that the gateway knows.")
    if trace.state is State.UNTRACKED:
        return _("Only tracked connections go through.")
    return _("No rule of the chain %(chain)s allows it.") % {"chain": step.chain.name if step else ""}


OUTCOMES: dict[Outcome, str | Promise] = {
    Outcome.FORWARDED: gettext_lazy("goes through"),
    Outcome.DELIVERED: gettext_lazy("reaches the gateway itself"),
    Outcome.ANSWERED: gettext_lazy("answered by the gateway"),
    Outcome.DROPPED: gettext_lazy("dropped"),
    Outcome.REJECTED: gettext_lazy("refused"),
    Outcome.UNROUTED: gettext_lazy("leads nowhere"),
    Outcome.HELD: gettext_lazy("waits for its other fragments"),
}


def elsewhere(answer: Answer) -> Iterator[str]:
    """How the packet fares on the other gateways."""
    for name, trace in answer.elsewhere.items():
        fate = _("the same") if same(answer.trace, trace) else OUTCOMES[trace.outcome]
        yield _("%(gateway)s: %(fate)s") % {"gateway": name, "fate": fate}


def _counters(of: Step) -> list[str]:
    return [read.part.name for read in of.reads if isinstance(read.part, Count) and read.part.name]


def packet(of: Packet) -> str:
    """10.16.0.10:50000 → 203.0.113.9:443, with the protocol."""
    return f"{_PROTOCOLS.get(of.protocol, of.protocol)} {ends(of.ends)}"


def ends(of: Ends) -> str:
    """Both ends, with their ports where they have one."""
    return f"{_end(of.source, of.source_port)} → {_end(of.destination, of.destination_port)}"


def leaving(of: Leaving) -> str:
    """The same of a packet whose source port the kernel may choose."""
    shown, ports = of.ends(), of.source_ports
    if len(ports) == 1:
        return ends(shown)
    source = formats.address(shown.source, ports[0])
    return f"{source}–{ports[-1]} → {_end(shown.destination, shown.destination_port)}"


def _end(address: object, port: int) -> str:
    return formats.address(str(address), port or None)


def asked(ruleset: Ruleset, read: Read) -> str:
    """What a part of a rule read, and what it came to; keys of sets as nft writes them."""
    values = " . ".join("–" if value is None else _value(value) for value in read.values)
    if not read.set:
        return values
    key = key_renderer(ruleset.sets[read.set].key)(read.key) if read.key else values
    if ruleset.sets[read.set].polices and read.element is not None:
        bits = formats.rate(8 * int.from_bytes(read.element.value))
        return _("%(key)s is in %(set)s: may be dropped by rate, above %(rate)s") % {"key": key, "set": read.set, "rate": bits}
    words = _("%(key)s is in %(set)s") if read.element is not None else _("%(key)s is not in %(set)s")
    return words % {"key": key, "set": read.set}


def _value(value: object) -> str:
    return ", ".join(sorted(value)) or _("none") if isinstance(value, frozenset) else str(value)


def step(of: Step) -> str:
    """What a rule that matched did."""
    match of.verdict:
        case Verdict(Action.JUMP | Action.GOTO, chain):
            return _("on to the chain %(chain)s") % {"chain": chain}
        case Verdict(Action.RETURN):
            return _("allowed so far: back to where it came from")
        case Verdict(Action.DROP):
            return _("dropped")
        case Verdict(Action.ACCEPT):
            return _rewritten(of) or _("accepted")
        case Reject():
            return _("refused")
        case Synproxy():
            return _("answered in the server's stead")
        case _:
            return _("counted") if any(isinstance(read.part, Count) for read in of.reads) else _("goes on")


def _rewritten(of: Step) -> str:
    for read in of.reads:
        if isinstance(read.part, Dnat | DnatTo):
            return _("the destination is rewritten")
        if isinstance(read.part, Snat):
            return _("the source is rewritten")
    return ""

"""Texts of live traces: packets, rules, and the fate of a packet."""

import re
from collections.abc import Sequence

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.desk.packet_trace import packet_trace_texts
from apps.desk.packet_trace.packet_trace_texts import CAUSES, VerdictText
from apps.lib.ui.states import StateKind
from firewall.live_trace import ARRIVES, LEAVES, Event, Headers
from firewall.tracing import Packet

ENDED: dict[str, str | Promise] = {
    "time": gettext_lazy("The time is over."),
    "packets": gettext_lazy("The requested number of packets was seen."),
    "asked": gettext_lazy("Stopped early."),
    "lost": gettext_lazy("Too much came at once, and some of it was lost. Narrow the conditions."),
}
_COUNTER = re.compile(r'counter name "?(\w+)"?')


def render_headers(of: Headers) -> str:
    """Render a packet: “TCP 10.16.0.10:50000 → 203.0.113.9:443, syn, 60 octets”."""
    flags = " ".join(of.flags) or (of.icmp and _("type %(icmp)s") % {"icmp": of.icmp})
    return ", ".join(filter(None, [render_ends(of), flags, _("%(n)s octets") % {"n": of.length}]))


def render_ends(of: Headers) -> str:
    """Render protocol and ends only, without flags and length."""
    return packet_trace_texts.render_packet(Packet("", of.source, of.destination, of.protocol, of.source_port, of.destination_port))


def render_rule(event: Event) -> str:
    """Render the rule or policy that decided, as nft writes it."""
    if event.policy:
        return f"policy {event.verdict}"
    return event.rule or _("a rule that the portal did not send, in the table %(table)s") % {"table": event.table}


def describe_effect(event: Event) -> str:
    """Describe the effect of the event on the packet."""
    match event.verdict:
        case "jump" | "goto":
            return _("on to the chain %(chain)s") % {"chain": event.to}
        case "return":
            return _("allowed so far: back to the calling chain")
        case "drop":
            return _("refused") if _is_reject(event) else _("dropped")
        case "accept":
            return _("accepted")
        case "continue":
            return _("goes on")
    return event.verdict


def describe_hook(event: Event) -> str:
    """Describe where the packet is: the hook of our table, or another table."""
    ours = event.table == "inet netzwart"
    hook = _("hook %(hook)s") % {"hook": event.hook} if event.hook else ""
    return hook if ours else event.table


def describe_fate(told: Sequence[Event]) -> VerdictText:
    """Describe the packet's fate, from the kernel's last event about it."""
    last = told[-1]
    if last.mark == LEAVES and last.headers:
        sentence = _("It left by %(interface)s as %(packet)s.") % {"interface": last.goes, "packet": render_ends(last.headers)}
        return VerdictText(StateKind.OK, _("Went through."), sentence)
    if last.mark == ARRIVES:
        return VerdictText(StateKind.OK, _("Reached the gateway itself."), _("The ruleset does not say which service answers there."))
    if last.verdict == "drop":
        return VerdictText(StateKind.BAD, _("Refused.") if _is_reject(last) else _("Dropped."), _describe_cause(last))
    return VerdictText(
        StateKind.WARN,
        _("Ended without a rule."),
        _("The kernel reported nothing after the chain %(chain)s: routing ended it, or it waits.") % {"chain": last.chain},
    )


def _is_reject(event: Event) -> bool:
    return "reject" in event.rule.split()


def _describe_cause(event: Event) -> str:
    counter = _COUNTER.search(event.rule)
    if counter and counter[1] in CAUSES:
        return str(CAUSES[counter[1]])
    return _("By the chain %(chain)s: %(rule)s") % {"chain": event.chain, "rule": render_rule(event)}

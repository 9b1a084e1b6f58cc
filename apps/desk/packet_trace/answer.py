"""Answers to trace questions: the packet's trace, and its fate with the other ruleset and on the group's other gateways."""

from dataclasses import dataclass, replace
from datetime import datetime

import structlog
from django.utils.translation import gettext as _

from apps.deployments.observed_state.trace_sources import TraceableGateway, build_traceable_gateways
from apps.deployments.rule_kinds.kind import ElementOrigin, SetElement
from apps.deployments.rule_kinds.registry import list_element_origins
from apps.desk.packet_trace.question import InvalidQuestion, TracedPacket, TraceQuestion, build_packet, build_routes, is_source_side_guessed
from firewall.policy import PolicyError
from firewall.ruleset import Ruleset
from firewall.tracing import PartReading, Trace, TraceOutcome, trace_flow

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class TraceAnswer:
    """The packet's trace through `ruleset`. elsewhere: the other gateways' traces by name.

    other: the same packet's trace through the other ruleset of this gateway, None if that is unknown.
    """

    question: TraceQuestion
    traceable: TraceableGateway
    ruleset: Ruleset
    trace: Trace
    other: Trace | None
    elsewhere: dict[str, Trace]

    @property
    def differs(self) -> bool:
        """Whether the packet's fate differs with the other ruleset."""
        return self.other is not None and not is_same_fate(self.trace, self.other)

    @property
    def is_interface_guessed(self) -> bool:
        """Whether the incoming interface was guessed."""
        return is_source_side_guessed(self.question, self.traceable.gateway, self.traceable.routes)

    @property
    def at(self) -> datetime:
        """The moment that the question is about."""
        return self.traceable.at

    def drop_elements(self) -> "TraceAnswer":
        """Return the same without the elements of its rulesets: those that the packet met are in the traces."""
        return replace(self, ruleset=replace(self.ruleset, elements={}), traceable=self.traceable.drop_elements())

    def list_origins(self, read: PartReading) -> list[ElementOrigin]:
        """Return the origins of the element that a part found, without names of members unless the question allows them."""
        if read.element is None:
            return []
        found = list_element_origins(SetElement(self.ruleset.sets[read.set], read.key, read.element, self.at))
        return found if self.question.named else [each.without_member() for each in found]


def log_question(question: TraceQuestion, by: object) -> None:
    """Log who asks about which packet, as for a live trace: the answer may turn an address into a person."""
    ends = {"source": str(question.source), "destination": str(question.destination)}
    log.info("trace", by=str(by), gateway=question.gateway.name, named=question.named, port=question.port, **ends)


def answer_question(question: TraceQuestion) -> TraceAnswer:
    """Trace the packet. Raises InvalidQuestion when there is no ruleset to trace it through."""
    try:
        known = {each.gateway.pk: each for each in build_traceable_gateways(question.gateway.group, question.at)}
    except PolicyError as error:
        raise InvalidQuestion("gateway", _("The desired state cannot be deployed: %(error)s") % {"error": error}) from error
    this = known[question.gateway.pk]
    ruleset, other = (this.runs, this.wanted) if question.runs else (this.wanted, this.runs)
    if ruleset is None:
        raise InvalidQuestion("ruleset", _("The ruleset that %(gateway)s runs is not known.") % {"gateway": this.gateway})
    elsewhere = {
        each.gateway.name: _trace(question, each, each.runs if question.runs and each.runs else each.wanted)
        for each in known.values()
        if each is not this
    }
    return TraceAnswer(
        question, this, ruleset, _trace(question, this, ruleset), _trace(question, this, other) if other else None, elsewhere
    )


def _trace(question: TraceQuestion, through: TraceableGateway, ruleset: Ruleset) -> Trace:
    """Return the trace of the chosen packet of the connection; of the first one if the connection does not get that far."""
    routes = build_routes(question, through.gateway, through.routes)
    talk = trace_flow(ruleset, build_packet(question, through.gateway, routes), routes, now=int(through.at.timestamp()))
    chosen = {TracedPacket.FIRST: talk.first, TracedPacket.NEXT: talk.next, TracedPacket.ANSWER: talk.answer}[question.way]
    return chosen or talk.first


def is_same_fate(one: Trace, other: Trace) -> bool:
    """Whether both packets have the same fate; names of interfaces do not matter."""
    return _get_fate(one) == _get_fate(other)


def _get_fate(trace: Trace) -> object:
    leaves = trace.leaves
    return trace.outcome, trace.refusal, leaves and (leaves.get_ends(), leaves.source_ports)


def is_forwarded_or_delivered(trace: Trace) -> bool:
    """Whether the packet was forwarded or delivered."""
    return trace.outcome in (TraceOutcome.FORWARDED, TraceOutcome.DELIVERED)

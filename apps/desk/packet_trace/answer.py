"""The answer to a question: the packet's trace, and how it fares with the other ruleset and on the other gateways of the group."""

from dataclasses import dataclass
from datetime import datetime

import structlog
from django.utils.translation import gettext as _

from apps.deployments.observed_state.trace_sources import Traceable, traceables
from apps.desk.packet_trace.element_origin import Behind, Found, behind
from apps.desk.packet_trace.question import CannotAsk, Question, Way, is_guess, packet, routes_of
from firewall.policy import PolicyError
from firewall.ruleset import Ruleset
from firewall.tracing import Outcome, Read, Trace, trace_flow

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of the packet, through which ruleset. elsewhere: the other gateways' traces by name.

    other: the same packet's trace through the other ruleset of this gateway, None if that is not known.
    """

    question: Question
    traceable: Traceable
    ruleset: Ruleset
    trace: Trace
    other: Trace | None
    elsewhere: dict[str, Trace]

    @property
    def differs(self) -> bool:
        """Would the packet fare otherwise by the other ruleset?"""
        return self.other is not None and not same(self.trace, self.other)

    @property
    def is_guess(self) -> bool:
        """Was it guessed where the packet comes in?"""
        return is_guess(self.question, self.traceable.gateway, self.traceable.routes)

    @property
    def at(self) -> datetime:
        """The moment that was asked about."""
        return self.traceable.at

    def behind(self, read: Read) -> list[Behind]:
        """What stands behind the element that a part found."""
        if read.element is None:
            return []
        found = behind(Found(self.ruleset.sets[read.set], read.key, read.element, self.at))
        return found if self.question.named else [each.unnamed() for each in found]


def note(question: Question, by: object) -> None:
    """Who asks about whose packet stands in the log, as with a live trace: the answer may turn an address into a person."""
    ends = {"source": str(question.source), "destination": str(question.destination)}
    log.info("trace", by=str(by), gateway=question.gateway.name, named=question.named, port=question.port, **ends)


def answer(question: Question) -> Answer:
    """Trace the packet that is asked about. Raises CannotAsk when there is nothing to trace it through."""
    try:
        known = {each.gateway.pk: each for each in traceables(question.gateway.group, question.at)}
    except PolicyError as error:
        raise CannotAsk("gateway", _("What the database asks for must not be deployed: %(error)s") % {"error": error}) from error
    this = known[question.gateway.pk]
    ruleset, other = (this.runs, this.wanted) if question.runs else (this.wanted, this.runs)
    if ruleset is None:
        raise CannotAsk("ruleset", _("What %(gateway)s runs is not known here.") % {"gateway": this.gateway})
    elsewhere = {
        each.gateway.name: _traced(question, each, each.runs if question.runs and each.runs else each.wanted)
        for each in known.values()
        if each is not this
    }
    return Answer(question, this, ruleset, _traced(question, this, ruleset), _traced(question, this, other) if other else None, elsewhere)


def _traced(question: Question, through: Traceable, ruleset: Ruleset) -> Trace:
    """The packet of the connection that is asked about; the first one, where the connection does not come that far."""
    routes = routes_of(question, through.gateway, through.routes)
    talk = trace_flow(ruleset, packet(question, through.gateway, routes), routes, now=int(through.at.timestamp()))
    chosen = {Way.FIRST: talk.first, Way.NEXT: talk.next, Way.ANSWER: talk.answer}[question.way]
    return chosen or talk.first


def same(one: Trace, other: Trace) -> bool:
    """Does the packet fare alike, whatever the interfaces are called?"""
    return _fate(one) == _fate(other)


def _fate(trace: Trace) -> object:
    leaves = trace.leaves
    return trace.outcome, trace.refusal, leaves and (leaves.ends(), leaves.source_ports)


def succeeded(trace: Trace) -> bool:
    """Did the packet arrive somewhere?"""
    return trace.outcome in (Outcome.FORWARDED, Outcome.DELIVERED)

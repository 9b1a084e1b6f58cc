"""Claims of the dashboard about the state of gateways: each sentence has evidence, and a maximum age of it.

Evidence is the time of the last observation: an answer of the gateways, or a run of the deploy worker. A sentence without
evidence, or with evidence that is too old, is not shown. An answer of a gateway says nothing about packets: “forwards” follows
from probe packets that came back through every gateway within the last ten seconds, where no rule of its health has found what stops
members' packets: a probe takes another cable than they do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import Rollout
from apps.deployments.rollouts import progress
from apps.desk.needs.gateways import find_unapplied_rollout
from apps.gateways.health.models import HealthFinding
from apps.gateways.health.rules import RULES
from apps.gateways.health.selectors import list_findings
from apps.gateways.packet_probes.judgement import FORWARDS, do_all_pass
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.selectors import list_probe_statuses
from apps.gateways.selectors import GatewayOverview, get_max_answer_age
from apps.lib.ui.states import StateKind
from apps.operations import heartbeats
from apps.operations.models import ProcessRole


@dataclass(frozen=True)
class DashboardFacts:
    """The facts: the gateways, each group's newest rollout, when the deploy worker last finished a task that was sent to it, the last
    probe packets through the gateways, and what was found to be wrong with their machines.
    """

    now: datetime
    gateways: Sequence[GatewayOverview]
    newest: Mapping[int, Rollout]
    worked: datetime | None
    probes: Sequence[ProbeStatus] = ()
    findings: Sequence[HealthFinding] = ()


@dataclass(frozen=True)
class StatusClaim:
    """A sentence about a state.

    holds: whether the observations support it; evidence: when they were made, None for never; oldest: the maximum age.
    """

    name: str
    words: Callable[[DashboardFacts], str]
    holds: Callable[[DashboardFacts], bool]
    evidence: Callable[[DashboardFacts], datetime | None]
    oldest: Callable[[], timedelta]

    def is_known(self, facts: DashboardFacts) -> bool:
        """Whether there is evidence that is recent enough."""
        seen = self.evidence(facts)
        return seen is not None and facts.now - seen <= self.oldest()

    def render_words(self, facts: DashboardFacts) -> str:
        """Return the sentence, or "" if it does not follow from the facts."""
        return self.words(facts) if self.is_known(facts) and self.holds(facts) else ""


def gather_facts(gates: Sequence[GatewayOverview], newest: Mapping[int, Rollout], now: datetime) -> DashboardFacts:
    """Return the facts for one page."""
    worker = heartbeats.list_heartbeats().get(ProcessRole.WORKER)
    here = {each.gateway.pk for each in gates}
    probes = [each for each in list_probe_statuses() if each.gateway_id in here]
    findings = [each for each in list_findings(now) if each.gateway_id in here]
    return DashboardFacts(now, gates, newest, worker.served if worker else None, probes, findings)


def do_all_gateways_answer(facts: DashboardFacts) -> bool:
    return bool(facts.gateways) and all(each.state.kind is StateKind.OK for each in facts.gateways)


def _find_oldest_answer(gates: Sequence[GatewayOverview]) -> datetime | None:
    """Return the oldest of the gateways' last answers; None if one never answered, or there is none."""
    seen = [each.status.seen if each.status else None for each in gates]
    return min((each for each in seen if each), default=None) if all(seen) else None


def _get_answer_evidence(facts: DashboardFacts) -> datetime | None:
    return _find_oldest_answer(facts.gateways)


def _get_worker_evidence(facts: DashboardFacts) -> datetime | None:
    """Return the older of the gateways' answers and the worker's last task: only the worker finds new revisions and drift."""
    answered = _find_oldest_answer(facts.gateways)
    return min(answered, facts.worked) if answered and facts.worked else None


def _get_primary_evidence(facts: DashboardFacts) -> datetime | None:
    return _find_oldest_answer(_list_primaries(facts))


def _get_database_evidence(facts: DashboardFacts) -> datetime | None:
    """Return the present: the database is always current."""
    return facts.now


def _list_primaries(facts: DashboardFacts) -> list[GatewayOverview]:
    return [each for each in facts.gateways if each.carries4 or each.carries6]


def _has_primaries(facts: DashboardFacts) -> bool:
    """Whether IPv4 and IPv6 each have a primary that answers, and none carries both because the others are away."""
    primaries = _list_primaries(facts)
    both = any(each.carries4 for each in primaries) and any(each.carries6 for each in primaries)
    return both and all(each.state.kind is StateKind.OK and not each.alone for each in primaries)


def _is_newest_everywhere(facts: DashboardFacts) -> bool:
    return do_all_gateways_answer(facts) and all(
        each.status and not find_unapplied_rollout(each, facts.newest) and each.status.revision_id for each in facts.gateways
    )


def _is_untouched(facts: DashboardFacts) -> bool:
    return do_all_gateways_answer(facts) and not any(each.drift for each in facts.gateways)


def _is_without_failure(facts: DashboardFacts) -> bool:
    """Whether no rollout failed, and none was confirmed although its probe lost packets."""
    newest = facts.newest.values()
    return bool(newest) and not any(each.state == Rollout.State.FAILED or getattr(each, "lost_packets", False) for each in newest)


def do_packets_pass(facts: DashboardFacts) -> bool:
    """True if fresh probes came back through every gateway, in each address family that is probed there, and nothing is known that stops
    members' packets. A gateway that does not answer is not probed any more.
    """
    if not do_all_gateways_answer(facts) or any(RULES[each.rule].stops(each.evidence) for each in facts.findings):
        return False
    probed = {each.gateway_id for each in facts.probes}
    return bool(probed) and probed == {each.gateway.pk for each in facts.gateways} and do_all_pass(facts.probes, facts.now)


def _get_probe_evidence(facts: DashboardFacts) -> datetime | None:
    """Return when a packet last came back, of the family and gateway where that is longest ago; None if one never did."""
    answered = [each.answered for each in facts.probes]
    return min((each for each in answered if each), default=None) if all(answered) else None


def _get_fresh_age() -> timedelta:
    return FORWARDS


def _get_zero_age() -> timedelta:
    return timedelta(0)


CLAIMS: Final = (
    StatusClaim(
        "answer",
        lambda facts: _("%(gateways)s answer") % {"gateways": progress.join_names([each.gateway.name for each in facts.gateways])},
        lambda facts: len(facts.gateways) > 1 and do_all_gateways_answer(facts),
        _get_answer_evidence,
        get_max_answer_age,
    ),
    StatusClaim(
        "packets",
        lambda facts: _("packets pass %(gateways)s") % {"gateways": progress.join_names([each.gateway.name for each in facts.gateways])},
        do_packets_pass,
        _get_probe_evidence,
        _get_fresh_age,
    ),
    StatusClaim("newest", lambda _facts: _("all run the newest revision"), _is_newest_everywhere, _get_worker_evidence, get_max_answer_age),
    StatusClaim("untouched", lambda _facts: _("nothing was changed by hand"), _is_untouched, _get_worker_evidence, get_max_answer_age),
    StatusClaim("rollouts", lambda _facts: _("no rollout failed"), _is_without_failure, _get_database_evidence, _get_zero_age),
    StatusClaim(
        "primaries",
        lambda _facts: _("IPv4 and IPv6 each have a primary that answers"),
        _has_primaries,
        _get_primary_evidence,
        get_max_answer_age,
    ),
)


def list_true_claims(facts: DashboardFacts) -> list[str]:
    """Return the sentences that were checked and hold."""
    return [said for claim in CLAIMS if (said := claim.render_words(facts))]


def describe_answering_gateways(facts: DashboardFacts, *, in_memory: bool) -> str:
    """Return the part of the title about gateways: how many answer, if they were polled recently."""
    gates = facts.gateways
    if not gates:
        return _("no gateway is set up yet")
    if any(each.state.kind in (StateKind.WARN, StateKind.PLAIN) for each in gates):
        return _("the gateways have not been polled recently")
    working = sum(each.state.kind is StateKind.OK and bool(each.status and each.status.revision_id) for each in gates)
    if working < len(gates):
        text = ngettext("%(n)d of %(all)d gateways answers", "%(n)d of %(all)d gateways answer", working)
        return text % {"n": working, "all": len(gates)}
    if in_memory:
        words = {1: _("the gateway answers, in memory only"), 2: _("both gateways answer, in memory only")}
        return words.get(working, _("all gateways answer, in memory only"))
    if do_packets_pass(facts):
        return {1: _("the gateway forwards"), 2: _("both gateways forward")}.get(working, _("all %(n)d gateways forward") % {"n": working})
    return {1: _("the gateway answers"), 2: _("both gateways answer")}.get(working, _("all %(n)d gateways answer") % {"n": working})

"""What the dashboard claims about the state of gateways: each sentence with the evidence that it follows from, and how old that may be.

Evidence is the moment at which somebody last saw it: an answer of the gateways, a run of the deploy worker. A sentence whose evidence is
missing or too old is not said. That a gateway answers says nothing about packets, so no sentence here says “forwards”.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import Rollout
from apps.deployments.rollouts import progress
from apps.gateways.selectors import Shown, asked_within
from apps.lib.ui.states import Kind
from apps.operations import heartbeats
from apps.operations.models import Role


@dataclass(frozen=True)
class Facts:
    """What is known: the gateways, each group's newest rollout, and when the deploy worker last finished a task that was sent to it."""

    now: datetime
    gateways: Sequence[Shown]
    newest: Mapping[int, Rollout]
    worked: datetime | None


@dataclass(frozen=True)
class Claim:
    """A sentence about a state. holds: whether what was seen says so; evidence: when it was seen last, None for never."""

    name: str
    words: Callable[[Facts], str]
    holds: Callable[[Facts], bool]
    evidence: Callable[[Facts], datetime | None]
    oldest: Callable[[], timedelta]

    def is_known(self, facts: Facts) -> bool:
        """Is there evidence, and is it young enough?"""
        seen = self.evidence(facts)
        return seen is not None and facts.now - seen <= self.oldest()

    def said(self, facts: Facts) -> str:
        """The sentence, or "" when it does not follow from what is known."""
        return self.words(facts) if self.is_known(facts) and self.holds(facts) else ""


def gather(gates: Sequence[Shown], newest: Mapping[int, Rollout], now: datetime) -> Facts:
    """The facts for one page."""
    worker = heartbeats.known().get(Role.WORKER)
    return Facts(now, gates, newest, worker.served if worker else None)


def all_answer(facts: Facts) -> bool:
    return bool(facts.gateways) and all(each.state.kind is Kind.OK for each in facts.gateways)


def _answered(gates: Sequence[Shown]) -> datetime | None:
    """The oldest of the gateways' last answers; None when one never answered."""
    seen = [each.status.seen if each.status else None for each in gates]
    return min((each for each in seen if each), default=None) if all(seen) else None


def _by_answers(facts: Facts) -> datetime | None:
    return _answered(facts.gateways)


def _by_worker(facts: Facts) -> datetime | None:
    """The older of the gateways' answers and of the worker's last task: what is newest, and what differs, it alone finds out."""
    answered = _answered(facts.gateways)
    return min(answered, facts.worked) if answered and facts.worked else None


def _by_primaries(facts: Facts) -> datetime | None:
    return _answered(_primaries(facts))


def _by_database(facts: Facts) -> datetime | None:
    """The database itself says so, now."""
    return facts.now


def _primaries(facts: Facts) -> list[Shown]:
    return [each for each in facts.gateways if each.gateway.carries4 or each.gateway.carries6]


def _have_primaries(facts: Facts) -> bool:
    """Both families have one, each answers, and none carries both because the others are away."""
    primaries = _primaries(facts)
    both = any(each.gateway.carries4 for each in primaries) and any(each.gateway.carries6 for each in primaries)
    return both and all(each.state.kind is Kind.OK and not each.alone for each in primaries)


def behind(each: Shown, newest: Mapping[int, Rollout]) -> Rollout | None:
    """The rollout that the gateway should run and does not; none while one is under way."""
    last = newest.get(each.gateway.group_id)
    if last is None or last.state in Rollout.OPEN or each.status is None:
        return None
    return last if each.status.revision_id != last.revision_id else None


def _run_newest(facts: Facts) -> bool:
    return all_answer(facts) and all(each.status and not behind(each, facts.newest) and each.status.revision_id for each in facts.gateways)


def _is_untouched(facts: Facts) -> bool:
    return all_answer(facts) and not any(each.drift for each in facts.gateways)


def _none_failed(facts: Facts) -> bool:
    """None failed, and none was confirmed though packets of its probe were lost."""
    newest = facts.newest.values()
    return bool(newest) and not any(each.state == Rollout.State.FAILED or getattr(each, "lost_packets", False) for each in newest)


def _no_age() -> timedelta:
    return timedelta(0)


CLAIMS: Final = (
    Claim(
        "answer",
        lambda facts: _("%(gateways)s answer") % {"gateways": progress.listed([each.gateway.name for each in facts.gateways])},
        lambda facts: len(facts.gateways) > 1 and all_answer(facts),
        _by_answers,
        asked_within,
    ),
    Claim("newest", lambda _facts: _("all run the newest revision"), _run_newest, _by_worker, asked_within),
    Claim("untouched", lambda _facts: _("nothing was changed by hand"), _is_untouched, _by_worker, asked_within),
    Claim("rollouts", lambda _facts: _("no rollout failed"), _none_failed, _by_database, _no_age),
    Claim("primaries", lambda _facts: _("IPv4 and IPv6 each have a primary that answers"), _have_primaries, _by_primaries, asked_within),
)


def fine(facts: Facts) -> list[str]:
    """What was looked at and is as it should be."""
    return [said for claim in CLAIMS if (said := claim.said(facts))]


def answering(facts: Facts, *, in_memory: bool) -> str:
    """The part of the title about gateways: how many answer, as far as anybody has asked lately."""
    gates = facts.gateways
    if not gates:
        return _("no gateway is set up yet")
    if any(each.state.kind in (Kind.WARN, Kind.PLAIN) for each in gates):
        return _("nobody has asked the gateways lately")
    working = sum(each.state.kind is Kind.OK and bool(each.status and each.status.revision_id) for each in gates)
    if working < len(gates):
        text = ngettext("%(n)d of %(all)d gateways answers", "%(n)d of %(all)d gateways answer", working)
        return text % {"n": working, "all": len(gates)}
    if in_memory:
        words = {1: _("the gateway answers, in memory"), 2: _("both gateways answer, in memory")}
        return words.get(working, _("all gateways answer, in memory"))
    return {1: _("the gateway answers"), 2: _("both gateways answer")}.get(working, _("all %(n)d gateways answer") % {"n": working})

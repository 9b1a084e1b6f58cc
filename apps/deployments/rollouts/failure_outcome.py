"""Outcome texts for a gateway that was not brought to the revision: what happened, what it runs now, and what to do.

`rollout_due` decides what is retried automatically; this module explains it.
"""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.rollouts.progress import is_open
from apps.deployments.rollouts.trial_status import render_confirmed_state
from apps.lib.ui import formats

S = RolloutStep.State


@dataclass(frozen=True)
class StepOutcome:
    """Three sentences, and the error in the words of the gateway or the connection."""

    happened: str
    runs: str
    advice: str
    error: str = ""
    bad: bool = True


def find_outcome(step: RolloutStep, rollout: Rollout, status: GatewayState | None, newer: Rollout | None) -> StepOutcome | None:
    """Return the outcome; None for a gateway that runs the revision, or is on its way to it."""
    if step.state == S.SKIPPED:
        return StepOutcome(
            _render_skipped(step, rollout), _render_running(step, status, newer), _render_advice(step, rollout, newer), bad=False
        )
    if step.state not in RolloutStep.BAD:
        return None
    return StepOutcome(
        _render_event(step),
        _render_running(step, status, newer),
        "" if is_open(rollout) else _render_advice(step, rollout, newer),
        step.error,
    )


def is_retried(rollout: Rollout) -> bool:
    """True if a gateway that missed this rollout is retried automatically as soon as it answers; agrees with `rollout_due.is_given_up`."""
    states = {step.state for step in rollout.steps.all()}
    if rollout.state == Rollout.State.ABORTED or states & {S.REFUSED, S.WENT_BACK}:
        return False
    return rollout.harmless or S.LOST not in states


def _render_event(step: RolloutStep) -> str:
    texts = {
        S.REFUSED: _("%(gateway)s refused it. Nothing changed there."),
        S.AWAY: _("%(gateway)s did not answer, so nothing was sent to it."),
        S.WENT_BACK: _("%(gateway)s had it and has gone back, because it was not confirmed."),
        S.IMPAIRED: _("%(gateway)s could not take it, because of a fault of its own. It runs what it ran before."),
        S.LOST: _("%(gateway)s stopped answering in the middle. Either it has confirmed, or it goes back by itself%(when)s."),
    }
    return texts[S(step.state)] % {"gateway": step.gateway.name, "when": _render_deadline(step.goes_back)}


def _render_deadline(at: datetime | None) -> str:
    return _(" at %(time)s at the latest") % {"time": formats.format_moment(at, timezone.now(), with_zone=True)} if at else ""


def _render_skipped(step: RolloutStep, rollout: Rollout) -> str:
    words = _("%(gateway)s was not reached: somebody stopped the rollout before its turn.")
    if rollout.state != Rollout.State.ABORTED:
        words = _("%(gateway)s was left alone: what went wrong on one gateway is not tried on the next.")
    return words % {"gateway": step.gateway.name}


def _render_running(step: RolloutStep, status: GatewayState | None, newer: Rollout | None) -> str:
    """Return what runs there now; "" after newer rollouts, because it would say nothing about this one."""
    if newer or step.state == S.LOST:
        return ""
    if status is None or status.revision is None:
        return _("It runs nothing of ours yet.")
    return _("It runs %(revision)s.") % {"revision": render_confirmed_state(status)}


def _render_impaired_advice(step: RolloutStep) -> str:
    if step.reason == "token":
        return _("Press “Try again” when you have read why. The other gateways are served meanwhile.")
    return _("Mend what it says. It is tried again by itself; the other gateways are served meanwhile.")


def _render_advice(step: RolloutStep, rollout: Rollout, newer: Rollout | None) -> str:
    if newer:
        return _("%(newer)s came after it, and brings what was missing.") % {"newer": newer}
    if step.state == S.IMPAIRED:
        return _render_impaired_advice(step)
    if is_retried(rollout):
        return _("Nothing to do: as soon as it answers, what it misses follows by itself.")
    if rollout.state == Rollout.State.ABORTED:
        return _("The same is not tried again by itself. It goes out with the next change, or when somebody presses “Try again”.")
    causes = {
        S.REFUSED: _("Mend what it says, then try again. The same is not tried again by itself."),
        S.WENT_BACK: _("Find out why it could not be reached, then try again. The same is not tried again by itself."),
        S.LOST: _("Look at the machine. This change touches rules, so the same is not tried again by itself."),
        S.AWAY: _("Something else went wrong too, so the same is not tried again by itself."),
    }
    return causes.get(S(step.state), _("Mend what went wrong above, then try again."))

"""Outcome texts for a gateway that was not brought to the revision: what happened, what it runs now, and what to do.

`rollout_due` decides what is retried automatically; this module explains it.
"""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.rollouts.progress import is_rollout_open
from apps.deployments.rollouts.trial_status import render_confirmed_state
from apps.lib.ui import formats
from apps.network.gateway_sentences import translate_about_gateway

S = RolloutStep.State


@dataclass(frozen=True)
class MissedStepExplanation:
    """Three sentences, and the error in the words of the gateway or the connection."""

    happened: str
    runs: str
    advice: str
    error: str = ""
    bad: bool = True


def explain_missed_step(
    step: RolloutStep, rollout: Rollout, status: GatewayState | None, newer: Rollout | None
) -> MissedStepExplanation | None:
    """Return the outcome; None for a gateway that runs the revision, or is on its way to it."""
    if step.state == S.SKIPPED:
        return MissedStepExplanation(
            _render_skipped(step, rollout), _render_running(step, status, newer), _render_advice(step, rollout, newer), bad=False
        )
    if step.state not in RolloutStep.BAD:
        return None
    return MissedStepExplanation(
        _render_event(step),
        _render_running(step, status, newer),
        "" if is_rollout_open(rollout) else _render_advice(step, rollout, newer),
        translate_about_gateway(step.error),
    )


def are_missed_gateways_retried(rollout: Rollout) -> bool:
    """True if a gateway that missed this rollout is retried automatically as soon as it answers.

    Agrees with `rollout_due.is_automatic_retry_forbidden`.
    """
    states = {step.state for step in rollout.steps.all()}
    if rollout.state == Rollout.State.ABORTED or states & {S.REFUSED, S.WENT_BACK}:
        return False
    return rollout.harmless or S.LOST not in states


def _render_event(step: RolloutStep) -> str:
    texts = {
        S.REFUSED: _("%(gateway)s refused it. Nothing changed there."),
        S.AWAY: _("%(gateway)s did not answer, so nothing was sent to it."),
        S.WENT_BACK: _("%(gateway)s applied it and has gone back, because it was not confirmed."),
        S.IMPAIRED: _("%(gateway)s could not apply it because of a fault of the gateway itself. It runs what it ran before."),
        S.LOST: _("%(gateway)s stopped answering during the change. Either it has confirmed, or it goes back by itself%(when)s."),
    }
    return texts[S(step.state)] % {"gateway": step.gateway.name, "when": _render_deadline(step.goes_back)}


def _render_deadline(at: datetime | None) -> str:
    return _(" at %(time)s at the latest") % {"time": formats.format_moment(at, timezone.now(), with_zone=True)} if at else ""


def _render_skipped(step: RolloutStep, rollout: Rollout) -> str:
    words = _("%(gateway)s was not reached: the rollout was stopped before its turn.")
    if rollout.state != Rollout.State.ABORTED:
        words = _("%(gateway)s was skipped: what fails on one gateway is not tried on the next.")
    return words % {"gateway": step.gateway.name}


def _render_running(step: RolloutStep, status: GatewayState | None, newer: Rollout | None) -> str:
    """Return what runs there now; "" after newer rollouts, because it would say nothing about this one."""
    if newer or step.state == S.LOST:
        return ""
    if status is None or status.revision is None:
        return _("It has no ruleset from the portal yet.")
    return _("It runs %(revision)s.") % {"revision": render_confirmed_state(status)}


def _render_impaired_advice(step: RolloutStep) -> str:
    if step.reason == "token":
        return _("Read the reason, then press “Try again”. The other gateways are updated meanwhile.")
    return _("Fix the reported problem. It is retried automatically; the other gateways are updated meanwhile.")


def _render_advice(step: RolloutStep, rollout: Rollout, newer: Rollout | None) -> str:
    if newer:
        return _("%(newer)s followed and brings what was missing.") % {"newer": newer}
    if step.state == S.IMPAIRED:
        return _render_impaired_advice(step)
    if are_missed_gateways_retried(rollout):
        return _("Nothing to do: it gets the missing changes by itself as soon as it answers.")
    if rollout.state == Rollout.State.ABORTED:
        return _("It is not retried automatically. It goes out with the next change, or when you press “Try again”.")
    causes = {
        S.REFUSED: _("Fix the reported problem, then try again. It is not retried automatically."),
        S.WENT_BACK: _("Find out why it could not be reached, then try again. It is not retried automatically."),
        S.LOST: _("Check the machine. This change affects rules, so it is not retried automatically."),
        S.AWAY: _("Something else failed too, so it is not retried automatically."),
    }
    return causes.get(S(step.state), _("Fix the problem above, then try again."))

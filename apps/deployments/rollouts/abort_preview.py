"""Preview of an abort: what stopping the rollout now would do on each gateway."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.rollouts.trial_status import render_confirmed_state


@dataclass(frozen=True)
class AbortEffect:
    """Effect on one gateway. changes: false if the gateway stays as it is."""

    words: str
    changes: bool


def preview_abort(rollout: Rollout, statuses: Mapping[str, GatewayState]) -> list[AbortEffect]:
    """Return one effect per gateway, in rollout order; gateways that change come first."""
    found = [_build_effect(step, rollout, statuses.get(step.gateway.name)) for step in rollout.steps.all()]
    return sorted(found, key=lambda effect: not effect.changes)


def _build_effect(step: RolloutStep, rollout: Rollout, status: GatewayState | None) -> AbortEffect:
    given = {"gateway": step.gateway.name, "before": render_confirmed_state(status), "revision": rollout}
    if step.state in (RolloutStep.State.PROBING, RolloutStep.State.CONFIRMING, RolloutStep.State.REVERTING):
        return AbortEffect(_("%(gateway)s goes back to %(before)s now.") % given, changes=True)
    if step.state in (RolloutStep.State.SENDING, RolloutStep.State.ASKING):
        return AbortEffect(
            _("%(gateway)s goes back to %(before)s as soon as it answers, unless it has confirmed by then.") % given, changes=True
        )
    if step.state == RolloutStep.State.CONFIRMED:
        return AbortEffect(_("%(gateway)s keeps %(revision)s: it has confirmed it.") % given, changes=False)
    return AbortEffect(_("%(gateway)s is not touched; it runs %(before)s.") % given, changes=False)

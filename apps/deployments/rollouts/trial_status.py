"""Countdown of a gateway on trial: it has committed, and reverts by itself unless the portal confirms in time."""

import math
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.rollouts.evidence import list_reach_attempts
from apps.deployments.rollouts.packets_before import list_trial_evidence
from apps.lib.ui import formats

ON_TRIAL = (RolloutStep.State.PROBING, RolloutStep.State.CONFIRMING, RolloutStep.State.REVERTING, RolloutStep.State.ASKING)


@dataclass(frozen=True)
class TrialCountdown:
    """Countdown: `left` of `of` seconds, what happens then, and what a screen reader announces at the start, at ten seconds and
    at the end.
    """

    gateway: str
    left: int
    of: int
    words: str
    start: str
    ten: str
    end: str


def is_on_trial(step: RolloutStep, rollout: Rollout) -> bool:
    """True if the gateway waits for its confirmation."""
    return rollout.state == Rollout.State.APPLYING and step.state in ON_TRIAL and step.goes_back is not None


def find_trial_status(step: RolloutStep, rollout: Rollout, now: datetime, status: GatewayState | None) -> TrialCountdown | None:
    """Return the countdown; None when the gateway is not on trial. `status`: its last confirmed state, which it would revert to."""
    if not is_on_trial(step, rollout) or step.goes_back is None:
        return None
    left = max(0, math.ceil((step.goes_back - now).total_seconds()))
    of = max(left, math.ceil((step.goes_back - step.committed).total_seconds()) if step.committed else rollout.group.confirm_within)
    given = {"gateway": step.gateway.name, "before": render_confirmed_state(status), "n": left}
    what = (
        _("until %(gateway)s goes back to %(before)s by itself.") if left else _("%(gateway)s goes back to %(before)s by itself about now.")
    )
    start = ngettext(
        "%(gateway)s is on trial. In %(n)d second it goes back to %(before)s, unless it is confirmed.",
        "%(gateway)s is on trial. In %(n)d seconds it goes back to %(before)s, unless it is confirmed.",
        left,
    )
    return TrialCountdown(
        step.gateway.name,
        left,
        of,
        " ".join(filter(None, [what % given, _render_attempts(step)])),
        start % given,
        _("%(gateway)s goes back in 10 seconds, unless it is confirmed.") % given,
        _("The time for %(gateway)s is up. Without a confirmation it goes back to %(before)s.") % given,
    )


def render_confirmed_state(status: GatewayState | None) -> str:
    """Return the revision that a gateway has confirmed, for use within a sentence."""
    return str(status.revision) if status and status.revision else _("what it ran before")


def _render_attempts(step: RolloutStep) -> str:
    """Describe the failed attempts to reach the gateway over a new connection."""
    failed = [each for each in list_reach_attempts(step) if not each["passed"]]
    if not failed:
        return "" if list_trial_evidence(step) else _("A new connection to it is being opened.")
    words = [
        _("%(place)d: %(text)s after %(time)s")
        % {"place": place, "text": each["text"], "time": formats.format_duration((each["ms"] or 0) / 1000)}
        for place, each in enumerate(failed, 1)
    ]
    return _("Failed attempts: %(attempts)s.") % {"attempts": "; ".join(words)}

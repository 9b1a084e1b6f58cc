"""Lanes of a rollout's page, one per gateway: its four steps with their evidence, its trial, and its outcome, in words.

Rows come with their steps and gateways prefetched; the time is passed in. Reads nothing itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.rollouts import evidence
from apps.deployments.rollouts.failure_outcome import MissedStepExplanation, explain_missed_step
from apps.deployments.rollouts.packets_before import list_trial_evidence
from apps.deployments.rollouts.progress import is_rollout_open, render_primary_families
from apps.deployments.rollouts.trial_status import TrialCountdown, find_trial_status
from apps.lib.ui import formats
from apps.lib.ui.states import GatewayLane, RolloutLaneStep, StateKind, StateLabel

PROBE = 2  # index of the probe among the four steps


@dataclass(frozen=True)
class GatewayProgress:
    """A gateway's lane, its trial while it is on trial, and its outcome if it was not brought to the revision."""

    lane: GatewayLane
    trial: TrialCountdown | None = None
    outcome: MissedStepExplanation | None = None


def list_gateway_progress(
    rollout: Rollout, now: datetime, statuses: Mapping[str, GatewayState], newer: Rollout | None
) -> list[GatewayProgress]:
    """Return one entry per gateway, in rollout order. `statuses`: what each gateway runs now, by name."""
    steps = list(rollout.steps.all())
    return [
        GatewayProgress(
            GatewayLane(step.gateway.name, _render_place(step, len(steps)), _build_state(step, rollout), tuple(_iter_steps(step))),
            find_trial_status(step, rollout, now, statuses.get(step.gateway.name)),
            explain_missed_step(step, rollout, statuses.get(step.gateway.name), newer),
        )
        for step in steps
    ]


def _render_place(step: RolloutStep, of: int) -> str:
    places = (_("first"), _("second"), _("third"))
    place = places[step.position] if step.position < len(places) else str(step.position + 1)
    return ", ".join(filter(None, [place if of > 1 else "", render_primary_families(step.gateway.carries4, step.gateway.carries6)]))


def _build_state(step: RolloutStep, rollout: Rollout) -> StateLabel:
    over = {
        RolloutStep.State.REFUSED: StateLabel(StateKind.BAD, _("Refused")),
        RolloutStep.State.AWAY: StateLabel(StateKind.BAD, _("Does not answer")),
        RolloutStep.State.LOST: StateLabel(StateKind.BAD, _("Contact lost")),
        RolloutStep.State.WENT_BACK: StateLabel(StateKind.BAD, _("Gone back"), "back"),
        RolloutStep.State.IMPAIRED: StateLabel(StateKind.BAD, _("Fault on the gateway")),
    }
    if step.state == RolloutStep.State.CONFIRMED:
        return StateLabel(StateKind.WARN if evidence.describe_lost_packets(step) else StateKind.OK, _render_confirm_time(step))
    if step.state in over:
        return over[RolloutStep.State(step.state)]
    if not is_rollout_open(rollout):
        return StateLabel(StateKind.PLAIN, _("Not reached"))
    moving = {
        RolloutStep.State.PROBING: _("On trial"),
        RolloutStep.State.CONFIRMING: _("Waits for confirmation"),
        RolloutStep.State.REVERTING: _("Going back"),
        RolloutStep.State.ASKING: _("Being asked"),
        RolloutStep.State.SENDING: _("Under way"),
    }
    word = moving.get(RolloutStep.State(step.state))
    return StateLabel(StateKind.MOVING, word) if word else StateLabel(StateKind.PLAIN, _("Waits for its turn"), "clock")


def _render_confirm_time(step: RolloutStep) -> str:
    if not (step.sent and step.confirmed):
        return _("Confirmed")
    if not step.sent_octets:
        return _("Ran it already")
    return _("Confirmed in %(duration)s") % {"duration": formats.format_duration((step.confirmed - step.sent).total_seconds())}


# --- The four steps


def _iter_steps(step: RolloutStep) -> Iterable[RolloutLaneStep]:
    """Yield sent, committed, probe and confirmed: finished ones with their evidence, then the current or failed one, then those to come."""
    said = (_render_sent(step), _render_committed(step), _render_probe(step), _render_confirmed(step))
    titles = (_("Sent"), _("Committed"), _("Probe"), _("Confirmed"))
    done = _count_done(step)
    for place, (title, text) in enumerate(zip(titles, said, strict=True)):
        kind = _get_done_kind(step, place) if place < done else _get_next_kind(step) if place == done else StateKind.PLAIN
        words = _join_parts(text, render_gateway_activity(step)) if place == done else text
        yield RolloutLaneStep(kind, title, words if place <= done else "")


def _get_done_kind(step: RolloutStep, place: int) -> StateKind:
    """Return the kind of a finished step. A probe that lost packets is a warning even if the gateway has confirmed."""
    return StateKind.WARN if place == PROBE and evidence.describe_lost_packets(step) else StateKind.OK


def _count_done(step: RolloutStep) -> int:
    """Return how many of the four steps are done."""
    if step.confirmed:
        return 4
    if not step.committed:
        return 0
    went_back = step.state in (RolloutStep.State.REVERTING, RolloutStep.State.WENT_BACK)
    return 3 if evidence.did_last_reach_succeed(step) and not (went_back and evidence.describe_lost_packets(step)) else 2


def _get_next_kind(step: RolloutStep) -> StateKind:
    if step.state in RolloutStep.BAD or step.state == RolloutStep.State.REVERTING:
        return StateKind.BAD
    return StateKind.MOVING if step.state in RolloutStep.MOVING else StateKind.PLAIN


def render_gateway_activity(step: RolloutStep) -> str:
    """Return the gateway's last reported activity, such as “loads, 120,000 of 700,000 elements (heard at 21:13:40.12)”; "" if
    none is under way.
    """
    if not step.doing or step.state not in RolloutStep.MOVING:
        return ""
    known = {
        "comparing": _("compares"),
        "checking": _("checks"),
        "loading": _("loads"),
        "reading": _("reads back"),
        "writing": _("writes it to its disk"),
    }
    counted = {"done": formats.format_number(step.done), "of": formats.format_number(step.of), "at": render_clock(step.heard)}
    elements = _("%(done)s of %(of)s elements") % counted if step.of else ""
    return _join_parts(known.get(step.doing, _("works")), elements) + " " + _("(reported at %(at)s)") % counted


def _render_sent(step: RolloutStep) -> str:
    octets = formats.format_volume(step.sent_octets) if step.sent_octets else ""
    nothing = _("nothing to send") if step.confirmed and not step.sent_octets else ""
    return _join_parts(render_clock(step.sent), octets, nothing)


def _render_committed(step: RolloutStep) -> str:
    if not step.committed or not step.sent_octets:
        return ""
    return _join_parts(
        _render_milliseconds(step.commit_ms), _("read back and identical in %(time)s") % {"time": _render_milliseconds(step.read_back_ms)}
    )


def _render_confirmed(step: RolloutStep) -> str:
    cut = ngettext("%(n)s flow cut", "%(n)s flows cut", step.flows_cut) % {"n": formats.format_number(step.flows_cut)}
    return _join_parts(render_clock(step.confirmed), cut if step.flows_cut else "")


def _render_probe(step: RolloutStep) -> str:
    """Describe how the gateway was reached, or how many attempts failed and why the last one did; then the result for packets."""
    if not list_trial_evidence(step):
        return _("not needed") if step.confirmed and not step.sent_octets else ""
    return evidence.render_evidence(step)


def _join_parts(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _render_milliseconds(value: int) -> str:
    """Format a duration in whole milliseconds, as agents count them; 0 is shown as “under 1 ms”."""
    unit = f"{formats.SPACE}ms"
    return f"{formats.format_number(value)}{unit}" if value else _("under %(time)s") % {"time": f"1{unit}"}


def render_clock(at: datetime | None) -> str:
    """Format the local time such as 21:13:40.12."""
    if at is None:
        return ""
    local = at.astimezone(get_current_timezone())
    return f"{local:%H:%M:%S}{',' if formats.is_german() else '.'}{local.microsecond // 10_000:02d}"

"""The lane of each gateway in a rollout: its four steps with their evidence, what is on trial, and what became of it, in words.

In come rows with their steps and gateways read; the time is passed in. Reads nothing itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.rollouts import evidence
from apps.deployments.rollouts.failure_outcome import Outcome, outcome
from apps.deployments.rollouts.progress import carries, is_open
from apps.deployments.rollouts.trial_status import Trial, trial
from apps.lib.ui import formats
from apps.lib.ui.states import Kind, Lane, State, Step

PROBE = 2  # which of the four steps it is


@dataclass(frozen=True)
class ShownLane:
    """A gateway's lane; while it is on trial, for how long; and what became of it, when that is not what was wanted."""

    lane: Lane
    trial: Trial | None = None
    outcome: Outcome | None = None


def lanes(rollout: Rollout, now: datetime, statuses: Mapping[str, GatewayState], newer: Rollout | None) -> list[ShownLane]:
    """One per gateway, in the order of the rollout. `statuses`: what each runs now, by its name."""
    steps = list(rollout.steps.all())
    return [
        ShownLane(
            Lane(step.gateway.name, _place(step, len(steps)), _state(step, rollout), tuple(_steps(step))),
            trial(step, rollout, now, statuses.get(step.gateway.name)),
            outcome(step, rollout, statuses.get(step.gateway.name), newer),
        )
        for step in steps
    ]


def _place(step: RolloutStep, of: int) -> str:
    places = (_("first"), _("second"), _("third"))
    place = places[step.position] if step.position < len(places) else str(step.position + 1)
    return ", ".join(filter(None, [place if of > 1 else "", carries(step.gateway.carries4, step.gateway.carries6)]))


def _state(step: RolloutStep, rollout: Rollout) -> State:
    over = {
        RolloutStep.State.REFUSED: State(Kind.BAD, _("Refused")),
        RolloutStep.State.AWAY: State(Kind.BAD, _("Does not answer")),
        RolloutStep.State.LOST: State(Kind.BAD, _("Lost in the middle")),
        RolloutStep.State.WENT_BACK: State(Kind.BAD, _("Gone back"), "back"),
        RolloutStep.State.IMPAIRED: State(Kind.BAD, _("Has a fault of its own")),
    }
    if step.state == RolloutStep.State.CONFIRMED:
        return State(Kind.WARN if evidence.lost_packets(step) else Kind.OK, _confirmed_in(step))
    if step.state in over:
        return over[RolloutStep.State(step.state)]
    if not is_open(rollout):
        return State(Kind.PLAIN, _("Not reached"))
    moving = {
        RolloutStep.State.PROBING: _("On trial"),
        RolloutStep.State.CONFIRMING: _("Waits for confirmation"),
        RolloutStep.State.REVERTING: _("Going back"),
        RolloutStep.State.ASKING: _("Being asked"),
        RolloutStep.State.SENDING: _("Under way"),
    }
    word = moving.get(RolloutStep.State(step.state))
    return State(Kind.MOVING, word) if word else State(Kind.PLAIN, _("Waits for its turn"), "clock")


def _confirmed_in(step: RolloutStep) -> str:
    if not (step.sent and step.confirmed):
        return _("Confirmed")
    if not step.sent_octets:
        return _("Ran it already")
    return _("Confirmed in %(duration)s") % {"duration": formats.duration((step.confirmed - step.sent).total_seconds())}


# --- Four steps


def _steps(step: RolloutStep) -> Iterable[Step]:
    """Sent, committed, probe, confirmed: what is done with its evidence, then the one under way or failed, then what is to come."""
    said = (_sent(step), _committed(step), _probe(step), _confirmed(step))
    titles = (_("Sent"), _("Committed"), _("Probe"), _("Confirmed"))
    done = _done(step)
    for place, (title, text) in enumerate(zip(titles, said, strict=True)):
        kind = _kind(step, place) if place < done else _next(step) if place == done else Kind.PLAIN
        words = _join(text, doing(step)) if place == done else text
        yield Step(kind, title, words if place <= done else "")


def _kind(step: RolloutStep, place: int) -> Kind:
    """Of a part that is done. What is confirmed though no packet passed is not well."""
    return Kind.WARN if place == PROBE and evidence.lost_packets(step) else Kind.OK


def _done(step: RolloutStep) -> int:
    """How many of the four are done."""
    if step.confirmed:
        return 4
    if not step.committed:
        return 0
    went_back = step.state in (RolloutStep.State.REVERTING, RolloutStep.State.WENT_BACK)
    return 3 if evidence.was_reached(step) and not (went_back and evidence.lost_packets(step)) else 2


def _next(step: RolloutStep) -> Kind:
    if step.state in RolloutStep.BAD or step.state == RolloutStep.State.REVERTING:
        return Kind.BAD
    return Kind.MOVING if step.state in RolloutStep.MOVING else Kind.PLAIN


def doing(step: RolloutStep) -> str:
    """What the gateway said last that it does, such as “loads, 120,000 of 700,000 elements (heard at 21:13:40.12)”; "" when it need not."""
    if not step.doing or step.state not in RolloutStep.MOVING:
        return ""
    known = {
        "comparing": _("compares"),
        "checking": _("checks"),
        "loading": _("loads"),
        "reading": _("reads back"),
        "writing": _("writes it to its disk"),
    }
    counted = {"done": formats.number(step.done), "of": formats.number(step.of), "at": clock(step.heard)}
    elements = _("%(done)s of %(of)s elements") % counted if step.of else ""
    return _join(known.get(step.doing, _("works")), elements) + " " + _("(heard at %(at)s)") % counted


def _sent(step: RolloutStep) -> str:
    octets = formats.volume(step.sent_octets) if step.sent_octets else ""
    nothing = _("nothing to send") if step.confirmed and not step.sent_octets else ""
    return _join(clock(step.sent), octets, nothing)


def _committed(step: RolloutStep) -> str:
    if not step.committed or not step.sent_octets:
        return ""
    return _join(_milliseconds(step.commit_ms), _("read back equal in %(time)s") % {"time": _milliseconds(step.read_back_ms)})


def _confirmed(step: RolloutStep) -> str:
    cut = ngettext("%(n)s flow cut", "%(n)s flows cut", step.flows_cut) % {"n": formats.number(step.flows_cut)}
    return _join(clock(step.confirmed), cut if step.flows_cut else "")


def _probe(step: RolloutStep) -> str:
    """How the gateway was reached, or how many attempts failed and why the last one did; then what became of the packets."""
    if not step.evidence:
        return _("not needed") if step.confirmed and not step.sent_octets else ""
    return evidence.in_words(step)


def _join(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _milliseconds(value: int) -> str:
    """Agents count whole milliseconds."""
    unit = f"{formats.SPACE}ms"
    return f"{formats.number(value)}{unit}" if value else _("under %(time)s") % {"time": f"1{unit}"}


def clock(at: datetime | None) -> str:
    """21:13:40.12"""
    if at is None:
        return ""
    local = at.astimezone(get_current_timezone())
    return f"{local:%H:%M:%S}{',' if formats.german() else '.'}{local.microsecond // 10_000:02d}"

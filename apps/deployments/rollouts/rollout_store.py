"""Stores rollouts: opens and claims them and records each step, by conditional updates. Knows nothing of the wire.

The rows hold a state of `firewall.rollout`. The worker that drives a rollout has a lease on it and a fencing token that is higher
than any before. Every write checks both, so that a worker that has lost its lease to another can no longer write.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

import structlog
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from apps.deployments.desired_state.desired_rulesets import DesiredState
from apps.deployments.models import GatewayState, Hold, Revision, Rollout, RolloutStep
from apps.deployments.rollouts.going_back import ReturnKind, announce_return
from apps.deployments.rollouts.outdated_reads import OutdatedRevision, refuse_outdated_read
from apps.deployments.rollouts.rollout_obstacles import must_wait
from apps.network.models import Gateway, GatewayGroup
from firewall import rollout as machine
from firewall.rollout import GatewayStep, RolloutCommand, RolloutEvent, RolloutPhase, advance_rollout
from firewall.wire import LEAP_ADOPTED

log = structlog.get_logger()

LEASE = timedelta(seconds=10)  # how long a dead worker blocks others
OPENING_ATTEMPTS = 3
LONGEST_DOING = 20  # characters
MOST_ELEMENTS = 2**31 - 1


class RolloutLeaseLost(Exception):  # noqa: N818 - a state of the world
    """Another worker has taken over, or a person has ended the rollout: this worker must do nothing more."""


@dataclass(frozen=True, slots=True)
class NewRollout:
    """Parameters of a new rollout. harmless: only elements change. repairs: a gateway has lost what it confirmed; otherwise the rollout is
    needed only while a gateway has not confirmed the desired state.
    """

    group: GatewayGroup
    wanted: DesiredState
    gateways: tuple[Gateway, ...]
    by: int | None
    cause: str
    harmless: bool
    management: dict[str, Any]
    repeats: Revision | None = None
    repairs: bool = True


class RolloutNotNeeded(Exception):  # noqa: N818 - a state of the world
    """All gateways have confirmed the desired state meanwhile, with another worker's rollout."""


class RolloutMustWait(Exception):  # noqa: N818 - a state of the world
    """Something else is done to the group's gateways at this moment; it asks for a reconciliation when it has ended."""


# Revisions of a group get their numbers in the order in which they are opened: nobody draws one before the last has been committed.
ORDER: Final = "SELECT pg_advisory_xact_lock(hashtext('deployments_revision'), %s)"


def open_rollout(opening: NewRollout) -> "Lease | None":
    """Create a revision and its rollout, and claim it. Return None while another rollout of the group is open; that one is marked
    to look again. Raises RolloutNotNeeded.

    Also return None if this worker's read of the database is older than the last revision's, or the group has been held or released
    since: it would undo newer changes; and while something else is done to the gateways, which asks for a reconciliation when it has
    ended. Raises TransactionsOfAnotherServerError.
    """
    for _attempt in range(OPENING_ATTEMPTS):
        if Rollout.objects.filter(group=opening.group, state__in=Rollout.OPEN).update(again=True):
            return None
        try:
            return _create_rollout(opening)
        except (OutdatedRevision, RolloutMustWait):
            return None
        except IntegrityError as error:  # another worker opened one at the same moment
            if "rollout_one_open_per_group" not in str(error):
                raise
    return None


@transaction.atomic
def _create_rollout(opening: NewRollout) -> "Lease":
    wanted = opening.wanted
    with connection.cursor() as cursor:
        cursor.execute(ORDER, [opening.group.pk])
    revision = Revision.objects.create(
        group=opening.group,
        snapshot=wanted.snapshot.seen,
        by=get_user_model().objects.filter(pk=opening.by).first() if opening.by else None,
        cause=opening.cause,
        digests={gateway.name: wanted.targets[gateway.pk] for gateway in opening.gateways},
        gateways={gateway.name: gateway.pk for gateway in opening.gateways},
        again=opening.repeats,
        management=opening.management,
    )
    rollout = Rollout.objects.create(
        group=opening.group,
        revision=revision,
        goes_on=opening.group.goes_on,
        harmless=opening.harmless,
        state=Rollout.State.APPLYING,
        token=_draw_token(),
        lease_until=Now() + LEASE,
        attempts=1,
    )
    _refuse_outdated(opening, revision)  # when no other rollout can be open any more
    if must_wait(opening.group):
        raise RolloutMustWait(str(opening.group))
    if not opening.repairs and _is_confirmed_everywhere(opening):
        raise RolloutNotNeeded(str(opening.group))
    queued = [RolloutStep(rollout=rollout, gateway=gateway, position=at) for at, gateway in enumerate(opening.gateways)]
    state, command = advance_rollout(replace(build_machine_state(rollout, queued), phase=RolloutPhase.QUEUED), RolloutEvent.CLAIMED)
    now = timezone.now()
    for step, of in zip(queued, state.steps, strict=True):
        step.state, step.sent = of.value, now if of is GatewayStep.SENDING else None
    return Lease(rollout, RolloutStep.objects.bulk_create(queued), state, command)


def _is_confirmed_everywhere(opening: NewRollout) -> bool:
    confirmed = dict(GatewayState.objects.filter(gateway__in=opening.gateways).values_list("gateway", "digest"))
    return all(confirmed.get(gateway.pk) == opening.wanted.targets[gateway.pk] for gateway in opening.gateways)


def _refuse_outdated(opening: NewRollout, revision: Revision) -> None:
    """Raise OutdatedRevision if something newer has been rolled out, or a person has decided something else about the group meanwhile."""
    held = Hold.objects.filter(group=opening.group, released=None).values_list("revision", flat=True).first()
    if held != (opening.repeats.pk if opening.repeats else None):
        raise OutdatedRevision(f"{opening.group} is {f'held at revision {held}' if held else 'not on hold'} now")
    if opening.repeats is None:
        last = Revision.objects.filter(group=opening.group, pk__lt=revision.pk).order_by("-pk").values_list("snapshot", flat=True).first()
        if last:
            refuse_outdated_read(revision.snapshot, last)


def _draw_token() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('deployments_token')")
        (token,) = cursor.fetchone()
    return int(token)


def request_another_look(group: GatewayGroup) -> bool:
    """True if a live worker drives a rollout of the group, or one is paused; that rollout is marked to look again when it is done."""
    alive = Q(state=Rollout.State.APPLYING, lease_until__gte=Now()) | Q(state=Rollout.State.PAUSED)
    return Rollout.objects.filter(alive, group=group).update(again=True) > 0


def raise_token_sequence(token: int) -> bool:
    """Raise the token sequence, so that the next token is higher than this one.

    Return False, and change nothing, if the token is further ahead than rollouts can have led: then the gateway that claims it is
    wrong or lies, and its claim must not affect the other gateways.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM deployments_token")
        (last,) = cursor.fetchone()
        if token <= last:
            return True
        if token > last + LEAP_ADOPTED:
            return False
        cursor.execute("SELECT setval('deployments_token', greatest(%s, (SELECT last_value FROM deployments_token)))", [token])
    return True


# --- Claims


CLAIM = """
    UPDATE deployments_rollout SET state = 'applying', token = nextval('deployments_token'),
        lease_until = now() + make_interval(secs => %(lease)s)
    WHERE id = (
        SELECT id FROM deployments_rollout
        WHERE group_id = %(group)s AND (state = 'queued' OR state = 'applying' AND lease_until < now())
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING id, (SELECT was.state FROM deployments_rollout was WHERE was.id = deployments_rollout.id)
"""


@dataclass(slots=True)
class Lease:
    """A worker's lease on a rollout: the rollout's row with its steps, and the state of the machine."""

    rollout: Rollout
    steps: list[RolloutStep]
    state: machine.RolloutState
    command: RolloutCommand  # what to do now

    @property
    def step(self) -> RolloutStep:
        """Step of the current gateway."""
        return self.steps[self.state.turn or 0]


def claim_rollout(group: GatewayGroup) -> Lease | None:
    """Claim the group's rollout that is queued or has lost its worker. Return None when there is none, or another worker has it."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"group": group.pk, "lease": LEASE.total_seconds()})
        found = cursor.fetchone()
    if found is None:
        return None
    rollout = Rollout.objects.select_related("revision", "group").get(pk=found[0])
    steps = list(rollout.steps.select_related("gateway"))
    taken_over = found[1] == Rollout.State.APPLYING
    state = build_machine_state(rollout, steps)
    if not taken_over:
        state = replace(state, phase=RolloutPhase.QUEUED)
    lease = Lease(rollout, steps, state, RolloutCommand.NOTHING)
    record_event(lease, RolloutEvent.TAKEN_OVER if taken_over else RolloutEvent.CLAIMED)
    return lease


def list_abandoned_groups() -> list[GatewayGroup]:
    """Return groups with a rollout of which the lease has expired."""
    left = Rollout.objects.filter(state=Rollout.State.APPLYING, lease_until__lt=Now())
    return list(GatewayGroup.objects.filter(rollouts__in=left))


def build_machine_state(rollout: Rollout, steps: Iterable[RolloutStep]) -> machine.RolloutState:
    """Convert the rows to a state of the machine."""
    return machine.RolloutState(
        steps=tuple(GatewayStep(step.state) for step in steps),
        phase=RolloutPhase(rollout.state),
        goes_on=rollout.goes_on,
        harmless=rollout.harmless,
        wish=RolloutEvent(rollout.wish) if rollout.wish else None,
        attempts=rollout.attempts,
    )


# --- Recording


WRITE = """
    UPDATE deployments_rollout SET state = %(state)s, attempts = %(attempts)s,
        lease_until = clock_timestamp() + make_interval(secs => %(lease)s),
        wish = CASE WHEN %(over)s OR %(state)s = 'paused' THEN '' ELSE wish END,
        finished = CASE WHEN %(over)s THEN clock_timestamp() END, error = %(error)s
    WHERE id = %(id)s AND token = %(token)s AND state = 'applying'
    RETURNING wish, again
"""


def record_event(lease: Lease, event: RolloutEvent, **evidence: Any) -> None:
    """Advance the machine by the event, record it with the evidence of its step, and set the lease's next command. Raises
    RolloutLeaseLost.

    A wish that a person has recorded meanwhile is applied first.
    """
    with transaction.atomic(savepoint=False):
        wish = _lock(lease.rollout)
        state = replace(lease.state, wish=RolloutEvent(wish) if wish else None)
        at = state.turn
        after, command = advance_rollout(state, event)
        returning = [step.gateway for step, now in zip(lease.steps, after.steps, strict=True) if _begins_to_revert(step, now)]
        _write_steps(lease, after, at, evidence)
        _write_rollout(lease, after)
        if returning:
            announce_return(ReturnKind.REVERT, returning)
    lease.state, lease.command = after, command


def _begins_to_revert(step: RolloutStep, now: GatewayStep) -> bool:
    return now is GatewayStep.REVERTING and step.state != now.value


def record_probe_passed(lease: Lease) -> None:
    """Advance the machine by a passed probe. It is stored with the event that follows at once."""
    lease.state, lease.command = advance_rollout(lease.state, RolloutEvent.PASSED)


def find_requested_event(lease: Lease) -> RolloutEvent | None:
    """Return the wish that a person has recorded meanwhile. Raises RolloutLeaseLost."""
    wish = _lock(lease.rollout)
    return RolloutEvent(wish) if wish else None


@transaction.atomic(savepoint=False)
def _lock(rollout: Rollout) -> str:
    mine = Rollout.objects.select_for_update().filter(pk=rollout.pk, token=rollout.token, state=Rollout.State.APPLYING)
    wish = mine.values_list("wish", flat=True).first()
    if wish is None:
        raise RolloutLeaseLost(f"{rollout}: another worker has taken over")
    return wish


def _write_rollout(lease: Lease, after: machine.RolloutState) -> None:
    over = after.phase in machine.OVER
    bad = [f"{step.gateway.name}: {step.error}" for step in lease.steps if step.error]
    given = {
        "id": lease.rollout.pk,
        "token": lease.rollout.token,
        "state": after.phase.value,
        "attempts": after.attempts,
        "over": over,
        "lease": LEASE.total_seconds(),
        "error": "\n".join(bad) if over else "",
    }
    with connection.cursor() as cursor:
        cursor.execute(WRITE, given)
        _wish, lease.rollout.again = cursor.fetchone()
    lease.rollout.state = after.phase.value


def _write_steps(lease: Lease, after: machine.RolloutState, at: int | None, evidence: Mapping[str, Any]) -> None:
    for position, (step, now) in enumerate(zip(lease.steps, after.steps, strict=True)):
        changes: dict[str, Any] = dict(evidence) if position == at else {}
        if step.state != now.value:
            changes |= {"state": now.value, "doing": ""}
            if now is GatewayStep.SENDING:
                changes["sent"] = Now()
        if changes:
            RolloutStep.objects.filter(pk=step.pk).update(**changes)
            for name, value in changes.items():
                setattr(step, name, value)


def add_evidence(lease: Lease, what: str, *, passed: bool, ms: float | None, text: str) -> None:
    """Add a piece of evidence for the current gateway. It is stored with the next event; a failure is stored at once,
    for the page.
    """
    lease.step.evidence.append(build_evidence(what, passed=passed, ms=ms, text=text))
    if not passed:
        store_evidence(lease)


def build_evidence(what: str, *, passed: bool, ms: float | None, text: str) -> dict[str, Any]:
    """Return a piece of evidence as a step holds it."""
    return {"what": what, "passed": passed, "ms": None if ms is None else round(ms, 1), "text": text}


def store_evidence(lease: Lease) -> None:
    """Store the evidence of the current gateway at once, unless another worker has taken over."""
    mine = Rollout.objects.filter(pk=lease.rollout.pk, token=lease.rollout.token, state=Rollout.State.APPLYING)
    RolloutStep.objects.filter(pk=lease.step.pk, rollout__in=mine).update(evidence=lease.step.evidence)


def record_agent_progress(lease: Lease, doing: str, done: int, of: int) -> RolloutEvent | None:
    """Store the reported progress of the current gateway, for the page. Return the wish that a person has recorded meanwhile.

    done, of: elements. A gateway may send any number; impossible ones are clamped.
    """
    mine = Rollout.objects.filter(pk=lease.rollout.pk, token=lease.rollout.token, state=Rollout.State.APPLYING)
    counted = {"done": min(max(done, 0), MOST_ELEMENTS), "of": min(max(of, 0), MOST_ELEMENTS)}
    RolloutStep.objects.filter(pk=lease.step.pk, rollout__in=mine).update(doing=doing[:LONGEST_DOING], heard=Now(), **counted)
    wish = mine.values_list("wish", flat=True).first()
    return RolloutEvent(wish) if wish else None


def supersede_rollout(lease: Lease, text: str) -> None:
    """Fail a rollout of a revision that is no longer the desired state. A new rollout brings the gateways to it, whatever they run."""
    steps = RolloutStep.objects.filter(rollout=lease.rollout)
    with transaction.atomic():
        _lock(lease.rollout)
        steps.filter(state__in=RolloutStep.MOVING).update(state=RolloutStep.State.LOST, error=text)
        steps.filter(state=RolloutStep.State.WAITING).update(state=RolloutStep.State.SKIPPED)
        mine = Rollout.objects.filter(pk=lease.rollout.pk)
        mine.update(state=Rollout.State.FAILED, finished=Now(), lease_until=None, error=text, wish="")


# --- A person's wishes


def find_paused_rollout(group: GatewayGroup) -> Rollout | None:
    """Return the group's rollout that is paused, or will be before its next gateway. It waits for a person."""
    wished = Q(state=Rollout.State.APPLYING, wish=RolloutEvent.PAUSE.value)
    return Rollout.objects.filter(Q(state=Rollout.State.PAUSED) | wished, group=group).select_related("revision").first()


def record_requested_event(rollout: Rollout, event: RolloutEvent, *, by: Any) -> bool:
    """Record a pause, resume or abort. Return True if no worker has the rollout, so that one has to be asked.

    Raises InvalidTransitionError.
    """
    with transaction.atomic():
        row = Rollout.objects.select_for_update().get(pk=rollout.pk)
        steps = list(row.steps.all())
        after, _command = advance_rollout(build_machine_state(row, steps), event)
        row.wish = after.wish.value if after.wish else ""
        row.stopped_by = None if event is RolloutEvent.RESUME else by
        row.state = after.phase.value
        if after.phase in machine.OVER:
            row.finished, row.lease_until = Now(), None
        row.save(update_fields=["wish", "stopped_by", "state", "finished", "lease_until"])
        for step, now in zip(steps, after.steps, strict=True):
            if step.state != now.value:
                RolloutStep.objects.filter(pk=step.pk).update(state=now.value)
    return after.phase is not RolloutPhase.APPLYING

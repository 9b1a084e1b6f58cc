"""What people decide about rollouts: approve what is held back, go back to an older revision, hold and release, pause, abort.

Each is one conditional update, so that two people cannot decide the same thing differently; the work is a worker's.
"""

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.accounts.roles import Right, with_right
from apps.deployments import contents, rollouts
from apps.deployments.models import HeldBack, Hold, Revision, Rollout
from apps.deployments.revisions import not_kept
from apps.lib.errors import Conflict, Problem
from apps.lib.nudge import nudge
from apps.network.models import GatewayGroup
from firewall.rollout import Event, NotPossibleError


def approvers_but(person: User | None) -> list[User]:
    """Who may approve what this person asked for."""
    approvers = User.objects.filter(is_active=True, roles__overlap=with_right(Right.APPROVE))
    return list(approvers.exclude(pk=person.pk) if person else approvers)


def needs_sign_in(held: HeldBack, by: User) -> bool:
    """Would this person approve what they asked for themselves? They may where nobody else can, after signing in again."""
    return held.asked_by_id == by.pk


@transaction.atomic
def approve(held: HeldBack, *, digest: str, by: User, signed_in_again: bool) -> HeldBack:
    """Let go out exactly what `digest` stands for. Raises Conflict when something else waits by now.

    Raises Problem when it is not theirs to approve.
    """
    own = needs_sign_in(held, by)
    if own and approvers_but(by):
        raise Problem(_("You asked for this yourself. Somebody else has to agree: %(names)s.") % {"names": _names(approvers_but(by))})
    if own and not signed_in_again:
        raise Problem(_("You asked for this yourself, and nobody else can agree. Sign in again to confirm it."))
    waiting = HeldBack.objects.filter(pk=held.pk, digest=digest, state=HeldBack.State.WAITING)
    if waiting.update(state=HeldBack.State.APPROVED, decided=Now(), decided_by=by, alone=own) != 1:
        raise Conflict(_("What waits is no longer what you saw. Look at it again."))
    nudge("workers.reconcile", by.pk, False)
    held.refresh_from_db()
    return held


def _names(people: list[User]) -> str:
    return ", ".join(person.name for person in people)


@transaction.atomic
def roll_back(revision: Revision, *, why: str, by: User) -> Hold:
    """Bring the group to an older revision, and keep it there until somebody releases it."""
    if not why.strip():
        raise Problem(_("Say why, for whoever finds the group held."), fieldname="why")
    if not contents.is_kept(revision):
        raise Problem(not_kept([revision]))
    Hold.objects.filter(group=revision.group_id, released=None).update(released=Now(), released_by=by)
    try:
        with transaction.atomic():
            hold = Hold.objects.create(group=revision.group, revision=revision, by=by, why=why.strip())
    except IntegrityError as error:
        raise Conflict(_("Somebody else has just held this group.")) from error
    nudge("workers.reconcile", by.pk, True)
    return hold


def release(group: GatewayGroup, *, by: User) -> None:
    """Let the group follow the database again."""
    if Hold.objects.filter(group=group, released=None).update(released=Now(), released_by=by) != 1:
        raise Conflict(_("This group is not held any more."))
    nudge("workers.reconcile", by.pk, True)


def pause(rollout: Rollout, *, by: User) -> None:
    """Stop before the next gateway; the one under way is finished."""
    _wish(rollout, Event.PAUSE, by)


def resume(rollout: Rollout, *, by: User) -> None:
    """Go on."""
    _wish(rollout, Event.RESUME, by)


def go_back_now(rollout: Rollout, *, by: User) -> None:
    """Take back what is on trial, and leave the gateways that have not been reached alone. What is confirmed stays."""
    _wish(rollout, Event.ABORT, by)


def _wish(rollout: Rollout, event: Event, by: User) -> None:
    try:
        idle = rollouts.wish(rollout, event, by=by)
    except NotPossibleError as error:
        raise Conflict(_("%(rollout)s is over already.") % {"rollout": rollout}) from error
    if idle:
        nudge("workers.reconcile", by.pk, False)

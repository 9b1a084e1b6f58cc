"""People's decisions about rollouts: approve a held-back part, release a held group, pause, resume, abort. `rollback` holds going back.

Each is one conditional update, so that two people cannot decide the same thing differently. A worker does the work.
"""

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.approvals import approval_gate, limit_changes, notifications
from apps.deployments.approvals.eligibility import ApproverStanding, compute_standing
from apps.deployments.approvals.kinds import LIMITS, ROLLBACK
from apps.deployments.models import HeldBack, Hold, Rollout
from apps.deployments.rollouts import rollback, rollout_store
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.network.models import GatewayGroup
from firewall.rollout import InvalidTransitionError, RolloutEvent


def approve_part(held: HeldBack, *, digest: str, by: User, signed_in_again: bool, reason: str = "") -> HeldBack:
    """Approve exactly the part that `digest` stands for. Raises Conflict when something else waits by now.

    signed_in_again: this user entered the password for this approval. Raises Problem when the user may not approve it.
    """
    if held.kind == ROLLBACK and held.state == HeldBack.State.WAITING and not rollback.refresh_held_rollback(held):
        raise Conflict(_("This has changed or been decided since you opened the page. Look at it again."))
    return _approve(held, digest=digest, by=by, signed_in_again=signed_in_again, reason=reason)


@transaction.atomic
def _approve(held: HeldBack, *, digest: str, by: User, signed_in_again: bool, reason: str) -> HeldBack:
    if held.kind == LIMITS:  # whoever changes the group locks it first, and then what waits
        list(GatewayGroup.objects.select_for_update().filter(pk=held.group_id).values_list("pk"))
    approval_gate.record_requesters(
        held, approval_gate.compute_requesters(held)
    )  # includes users who wrote the same again since it was held back
    standing = compute_standing(held, by)
    if standing.others:
        raise Problem(_render_refusal(standing))
    if standing.has_to_sign_in_again and not signed_in_again:
        raise Problem(_render_sign_in_request(standing))
    waiting = HeldBack.objects.filter(pk=held.pk, digest=digest, state=HeldBack.State.WAITING)
    done = HeldBack.State.DONE if held.kind in (LIMITS, ROLLBACK) else HeldBack.State.APPROVED
    given = {"decided": Now(), "decided_by": by, "alone": standing.has_to_sign_in_again, "reason": reason.strip()}
    if waiting.update(state=done, **given) != 1:
        raise Conflict(_("This has changed or been decided since you opened the page. Look at it again."))
    held.refresh_from_db()
    _carry_out(held, by)
    if held.alone:
        notifications.notify_of_lone_approval(held)
    return held


def _carry_out(held: HeldBack, by: User) -> None:
    if held.kind == LIMITS:
        limit_changes.apply_approved_limits(held)
    elif held.kind == ROLLBACK:
        rollback.carry_out_approved_rollback(held, by=by)
    enqueue_task("workers.reconcile", by.pk, False)


def _render_refusal(standing: ApproverStanding) -> str:
    names = {"names": ", ".join(person.name for person in standing.others)}
    if standing.asked:
        return _("You requested this yourself. Another person has to approve it: %(names)s.") % names
    return _("It is not known who requested this, and it may have been you. Another person has to approve it: %(names)s.") % names


def _render_sign_in_request(standing: ApproverStanding) -> str:
    if standing.asked:
        return _("You requested this yourself, and there is no other approver. Sign in again to confirm it.")
    return _("It is not known who requested this, and it may have been you. Sign in again to confirm it.")


def release_revision_hold(group: GatewayGroup, *, by: User) -> None:
    """Release the group's hold, so that it follows the database again. Raises Conflict when there is none."""
    if Hold.objects.filter(group=group, released=None).update(released=Now(), released_by=by) != 1:
        raise Conflict(_("This group is not on hold any more."))
    enqueue_task("workers.reconcile", by.pk, True)


def pause_rollout(rollout: Rollout, *, by: User) -> None:
    """Pause the rollout before the next gateway; the one under way is finished."""
    _record_wish(rollout, RolloutEvent.PAUSE, by)


def resume_rollout(rollout: Rollout, *, by: User) -> None:
    """Resume a paused rollout."""
    _record_wish(rollout, RolloutEvent.RESUME, by)


def abort_rollout(rollout: Rollout, *, by: User) -> None:
    """Abort the rollout: a gateway on trial reverts, gateways not yet reached are left alone, confirmed ones keep the revision."""
    _record_wish(rollout, RolloutEvent.ABORT, by)


def _record_wish(rollout: Rollout, event: RolloutEvent, by: User) -> None:
    try:
        idle = rollout_store.record_requested_event(rollout, event, by=by)
    except InvalidTransitionError as error:
        raise Conflict(_("%(rollout)s is over already.") % {"rollout": rollout}) from error
    if idle:
        enqueue_task("workers.reconcile", by.pk, False)

"""Rollback to an older revision: at once if it removes little service, else after an approval, or in an emergency by one person alone.

The removals are measured like those of any change, and add up with those of the last hour; a change of management always waits.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.approvals import approval_gate, notifications, removal_ledger
from apps.deployments.approvals.approval_gate import RunningState, map_management_by_gateway, map_running_management
from apps.deployments.approvals.kinds import ROLLBACK
from apps.deployments.approvals.part_codec import pack_values, unpack_values
from apps.deployments.models import HeldBack, Hold, Revision
from apps.deployments.restored_database import restore_hold
from apps.deployments.revision_pages import contents
from apps.deployments.revision_pages.contents import ContentNotStored
from apps.deployments.revision_pages.presentation import explain_not_kept, read_database_clock
from apps.deployments.rollouts import rollout_store
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.deployments.rollouts.going_back import ReturnKind, announce_return
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.network.models import GatewayGroup
from firewall.blast_radius import ServiceRemoval, split_removals
from firewall.rollout import InvalidTransitionError, RolloutEvent
from firewall.ruleset import drop_expired


@dataclass(frozen=True, slots=True)
class RollbackCost:
    """Cost of a rollback: removals that need approval, removals that do not, and the gateways for which management changes."""

    waits: tuple[ServiceRemoval, ...] = ()
    goes: tuple[ServiceRemoval, ...] = ()
    management: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    text: str = ""

    @property
    def is_too_high(self) -> bool:
        """True if two people have to agree."""
        return bool(self.waits or self.management)


def compute_rollback_cost(revision: Revision) -> RollbackCost:
    """Compute what a rollback would remove now. Raises ContentNotStored."""
    group = revision.group
    before = RulesetCache().load_running_state(group)
    if before is None:
        return RollbackCost()
    now = read_database_clock()
    rulesets = {pk: drop_expired(ruleset, now) for pk, ruleset in contents.load_rulesets_in_service(revision).items()}
    running, asked = before.reference, approval_gate.find_any_ruleset(rulesets)
    if asked is None:
        return RollbackCost()
    if running is None:
        raise ContentNotStored(f"{before.newest.revision}: its content is not kept, so nobody can tell what going back would take away")
    found = approval_gate.find_removals(rulesets, running, now, {})
    waits, goes = split_removals(
        found, removal_ledger.list_recent_losses(group, asked.elements), running.elements, approval_gate.build_limits(group)
    )
    text = "\n".join(approval_gate.render_part(removal.elements, running) for removal in waits)
    return RollbackCost(tuple(waits), tuple(goes), _compare_management(revision, before), text)


def _compare_management(revision: Revision, before: RunningState) -> dict[str, list[dict[str, Any]]]:
    """Return the differences in management: by present gateway name, the values now and after the rollback."""
    was, now = map_management_by_gateway(revision), map_running_management(before)
    names = dict(revision.group.gateways.order_by("name").values_list("pk", "name"))
    return {names[pk]: [now[pk], was[pk]] for pk in names if pk in was and pk in now and was[pk] != now[pk]}


def roll_back(revision: Revision, *, why: str, by: User, alone: bool = False) -> Hold | HeldBack:
    """Bring the group to an older revision and hold it there until a person releases it; or request an approval for that.

    alone: an emergency. The user has just signed in again, so the rollback does not wait; the history records it and the other
    approvers are notified. Raises Problem.
    """
    restore_hold.refuse_while_restored()
    if not why.strip():
        raise Problem(_("Enter a reason, so that others know why the group is on hold."), fieldname="why")
    if not contents.is_content_stored(revision):
        raise Problem(explain_not_kept([revision]))
    cost = compute_rollback_cost(revision)
    if cost.is_too_high and not alone:
        return _request_approval(revision, cost, why.strip(), by)
    if not cost.is_too_high:
        removal_ledger.record_losses(revision.group, cost.goes, [])
    return hold_group_at_revision(revision, why=why.strip(), by=by, alone=cost.is_too_high)


@transaction.atomic
def hold_group_at_revision(revision: Revision, *, why: str, by: User, alone: bool = False) -> Hold:
    """Hold the group at this revision from now on, instead of an earlier hold. A paused rollout is aborted, because it would block this."""
    _filter_waiting(revision.group).update(state=HeldBack.State.OBSOLETE)
    Hold.objects.filter(group=revision.group_id, released=None).update(released=Now(), released_by=by)
    try:
        with transaction.atomic():
            hold = Hold.objects.create(group=revision.group, revision=revision, by=by, why=why, alone=alone)
    except IntegrityError as error:
        raise Conflict(_("Another administrator has just put this group on hold.")) from error
    _abort_paused_rollout(revision.group, by)
    if alone:
        notifications.notify_of_lone_rollback(hold)
    announce_return(ReturnKind.ROLLBACK, list(revision.group.gateways.all()))
    enqueue_task("workers.reconcile", by.pk, True)
    return hold


def _abort_paused_rollout(group: GatewayGroup, by: User) -> None:
    paused = rollout_store.find_paused_rollout(group)
    if paused:
        with suppress(InvalidTransitionError):  # it has just ended
            rollout_store.record_requested_event(paused, RolloutEvent.ABORT, by=by)


def _filter_waiting(group: GatewayGroup) -> QuerySet[HeldBack]:
    return HeldBack.objects.filter(group=group, kind=ROLLBACK, state=HeldBack.State.WAITING)


@transaction.atomic
def _request_approval(revision: Revision, cost: RollbackCost, why: str, by: User) -> HeldBack:
    """Request approval for a rollback, at most one per group. A repeated request replaces a different one; for the same one, both
    users are askers.
    """
    given = _build_fields(revision, cost, why)
    before = _filter_waiting(revision.group).select_for_update().first()
    if before is None or before.digest != given["digest"]:
        _filter_waiting(revision.group).update(state=HeldBack.State.OBSOLETE)
        before = HeldBack.objects.create(group=revision.group, kind=ROLLBACK, **given)
    before.askers.add(by)
    return before


def _build_fields(revision: Revision, cost: RollbackCost, why: str) -> dict[str, Any]:
    lines = [{"kind": removal.kind.value, "removed": removal.removed, "of": removal.of} for removal in cost.waits]
    digests = [removal.digest for removal in cost.waits]
    asked = {"revision": revision.pk, "why": why, "lines": lines, "management": dict(cost.management)}
    named = approval_gate.digest_values({"revision": revision.pk, "digests": digests, "management": dict(cost.management)})
    removed = sum(removal.removed for removal in cost.waits)
    return {"digest": named, "packed": pack_values(asked), "text": cost.text, "removed": removed, "of": sum(each.of for each in cost.waits)}


def carry_out_approved_rollback(held: HeldBack, *, by: User) -> None:
    """Hold the group at the approved revision."""
    asked = unpack_values(held.packed)
    revision = Revision.objects.select_related("group").get(pk=asked["revision"])
    hold_group_at_revision(revision, why=asked["why"], by=held.askers.order_by("pk").first() or by)


def refresh_held_rollback(held: HeldBack) -> bool:
    """True if the rollback would still remove exactly what its row says. If not, update the row to what it would remove now."""
    asked = unpack_values(held.packed)
    revision = Revision.objects.select_related("group").get(pk=asked["revision"])
    if not contents.is_content_stored(revision):
        raise Problem(explain_not_kept([revision]))
    given = _build_fields(revision, compute_rollback_cost(revision), asked["why"])
    if given["digest"] == held.digest:
        return True
    HeldBack.objects.filter(pk=held.pk, state=HeldBack.State.WAITING).update(**given)
    return False

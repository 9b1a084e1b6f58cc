"""Going back to an older revision: at once where it takes little service away, else when a second person agrees, or as an emergency alone.

What it takes away is measured like any other change, and adds up with what went within the hour; a change of management always waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.approvals import approval_gate, notifications, removal_ledger
from apps.deployments.approvals.approval_gate import RunningState
from apps.deployments.approvals.kinds import ROLLBACK
from apps.deployments.approvals.part_codec import pack, unpack
from apps.deployments.models import HeldBack, Hold, Revision
from apps.deployments.revision_pages import contents
from apps.deployments.revision_pages.presentation import explain_not_kept, read_database_clock
from apps.deployments.rollouts.gateway_cache import GatewayCache
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.network.models import GatewayGroup
from firewall.blast_radius import Removal, judge
from firewall.ruleset import drop_expired


@dataclass(frozen=True, slots=True)
class RollbackCost:
    """What going back costs: removals that are too much for one person, those that are not, and gateways whose management changes."""

    waits: tuple[Removal, ...] = ()
    goes: tuple[Removal, ...] = ()
    management: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    text: str = ""

    @property
    def is_too_high(self) -> bool:
        """Do two people have to agree?"""
        return bool(self.waits or self.management)


def compute_cost(revision: Revision) -> RollbackCost:
    """What going back would take away now. Raises NotKept."""
    group = revision.group
    before = GatewayCache().before(group)
    if before is None:
        return RollbackCost()
    names, now = dict(group.gateways.values_list("name", "pk")), read_database_clock()
    rulesets = {names[name]: drop_expired(ruleset, now) for name, ruleset in contents.load(revision).items() if name in names}
    found = approval_gate.find_removals(rulesets, before, now, {})
    running, asked = approval_gate.find_first_ruleset(before.rulesets), approval_gate.find_first_ruleset(rulesets)
    if running is None or asked is None:
        return RollbackCost()
    waits, goes = judge(
        found, removal_ledger.list_recent_losses(group, asked.elements), running.elements, approval_gate.build_limits(group)
    )
    text = "\n".join(approval_gate.render_part(removal.elements, running) for removal in waits)
    return RollbackCost(tuple(waits), tuple(goes), _compare_management(revision, before), text)


def _compare_management(revision: Revision, before: RunningState) -> dict[str, list[dict[str, Any]]]:
    """By gateway its management now and then, where they differ."""
    was, now = revision.management, before.revision.management
    return {name: [now[name], was[name]] for name in sorted(was.keys() & now.keys()) if was[name] != now[name]}


def roll_back(revision: Revision, *, why: str, by: User, alone: bool = False) -> Hold | HeldBack:
    """Bring the group to an older revision, and keep it there until somebody releases it; or have that wait for a second person.

    alone: an emergency, whose asker has just signed in again: it does not wait, the history says so, the others are told. Raises Problem.
    """
    if not why.strip():
        raise Problem(_("Say why, for whoever finds the group held."), fieldname="why")
    if not contents.is_kept(revision):
        raise Problem(explain_not_kept([revision]))
    cost = compute_cost(revision)
    if cost.is_too_high and not alone:
        return _request_approval(revision, cost, why.strip(), by)
    if not cost.is_too_high:
        removal_ledger.note_losses(revision.group, cost.goes, [])
    return hold_at(revision, why=why.strip(), by=by, alone=cost.is_too_high)


@transaction.atomic
def hold_at(revision: Revision, *, why: str, by: User, alone: bool = False) -> Hold:
    """Hold the group there from now on, in the place of an earlier hold."""
    _filter_waiting(revision.group).update(state=HeldBack.State.OBSOLETE)
    Hold.objects.filter(group=revision.group_id, released=None).update(released=Now(), released_by=by)
    try:
        with transaction.atomic():
            hold = Hold.objects.create(group=revision.group, revision=revision, by=by, why=why, alone=alone)
    except IntegrityError as error:
        raise Conflict(_("Somebody else has just held this group.")) from error
    if alone:
        notifications.notify_of_lone_hold(hold)
    enqueue_task("workers.reconcile", by.pk, True)
    return hold


def _filter_waiting(group: GatewayGroup) -> QuerySet[HeldBack]:
    return HeldBack.objects.filter(group=group, kind=ROLLBACK, state=HeldBack.State.WAITING)


@transaction.atomic
def _request_approval(revision: Revision, cost: RollbackCost, why: str, by: User) -> HeldBack:
    """One at a time in a group: who asks again asks in the place of whoever asked before, and both asked."""
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
    return {"digest": named, "packed": pack(asked), "text": cost.text, "removed": removed, "of": sum(each.of for each in cost.waits)}


def carry_out_approval(held: HeldBack, *, by: User) -> None:
    """Hold the group where somebody asked for. Raises Conflict when it would take something else away by now: then that waits."""
    asked = unpack(held.packed)
    revision = Revision.objects.select_related("group").get(pk=asked["revision"])
    hold_at(revision, why=asked["why"], by=held.askers.order_by("pk").first() or by)


def is_unchanged(held: HeldBack) -> bool:
    """Would it still take away exactly what it says? If not, the row says from now on what it would."""
    asked = unpack(held.packed)
    revision = Revision.objects.select_related("group").get(pk=asked["revision"])
    if not contents.is_kept(revision):
        raise Problem(explain_not_kept([revision]))
    given = _build_fields(revision, compute_cost(revision), asked["why"])
    if given["digest"] == held.digest:
        return True
    HeldBack.objects.filter(pk=held.pk, state=HeldBack.State.WAITING).update(**given)
    return False

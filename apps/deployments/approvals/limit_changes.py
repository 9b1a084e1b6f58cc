"""Changes of the limits above which removals wait: tightened at once, loosened only with approval."""

from typing import Any

from django.db import transaction
from django.db.models import F

from apps.accounts.models import User
from apps.deployments.approvals.approval_gate import digest_values
from apps.deployments.approvals.kinds import LIMITS
from apps.deployments.approvals.part_codec import pack_values, unpack_values
from apps.deployments.models import HeldBack
from apps.network.models import GatewayGroup

FIELDS = ("removal_share", "removal_least")


def pick_tightened_limits(group: GatewayGroup, **wanted: int) -> dict[str, int]:
    """Return the wanted limits that are tighter than the group's: they may be written at once."""
    return {name: value for name, value in wanted.items() if value < getattr(group, name)}


@transaction.atomic
def request_looser_limits(group: GatewayGroup, *, removal_share: int, removal_least: int, by: User | None) -> HeldBack | None:
    """Let limits that are looser than the group's wait for approval. Return the row that waits, or None if nothing is loosened.

    group: a locked row. by: None if it is not known who asks. A new request replaces an earlier one that waits.
    """
    wanted = {"removal_share": removal_share, "removal_least": removal_least}
    looser = {name: [getattr(group, name), value] for name, value in wanted.items() if value > getattr(group, name)}
    digest = digest_values(looser)
    waiting = HeldBack.objects.filter(group=group, kind=LIMITS, state=HeldBack.State.WAITING)
    waiting.exclude(digest=digest).update(state=HeldBack.State.OBSOLETE)
    if not looser:
        waiting.update(state=HeldBack.State.OBSOLETE)
        return None
    row = waiting.first() or HeldBack.objects.create(group=group, kind=LIMITS, digest=digest, packed=pack_values(looser))
    if by:
        row.askers.add(by)
    else:
        HeldBack.objects.filter(pk=row.pk).update(asker_unknown=True)
    return row


def find_waiting_limits(group: GatewayGroup) -> HeldBack | None:
    """Return the group's request for looser limits that waits for approval."""
    return HeldBack.objects.filter(group=group, kind=LIMITS, state=HeldBack.State.WAITING).first()


def apply_approved_limits(held: HeldBack) -> None:
    """Apply the approved limits."""
    values = {name: new for name, (_old, new) in unpack_limits(held).items()}
    GatewayGroup.objects.filter(pk=held.group_id).update(version=F("version") + 1, **values)


def unpack_limits(held: HeldBack) -> dict[str, list[Any]]:
    """Return the old and new value by field."""
    found: dict[str, list[Any]] = unpack_values(held.packed)
    return {name: found[name] for name in FIELDS if name in found}

"""Service that assigns many addresses in a constant number of statements. The rules for a single one are in services.py.

All or none: any refusal raises Problem or IntegrityError, and the caller's transaction is to be rolled back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from django.db import connection, transaction
from django.utils.translation import gettext as _
from psycopg.types.range import TimestamptzRange

from apps.accounts.models import User
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.lib.fields import Prefix
from apps.members.models import Device, Member
from apps.network.models import Holding, Pool
from apps.network.refusals import find_refusal
from apps.network.services import lock_pools

BATCH = 2_000  # rows of a statement


@dataclass(frozen=True, slots=True)
class HoldingDraft:
    """An address or prefix to be assigned; member, device and pool by their ids."""

    member: int
    pool: int
    prefix: Prefix
    device: int | None = None


@transaction.atomic
def assign_addresses(*, wanted: Sequence[HoldingDraft], by: User) -> list[Holding]:
    """Assign all of these from now on. Return the holdings in this order."""
    lock_pools(*{each.pool for each in wanted})
    pools = Pool.objects.in_bulk({each.pool for each in wanted})
    for each in wanted:
        if refusal := find_refusal(pools[each.pool], each.prefix):
            raise Problem(*refusal, culprit=pools[each.pool])
    _check_members(wanted)
    now = _get_database_time()
    rows = [_build_row(each, pools[each.pool], now) for each in wanted]
    # In random order: in the order of addresses, the index of the exclusion constraint degrades (see desk/seeding/bulk_copy.py).
    shuffled = Random(0).sample(rows, len(rows))  # noqa: S311 - not a secret
    for at in range(0, len(shuffled), BATCH):
        Holding.objects.bulk_create(shuffled[at : at + BATCH])
    enqueue_task("workers.reconcile", by.pk)
    return rows


def _build_row(each: HoldingDraft, pool: Pool, now: TimestamptzRange) -> Holding:
    return Holding(
        member_id=each.member,
        device_id=each.device,
        pool=pool,
        group_id=pool.group_id,
        kind=pool.kind,
        pool_prefix=pool.prefix,
        prefix=each.prefix,
        valid=now,
    )


def _check_members(wanted: Sequence[HoldingDraft]) -> None:
    """Raise Problem if a member has left, or if a device is another member's."""
    left = Member.objects.filter(pk__in={each.member for each in wanted}, state=Member.State.LEFT).first()
    if left:
        raise Problem(_("%(member)s has left. Activate this member first.") % {"member": left}, culprit=left)
    owners = dict(Device.objects.filter(pk__in={each.device for each in wanted if each.device}).values_list("pk", "member_id"))
    if any(each.device and owners.get(each.device) != each.member for each in wanted):
        raise Problem(_("A device belongs to another member, or was removed meanwhile."), "device")


def _get_database_time() -> TimestamptzRange:
    """Return the range from now on, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        return TimestamptzRange(cursor.fetchone()[0], None)

"""Service that assigns many addresses in a constant number of statements. The rules for a single one are in services.py.

All or none: any refusal raises Problem or IntegrityError, and the caller's transaction is to be rolled back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.database.bulk_copy import copy_rows
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.lib.fields import Prefix
from apps.members.models import Member
from apps.network.models import Holding, Pool
from apps.network.prefix_lengths import list_competing_pools, refuse_further_lengths
from apps.network.refusals import find_refusal
from apps.network.services import lock_pools

COLUMNS = ("member_id", "device_id", "prefix", "pool_id", "group_id", "kind", "pool_prefix", "valid")

LEFT = "SELECT id FROM members_member WHERE id = ANY(%s::bigint[]) AND state = 'left' LIMIT 1"
STRANGE = """
    SELECT w.device FROM unnest(%s::bigint[], %s::bigint[]) AS w (member, device)
    LEFT JOIN members_device d ON d.id = w.device AND d.member_id = w.member WHERE w.device IS NOT NULL AND d.id IS NULL LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class HoldingDraft:
    """An address or prefix to be assigned; member, device and pool by their ids."""

    member: int
    pool: int
    prefix: Prefix
    device: int | None = None


@dataclass(frozen=True, slots=True)
class NewHolding:
    """An address or prefix that was assigned: its id, and what others repeat of its row. valid: the text of its range."""

    id: int
    member: int
    group: int
    valid: str


@transaction.atomic
def assign_addresses(*, wanted: Sequence[HoldingDraft], by: User) -> list[NewHolding]:
    """Assign all of these from now on. Return the holdings in this order."""
    chosen = {each.pool for each in wanted}
    competing = list_competing_pools(chosen)
    lock_pools(*chosen, *competing)
    pools = Pool.objects.in_bulk(chosen)
    for each in wanted:
        if refusal := find_refusal(pools[each.pool], each.prefix):
            raise Problem(*refusal, culprit=pools[each.pool])
    if competing:
        refuse_further_lengths(pools.values())
    _check_members(wanted)
    now = _get_database_time()
    shared = {pk: (pk, pool.group_id, pool.kind, str(pool.prefix), now) for pk, pool in pools.items()}
    made = copy_rows(Holding, COLUMNS, ((each.member, each.device, str(each.prefix), *shared[each.pool]) for each in wanted))
    enqueue_task("workers.reconcile", by.pk)
    return [NewHolding(pk, each.member, pools[each.pool].group_id, now) for pk, each in zip(made, wanted, strict=True)]


def _check_members(wanted: Sequence[HoldingDraft]) -> None:
    """Raise Problem if a member has left, or if a device is another member's."""
    drafts = ([each.member for each in wanted], [each.device for each in wanted])
    with connection.cursor() as cursor:
        cursor.execute(LEFT, drafts[:1])
        left = cursor.fetchone()
        cursor.execute(STRANGE, drafts)
        strange = cursor.fetchone()
    if left:
        member = Member.objects.get(pk=left[0])
        raise Problem(_("%(member)s has left. Activate this member first.") % {"member": member}, culprit=member)
    if strange:
        raise Problem(_("A device belongs to another member, or was removed meanwhile."), "device")


def _get_database_time() -> str:
    """Return the range from now on, by the database's clock, as text."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tstzrange(statement_timestamp(), NULL)::text")
        return str(cursor.fetchone()[0])

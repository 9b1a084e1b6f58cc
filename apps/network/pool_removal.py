"""Removing a pool that never gave an address, and undoing its last change."""

from collections.abc import Collection

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.lib.errors import Problem
from apps.lib.row_uses import RowUse, list_uses
from apps.network.count_texts import format_holding_count
from apps.network.models import Holding, Pool
from apps.network.pool_lifecycle import undo_pool_split
from apps.network.probe_addresses import refuse_addresses_of_gateways


@transaction.atomic
def remove_pool(row: Pool) -> None:
    """Remove the pool. Raises Problem if a member holds or held something of it: who held which address stays known.

    Removing twice is harmless. Nothing changes on gateways, because no element of a ruleset comes from an unused pool.
    """
    list(Pool.objects.select_for_update().filter(pk=row.pk).values_list("pk"))
    uses = list_uses(Pool, [row.pk])
    if uses:
        words = _("%(pool)s stays, because the history names it: %(uses)s. To give no more addresses of it, retire it.")
        raise Problem(words % {"pool": row, "uses": ", ".join(use.words for use in uses)}, culprit=uses[0].first)
    Pool.objects.filter(pk=row.pk).delete()


def find_pool_holding_use(pools: Collection[int]) -> RowUse | None:
    """Return the holdings that members have or had of these pools; None if there is none."""
    found = Holding.objects.filter(pool__in=pools)
    first = found.order_by("pk").first()
    return None if first is None else RowUse(format_holding_count(found.count()), reverse("network:pool", args=[first.pool_id]), first)


def prepare_pool_undo(former: Pool, current: Pool | None) -> None:
    """Raise Problem if an undo must not bring back these values: a former sharing would not bring back members' public addresses.

    Before a split is undone, its parts become one pool again.
    """
    if current and (former.sharing, former.block_size) != (current.sharing, current.block_size):
        raise Problem(_("Change on the page of %(pool)s how members use it: it shows before what each would leave as.") % {"pool": current})
    refuse_addresses_of_gateways(former)
    if current and former.prefix != current.prefix:
        undo_pool_split(former, current)

"""Changes how members share a public pool, for all members who leave from it at once."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from datetime import datetime

from django.contrib.postgres.fields import DateTimeRangeField
from django.db import connection, transaction
from django.db.models import F, Func, QuerySet, Value
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from psycopg.types.range import TimestamptzRange

from apps.accounts.models import User
from apps.lib.database.validity import is_valid_now
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.nat.models import NatMapping, format_address_with_ports
from apps.nat.snat_allocation import SnatAllocator, SnatPlace
from apps.network.models import Pool
from apps.network.services import check_sharing, lock_holdings


def change_sharing(*, pool: Pool, sharing: str, block_size: int | None, by: User) -> int:
    """Change the pool's sharing, also for the members who leave from it already. Return how many mappings changed.

    Members keep their public address where possible. It is one transaction, so the gateways change from one state to the other at once.
    Raises Problem when there are not enough places, or when blocks in use would change their size.
    """
    check_sharing(pool.kind, sharing, block_size)
    with transaction.atomic():
        pool = Pool.objects.select_for_update(no_key=True).get(pk=pool.pk)
        if (pool.sharing, pool.block_size) == (sharing, block_size):
            return 0
        lock_holdings(*_list_leaving(pool).values_list("holding_id", flat=True))
        current = list(_list_leaving(pool).select_for_update(of=("self",)))
        _check_blocks(pool, sharing, len({mapping.holding.member_id for mapping in current}))
        pool.sharing, pool.block_size = sharing, block_size
        places = _allocate_places(pool, current)
        now = _get_database_time()  # read after the places are known to be free: nothing in them has ended later than this
        current = [mapping for mapping in current if mapping.valid.upper is None or mapping.valid.upper > now]
        ended = Func(F("valid__startswith"), Value(now), function="tstzrange", output_field=DateTimeRangeField())
        NatMapping.objects.filter(pk__in=[mapping.pk for mapping in current]).update(valid=ended, version=F("version") + 1)
        NatMapping.objects.bulk_create(list(_iter_new_mappings(pool, current, places, now)))
        Pool.objects.filter(pk=pool.pk).update(sharing=sharing, block_size=block_size)
        enqueue_task("workers.reconcile", by.pk)
    return len(current)


@dataclass(frozen=True, slots=True)
class PlannedMapping:
    """A mapping now, and the place that it would get."""

    current: NatMapping
    place: SnatPlace

    @property
    def public_with_ports(self) -> str:
        """The planned address with its block: “198.51.100.7, ports 32768–33791”."""
        return format_address_with_ports(str(self.place.public), self.place.ports)


def plan_sharing(*, pool: Pool, sharing: str, block_size: int | None) -> list[PlannedMapping]:
    """Return the mappings that `change_sharing` would change now, by planned address and first port. Raises Problem as that does."""
    check_sharing(pool.kind, sharing, block_size)
    if (pool.sharing, pool.block_size) == (sharing, block_size):
        return []
    current = list(_list_leaving(pool).select_related("holding__member"))
    _check_blocks(pool, sharing, len({mapping.holding.member_id for mapping in current}))
    wanted = copy(pool)
    wanted.sharing, wanted.block_size = sharing, block_size
    places = _allocate_places(wanted, current)
    planned = [PlannedMapping(each, places[each.holding.member_id] if places else SnatPlace(each.public)) for each in current]
    return sorted(planned, key=lambda each: (int(each.place.public), each.place.first_port))


def _list_leaving(pool: Pool) -> QuerySet[NatMapping]:
    return NatMapping.objects.filter(is_valid_now(), pool=pool).select_related("holding").order_by("public", "holding__prefix")


def _check_blocks(pool: Pool, sharing: str, members: int) -> None:
    if pool.sharing != sharing or not members:
        return
    text = ngettext(
        "%(n)s member has a block of %(size)s ports of this pool.", "%(n)s members have blocks of %(size)s ports of this pool.", members
    )
    text += " " + _("The block size can change only while no member has a block: let members share without blocks first.")
    raise Problem(
        text % {"n": formats.format_number(members), "size": formats.format_number(pool.block_size or 0)}, "block_size", culprit=pool
    )


def _get_database_time() -> datetime:
    """Return the time of the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now


def _iter_new_mappings(pool: Pool, current: list[NatMapping], places: dict[int, SnatPlace], now: datetime) -> Iterator[NatMapping]:
    """Yield the mappings that begin now."""
    for mapping in current:
        place = places[mapping.holding.member_id] if places else SnatPlace(mapping.public)
        yield NatMapping(
            holding_id=mapping.holding_id,
            group_id=mapping.group_id,
            held=mapping.held,
            pool=pool,
            pool_prefix=pool.prefix,
            public=place.public,
            sharing=pool.sharing,
            block=place.block,
            valid=TimestamptzRange(now, mapping.valid.upper),
        )


def _allocate_places(pool: Pool, current: list[NatMapping]) -> dict[int, SnatPlace]:
    """Return the new place of each member by id, or {} where all share. Raises Problem when there are too few places."""
    if pool.sharing == Pool.Sharing.SHARED:
        return {}
    publics: dict[int, list[NatMapping]] = {}
    for mapping in current:
        publics.setdefault(mapping.holding.member_id, []).append(mapping)
    free, found = SnatAllocator(pool), dict[int, SnatPlace]()
    for member, mappings in publics.items():
        place = free.take(member, [mapping.public for mapping in mappings])
        if place is None:
            raise _build_shortage(pool, len(publics), len(found))
        found[member] = place
    return found


def _build_shortage(pool: Pool, members: int, places: int) -> Problem:
    facts = {"members": formats.format_number(members), "places": formats.format_number(places)}
    if pool.sharing == Pool.Sharing.OWN:
        text = _("%(members)s members use this pool, but it has addresses for only %(places)s of them. Let them share, or add addresses.")
        return Problem(text % facts, "sharing", culprit=pool)
    text = _("%(members)s members use this pool, but it has blocks for only %(places)s of them. Choose smaller blocks, or add addresses.")
    return Problem(text % facts, "block_size", culprit=pool)

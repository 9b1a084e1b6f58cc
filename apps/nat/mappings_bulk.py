"""Service that maps many new holdings to public addresses in a constant number of statements. services.py has the rules for a single one.

`SnatPlaces` finds the places in memory, also to plan without writing.
"""

from collections.abc import Sequence
from heapq import heapify, heapreplace
from itertools import islice

from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.database.bulk_copy import CopyRow, copy_rows
from apps.lib.database.validity import is_valid_now
from apps.lib.enqueue import enqueue_reconcile
from apps.lib.errors import Problem
from apps.lib.fields import Address
from apps.nat.models import NatMapping
from apps.nat.snat_allocation import MOST_SHARED, SnatAllocator, SnatPlace, iter_usable_addresses, list_source_pools
from apps.network.holdings_bulk import NewHolding
from apps.network.models import Pool
from apps.network.probe_addresses import read_probed_gateways, refuse_probe_public
from apps.network.services import lock_pools

OF_HOLDING = ("version", "holding_id", "group_id", "kind", "held", "valid")
COLUMNS = (*OF_HOLDING, "pool_id", "pool_kind", "pool_prefix", "public", "sharing", "block")


class SnatPlaces:
    """The free places of all public pools, read once. Each place that is taken counts as taken for the next."""

    def __init__(self) -> None:
        self._pools: dict[int, list[_PoolPlaces]] = {}
        self._probed = read_probed_gateways()

    def has_pool(self, group: int, public: Address | None = None) -> bool:
        """True if the group has a public pool, or one with this address."""
        return any(public is None or public in each.pool.prefix for each in self._list_pools(group))

    def take(self, member: int, group: int, public: Address | None) -> Address | None:
        """Take a place for the member, on this address if one is given, and return its address; None when nothing is free.

        Raises Problem if it is the address of a gateway's probe.
        """
        found = self.take_place(member, group, public)
        return found[1].public if found else None

    def take_place(self, member: int, group: int, public: Address | None) -> tuple[Pool, SnatPlace] | None:
        """Take the member's current place, or the next free one: own addresses first, then blocks, then shared addresses.

        Raises Problem for the address of a gateway's probe.
        """
        if public is not None:
            refuse_probe_public(public, self._probed)
        for each in self._list_pools(group):
            if (public is None or public in each.pool.prefix) and (place := each.take(member, public)):
                return each.pool, place
        return None

    def _list_pools(self, group: int) -> "list[_PoolPlaces]":
        if group not in self._pools:
            self._pools[group] = [_PoolPlaces(pool) for pool in list_source_pools(group)]
        return self._pools[group]


class _PoolPlaces:
    """The places of one pool."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._shared = pool.sharing == Pool.Sharing.SHARED
        self._allocator = None if self._shared else SnatAllocator(pool, beside_mappings=True)
        self._members = {} if self._shared and not pool.retired else self._read_current()
        self._users = self._count_users() if self._shared else []

    def _read_current(self) -> dict[int, SnatPlace]:
        """Return the places of members who leave from the pool as it is shared now."""
        has = NatMapping.objects.filter(is_valid_now(), pool=self.pool, sharing=self.pool.sharing)
        rows = has.values_list("holding__member_id", "public", "block")
        size = self.pool.block_size
        return {member: SnatPlace(public, block) for member, public, block in rows if not block or block.upper - block.lower == size}

    def _count_users(self) -> list[tuple[int, Address]]:
        """Return the addresses of a shared pool with the number of mappings on each, as a heap."""
        used = NatMapping.objects.filter(is_valid_now(), pool=self.pool).order_by().values_list("public").annotate(number=Count("pk"))
        numbers = dict(used)
        users = [(numbers.get(address, 0), address) for address in islice(iter_usable_addresses(self.pool), MOST_SHARED)]
        heapify(users)
        return users

    def take(self, member: int, public: Address | None) -> SnatPlace | None:
        """Take a place. A retired pool has only those that members have."""
        if self.pool.retired:
            mine = self._members.get(member)
            return mine if mine and public in (None, mine.public) else None
        if self._allocator is None:
            return SnatPlace(public) if public else self._take_least_used()
        mine = self._members.get(member)
        if mine and public in (None, mine.public):
            return mine
        place = self._allocator.take_place_on_address(public, member) if public else self._allocator.take(member, ())
        if place:
            self._members[member] = place
        return place

    def _take_least_used(self) -> SnatPlace | None:
        if not self._users:
            return None
        number, address = self._users[0]
        heapreplace(self._users, (number + 1, address))
        return SnatPlace(address)


@transaction.atomic
def map_addresses(*, wanted: Sequence[tuple[NewHolding, Address | None]], by: User) -> None:
    """Map these new private holdings for as long as they are held: to the given public address, or to the next free place.

    The holdings were assigned in this transaction and have no mapping yet. Raises Problem when nothing is free, or IntegrityError.
    """
    lock_pools(*{pool.pk for group in {holding.group for holding, _public in wanted} for pool in list_source_pools(group)})
    places = SnatPlaces()
    rows = (_build_row(holding, places.take_place(holding.member, holding.group, public)) for holding, public in wanted)
    copy_rows(NatMapping, COLUMNS, rows)
    enqueue_reconcile(*(holding.group for holding, _public in wanted), by=by.pk)


def _build_row(holding: NewHolding, found: tuple[Pool, SnatPlace] | None) -> CopyRow:
    if found is None:
        raise Problem(_("The public pools are full. Add addresses, or let more members share them."), "public")
    pool, place = found
    whose = (1, holding.id, holding.group, Pool.Kind.PRIVATE4, holding.valid, holding.valid)
    block = f"[{place.block.lower},{place.block.upper})" if place.block else None
    return (*whose, pool.pk, Pool.Kind.PUBLIC4, str(pool.prefix), str(place.public), pool.sharing, block)

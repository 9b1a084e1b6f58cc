"""Usage of pools, and lookups of who had an address at a moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.desk.result_cache import count_assigned_shares, get_cached
from apps.lib.activation import Activation, list_activations
from apps.lib.fields import Address
from apps.lib.ui import formats
from apps.nat.models import NatMapping, PortForward
from apps.nat.pool_sharing import PlannedMapping
from apps.nat.selectors import count_mapped_members, count_used_by_pool, list_forwards_at, list_mappings_at
from apps.network.models import Holding, Pool, count_port_blocks, find_block_size
from apps.network.selectors import count_member_shares, list_address_holdings, list_holdings_at, list_pools

MAX_LISTED_ROWS = 50
WARNS_AT = 0.9


@dataclass(frozen=True)
class PoolUsage:
    """A pool with the number of its shares that are used. `warns_at`: the number from which on the page warns."""

    pool: Pool
    used: int
    size: int

    @property
    def free_shares(self) -> int:
        return 0 if self.pool.retired else max(0, self.size - self.used)

    @property
    def warning_threshold(self) -> float:
        return self.size * WARNS_AT

    @property
    def kind(self) -> str:
        """The kind of the meter. It does not warn of shared public pools: there all addresses are normally in use."""
        shared = self.pool.kind == Pool.Kind.PUBLIC4 and self.pool.sharing == Pool.Sharing.SHARED
        return "warn" if self.used >= self.warning_threshold and not shared else "plain"


def list_pool_usage() -> list[PoolUsage]:
    """Return the usage of every pool. Private and IPv6 pools count holdings, public ones the addresses as which members leave."""
    used = {**count_assigned_shares(), **_count_leaving()}
    return [PoolUsage(pool, used.get(pool.pk, 0), _count_shares(pool)) for pool in list_pools()]


def build_pool_usage(pool: Pool) -> PoolUsage:
    """Return the usage of one pool."""
    used = _count_leaving() if pool.kind == Pool.Kind.PUBLIC4 else count_assigned_shares()
    return PoolUsage(pool, used.get(pool.pk, 0), _count_shares(pool))


def _count_shares(pool: Pool) -> int:
    """Return the number of shares that the pool offers: addresses, prefixes, or blocks of ports."""
    return count_member_shares(pool) * (count_port_blocks(pool.block_size) if pool.block_size else 1)


def _count_leaving() -> Mapping[int, int]:
    return get_cached("left-as-from-pools", count_used_by_pool)


@dataclass(frozen=True)
class SharingChangePreview:
    """The mappings that a change of a pool's sharing would make. rows: the first of them; `more`: how many follow."""

    rows: Sequence[PlannedMapping]
    more: int
    members: int
    addresses: int
    used_before: int


def compute_block_size(pool: Pool) -> int | None:
    """Return a suitable block size for the members who leave from a public pool; None if it has too few addresses."""
    return find_block_size(count_member_shares(pool), count_mapped_members(pool))


def build_sharing_change_preview(planned: Sequence[PlannedMapping]) -> SharingChangePreview:
    """Return the plan as a page shows it."""
    members = {each.current.holding.member_id for each in planned}
    publics = {each.place.public for each in planned}
    before = {each.current.public for each in planned}
    return SharingChangePreview(planned[:MAX_LISTED_ROWS], max(0, len(planned) - MAX_LISTED_ROWS), len(members), len(publics), len(before))


@dataclass(frozen=True)
class LookupAnswer:
    """The answer to an address lookup: the holder, the mappings to the address and, with a port, the forwards of that port."""

    address: Address
    port: int | None
    at: datetime
    holding: Holding | None
    leaving: list[NatMapping]
    more: int
    forwards: list[PortForward]
    ever: list[Holding]

    @property
    def confirmations(self) -> Sequence[Activation]:
        """The gateways' activations of the one member's mapping while it is valid; of a mapping that has ended they are unknown."""
        if self.sole_mapping is None or self.sole_mapping.valid.upper is not None:
            return ()
        [(_mapping, known)] = list_activations([self.sole_mapping])
        return known

    @property
    def sole_mapping(self) -> NatMapping | None:
        """The mapping of the only member who can have left with the given port; None without a port or with several members."""
        one = len({mapping.holding.member_id for mapping in self.leaving}) == 1 and not self.more
        return self.leaving[0] if self.port and one else None

    @property
    def member_count(self) -> int:
        """The number of members who left as the address; beyond those listed each mapping counts as one."""
        return len({mapping.holding.member_id for mapping in self.leaving}) + self.more

    @property
    def unnamed_reason(self) -> str:
        """The reason why no member can be named although several left as the address, and what to do.

        It is "" if a member is named or nobody left as the address.
        """
        if self.holding or self.member_count < 2:
            return ""
        if any(mapping.sharing == Pool.Sharing.SHARED for mapping in self.leaving):
            text = _(
                "%(n)s members shared this address. Without the remote address, the member cannot be identified; ask the sender for it."
            )
        else:
            text = _("%(n)s members had ports of this address. Without the port, the member cannot be identified; ask the sender for it.")
        return text % {"n": formats.format_number(self.member_count)}

    @property
    def is_empty(self) -> bool:
        return not (self.holding or self.leaving or self.forwards)


def look_up_address(address: Address, port: int | None, at: datetime) -> LookupAnswer:
    """Answer from these tables alone: connections are not logged for it."""
    leaving = list_mappings_at(address, at, port)
    number = leaving.count()
    forwards = list(list_forwards_at(address, port, at)) if port else []
    ever: QuerySet[Holding] = list_address_holdings(address)[:MAX_LISTED_ROWS]
    return LookupAnswer(
        address,
        port,
        at,
        list_holdings_at(address, at).first(),
        list(leaving[:MAX_LISTED_ROWS]),
        max(0, number - MAX_LISTED_ROWS),
        forwards,
        list(ever),
    )

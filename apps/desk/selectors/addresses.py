"""Pools with how full they are, and who had an address when."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from apps.desk.selectors.keeping import kept
from apps.lib.fields import Address
from apps.nat.models import NatMapping, PortForward
from apps.nat.selectors import leaving_as_pools, left_as, port_led_to
from apps.network.models import Holding, Pool, blocks_of_address
from apps.network.selectors import held_at, held_ever, held_in_pools, pools, size

MOST = 50
WARNS_AT = 0.9


@dataclass(frozen=True)
class Shown:
    """A pool with how many of its shares are used. `warns_at`: from how many on it is said."""

    pool: Pool
    used: int
    size: int

    @property
    def free(self) -> int:
        return max(0, self.size - self.used)

    @property
    def warns_at(self) -> float:
        return self.size * WARNS_AT

    @property
    def kind(self) -> str:
        """Of the meter. That all public addresses are in use is as it should be where members share them."""
        shared = self.pool.kind == Pool.Kind.PUBLIC4 and self.pool.sharing == Pool.Sharing.SHARED
        return "warn" if self.used >= self.warns_at and not shared else "plain"


def all_pools() -> list[Shown]:
    """Every pool. Private and IPv6 pools count who holds, public ones the addresses that somebody leaves as."""
    used = {**_held(), **_left()}
    return [Shown(pool, used.get(pool.pk, 0), _places(pool)) for pool in pools()]


def shown(pool: Pool) -> Shown:
    """One pool."""
    used = _left() if pool.kind == Pool.Kind.PUBLIC4 else _held()
    return Shown(pool, used.get(pool.pk, 0), _places(pool))


def _places(pool: Pool) -> int:
    """For how many it has something: shares, addresses, or blocks of ports."""
    return size(pool) * (blocks_of_address(pool.block_size) if pool.block_size else 1)


def _held() -> Mapping[int, int]:
    return kept("held in pools", held_in_pools)


def _left() -> Mapping[int, int]:
    return kept("left-as-from-pools", leaving_as_pools)


@dataclass(frozen=True)
class Answer:
    """Who had an address at a moment: who held it, who left as it, and, with a port, where that led."""

    address: Address
    port: int | None
    at: datetime
    holding: Holding | None
    leaving: list[NatMapping]
    more: int
    forwards: list[PortForward]
    ever: list[Holding]

    @property
    def alone(self) -> NatMapping | None:
        """The mapping of the one member who can have left with the port that was asked for."""
        one = len({mapping.holding.member_id for mapping in self.leaving}) == 1 and not self.more
        shared = any(mapping.sharing == Pool.Sharing.SHARED for mapping in self.leaving)
        return self.leaving[0] if self.port and one and not shared else None

    @property
    def nobody(self) -> bool:
        return not (self.holding or self.leaving or self.forwards)


def who_had(address: Address, port: int | None, at: datetime) -> Answer:
    """The one answer from these tables alone: no connection was ever logged for it."""
    leaving = left_as(address, at, port)
    number = leaving.count()
    forwards = list(port_led_to(address, port, at)) if port else []
    ever: QuerySet[Holding] = held_ever(address)[:MOST]
    return Answer(address, port, at, held_at(address, at).first(), list(leaving[:MOST]), max(0, number - MOST), forwards, list(ever))

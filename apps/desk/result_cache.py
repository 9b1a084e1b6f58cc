"""Cache of sums over all members, which take a moment in a large network: kept for some seconds there, always fresh in a small one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from django.core.cache import caches
from django.db.models import Count

from apps.lib.database.joint_reads import JointQuery
from apps.lib.web.request_cache import cache_per_request
from apps.members.models import Member
from apps.network.selectors import list_assigned_shares

MANY = 20_000  # number of members from which on sums are cached
SECONDS = 10


def get_cached[Value](key: str, make: Callable[[], Value]) -> Value:
    """Return the result of `make`, at most SECONDS old."""
    if count_members()["all"] < MANY:
        return make()
    known: Value | None = caches["local"].get(key)
    if known is None:
        known = make()
        caches["local"].set(key, known, SECONDS)
    return known


@dataclass(frozen=True)
class NetworkSums:
    """members: their number in all, in each state, and on trial. shares: how many of each pool are held, by its id."""

    members: Mapping[str, int]
    shares: Mapping[int, int]


def count_members() -> Mapping[str, int]:
    """Return the number of members in all, in each state, and on trial."""
    return _read_sums().members


def count_assigned_shares() -> Mapping[int, int]:
    """Return how many shares of each pool are held now, by the pool's id."""
    return _read_sums().shares


@cache_per_request
def _read_sums() -> NetworkSums:
    """Return the sums that every page of staff needs. One query."""
    known: NetworkSums | None = caches["local"].get("sums")
    if known is None:
        members, shares = _compile_sums().read()
        known = NetworkSums(_sum_by_view(members), dict(shares))
        if known.members["all"] >= MANY:
            caches["local"].set("sums", known, SECONDS)
    return known


@cache
def _compile_sums() -> JointQuery:
    groups = Member.objects.order_by().values_list("state", "tariff__trial").annotate(number=Count("pk"))
    return JointQuery([groups, list_assigned_shares()])


def _sum_by_view(groups: Sequence[tuple[str, bool, int]]) -> dict[str, int]:
    views = {state: sum(number for of, _trial, number in groups if of == state) for state in Member.State.values}
    return {**views, "trial": sum(number for _of, trial, number in groups if trial), "all": sum(number for *_of, number in groups)}

"""Cache of sums over all members, which take a moment in a large network: kept for some seconds there, always fresh in a small one."""

from collections.abc import Callable, Mapping

from django.core.cache import caches
from django.db.models import Count

from apps.lib.web.request_cache import cache_per_request
from apps.members.models import Member

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


@cache_per_request
def count_members() -> Mapping[str, int]:
    """Return the number of members in all, in each state, and on trial. One query."""
    known: Mapping[str, int] | None = caches["local"].get("members")
    if known is None:
        known = _read_counts()
        if known["all"] >= MANY:
            caches["local"].set("members", known, SECONDS)
    return known


def _read_counts() -> dict[str, int]:
    groups = list(Member.objects.order_by().values_list("state", "tariff__trial").annotate(number=Count("pk")))
    views = {state: sum(number for of, _trial, number in groups if of == state) for state in Member.State.values}
    return {**views, "trial": sum(number for _of, trial, number in groups if trial), "all": sum(number for *_of, number in groups)}

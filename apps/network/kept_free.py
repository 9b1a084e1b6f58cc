"""Shares of a pool that are kept free: the router's, a server's, the first ten of a new pool."""

from collections.abc import Iterator
from typing import Final

from apps.lib.fields import Prefix
from apps.network.models import Pool

KEPT_BY_DEFAULT: Final = 10  # shares of a new pool
_PART: Final = 8  # of a small pool at most an eighth


def choose_kept_first_count(pool: Pool) -> int:
    """Return how many first shares of a new pool are kept free: ten, or an eighth of a smaller pool; none of a public pool."""
    if pool.kind == Pool.Kind.PUBLIC4:
        return 0
    return min(KEPT_BY_DEFAULT, count_all_shares(pool) // _PART)


def count_all_shares(pool: Pool) -> int:
    """Return how many shares the pool has, also those that are kept free; without the first and last IPv4 address."""
    shares = 1 << (pool.member_length - pool.prefix.prefixlen)
    return int(shares) - 2 * _count_edge(pool)


def count_kept_shares(pool: Pool) -> int:
    """Return how many of the pool's shares are kept free."""
    first, last = _find_ends(pool)
    lowest = find_first_unkept(pool)
    ranges = _merge((max(low, first), min(high, last)) for low, high in [(first, lowest - 1), *_iter_ranges(pool)])
    return sum(high - low + 1 for low, high in ranges) >> _get_share_bits(pool)


def find_first_unkept(pool: Pool) -> int:
    """Return the number of the first address of the lowest share that is not kept by `kept_first`."""
    return _find_ends(pool)[0] + (pool.kept_first << _get_share_bits(pool))


def list_kept_prefixes(pool: Pool) -> list[Prefix]:
    """Return the entries of `kept`, each as large as a share at least, so that the next share begins behind its last address."""
    return [_widen(each, pool.member_length) for each in pool.kept]


def is_kept_free(pool: Pool, share: Prefix) -> bool:
    """True if this share of the pool is kept free."""
    number = int(share.network_address)
    return number < find_first_unkept(pool) or any(low <= number <= high for low, high in _iter_ranges(pool))


def _iter_ranges(pool: Pool) -> Iterator[tuple[int, int]]:
    return ((int(each.network_address), int(each.broadcast_address)) for each in list_kept_prefixes(pool))


def _merge(ranges: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the ranges in order, without overlaps and without empty ones."""
    reached = -1
    for low, high in sorted(ranges):
        if high > reached and high >= low:
            yield max(low, reached + 1), high
            reached = high


def _find_ends(pool: Pool) -> tuple[int, int]:
    """Return the first address of the first share, and the last address of the last share."""
    edge = _count_edge(pool)
    return int(pool.prefix.network_address) + edge, int(pool.prefix.broadcast_address) - edge


def _count_edge(pool: Pool) -> int:
    """Return 1 if the first and last address of the pool are never assigned (IPv4, larger than a /31)."""
    return int(pool.prefix.version == 4 and pool.prefix.prefixlen < 31)


def _get_share_bits(pool: Pool) -> int:
    return int(pool.prefix.max_prefixlen) - pool.member_length


def _widen(prefix: Prefix, length: int) -> Prefix:
    return prefix.supernet(new_prefix=length) if prefix.prefixlen > length else prefix

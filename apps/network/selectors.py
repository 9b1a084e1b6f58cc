"""Read queries for pools and holdings: who holds which address, and which are free."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address, IPv6Address, ip_network

from django.db import connection
from django.db.models import Count, QuerySet

from apps.lib.database.validity import is_valid_now, is_valid_now_or_later
from apps.lib.fields import Address, Prefix
from apps.lib.web.cached_rows import cache_rows
from apps.lib.web.frame_reads import read_with_frame
from apps.lib.web.request_cache import cache_per_request
from apps.members.models import Member
from apps.network.kept_free import count_all_shares, count_kept_shares, find_first_unkept, list_kept_prefixes
from apps.network.models import Gateway, Holding, Pool

# Prefer addresses that were never held: the next is right above the highest one ever held. Only if the pool is used up to its end, take
# the lowest gap between shares held now or later. A pool's first and last IPv4 address are never given, nor what is kept free. All shares
# of a pool have the same length, so the next share begins right behind the last address of the previous one, or of what is kept.
FREE = """
    WITH RECURSIVE usable AS (
        SELECT kind, prefix AS pool, member_length AS share, bits, set_masklen(broadcast(prefix), bits)::cidr AS top,
            set_masklen(%(lowest)s::inet, member_length)::cidr AS lowest, set_masklen(last - edge, bits) AS highest
        FROM network_pool, LATERAL (SELECT CASE family(prefix) WHEN 4 THEN 32 ELSE 128 END AS bits,
            (family(prefix) = 4 AND masklen(prefix) < 31)::int AS edge) a,
            LATERAL (SELECT set_masklen(broadcast(prefix), bits) AS last) b
        WHERE id = %(pool)s),
    kept AS (SELECT prefix, set_masklen(broadcast(prefix), masklen(top)) AS last FROM usable, unnest(%(kept)s::cidr[]) AS prefix),
    above AS (
        SELECT greatest(set_masklen(lowest, bits), last + 1) AS first FROM usable, LATERAL (
            SELECT set_masklen(broadcast(prefix), bits) AS last FROM network_holding h
            WHERE h.kind = usable.kind AND h.prefix BETWEEN pool AND top ORDER BY h.prefix DESC LIMIT 1) ever
        WHERE last < highest AND set_masklen(lowest, bits) <= highest
        UNION SELECT kept.last + 1 FROM above JOIN kept ON above.first <<= kept.prefix JOIN usable ON kept.last < highest),
    gap AS (
        SELECT set_masklen(lowest, bits) AS first FROM usable
        UNION SELECT last + 1 FROM usable, kept WHERE last < highest
        UNION SELECT last + 1 FROM usable, LATERAL (
            SELECT set_masklen(broadcast(prefix), bits) AS last, lead(prefix) OVER (ORDER BY prefix) AS above FROM network_holding h
            WHERE h.kind = usable.kind AND h.prefix BETWEEN pool AND top AND h.valid && tstzrange(statement_timestamp(), NULL)) held
        WHERE last < highest AND (above IS NULL OR last + 1 < set_masklen(above, bits)))
    SELECT coalesce(
        (SELECT set_masklen(first, share) FROM above, usable WHERE NOT EXISTS (SELECT FROM kept WHERE first <<= kept.prefix)
            ORDER BY first LIMIT 1),
        (SELECT set_masklen(first, share) FROM gap, usable
            WHERE first BETWEEN set_masklen(lowest, bits) AND highest AND NOT EXISTS (SELECT FROM kept WHERE first <<= kept.prefix)
                AND NOT EXISTS (SELECT FROM network_holding h
                    WHERE h.prefix && set_masklen(first, share) AND h.valid && tstzrange(statement_timestamp(), NULL))
            ORDER BY first LIMIT 1))::cidr
"""


def find_free_prefix(pool: Pool) -> Prefix | None:
    """Return the next address or prefix of the pool that is neither held now or later nor kept free; None when the pool is full."""
    lowest = find_first_unkept(pool)
    if lowest > int(pool.prefix.broadcast_address):
        return None
    address = IPv4Address(lowest) if pool.prefix.version == 4 else IPv6Address(lowest)
    given: dict[str, int | str | list[str]] = {
        "pool": pool.pk,
        "lowest": str(address),
        "kept": [str(each) for each in list_kept_prefixes(pool)],
    }
    with connection.cursor() as cursor:
        cursor.execute(FREE, given)
        found = cursor.fetchone()[0]
    return ip_network(found) if found else None


def count_member_shares(pool: Pool) -> int:
    """Return how many shares the pool has for members, without those that are kept free; for a public pool: how many addresses."""
    return count_all_shares(pool) - count_kept_shares(pool)


def list_pools() -> QuerySet[Pool]:
    """Return all pools by prefix: IPv4, then IPv6."""
    return Pool.objects.select_related("group").order_by("prefix")


@read_with_frame
def list_cached_pools() -> QuerySet[Pool]:
    """Return the same, read once for a page."""
    return list_pools()


@cache_per_request
def count_assigned_shares() -> Mapping[int, int]:
    """Return how many shares of each pool are held now, by the pool's id."""
    return dict(list_assigned_shares())


def list_assigned_shares() -> QuerySet[Holding, tuple[int, int]]:
    """Return the id of each pool of which shares are held now, and how many."""
    return Holding.objects.filter(is_valid_now()).order_by().values_list("pool").annotate(number=Count("pk"))


def list_held_now(member: Member) -> QuerySet[Holding]:
    """Return what the member holds now: IPv4 addresses, then IPv6 prefixes."""
    return Holding.objects.filter(is_valid_now(), member=member).select_related("device", "pool").order_by("prefix")


@cache_rows
def list_cached_holdings(member: Member) -> QuerySet[Holding]:
    """Return the same as `list_held_now`, read once for all parts of a page."""
    return list_held_now(member)


def list_pool_holdings(pool: Pool) -> QuerySet[Holding]:
    """Return the pool's current holdings, by address."""
    held = Holding.objects.filter(is_valid_now(), pool=pool, kind=pool.kind)
    return held.select_related("member", "device").order_by("kind", "prefix")


def find_overlapping_holding(prefix: Prefix) -> Holding | None:
    """Return a holding, now or later, that overlaps the prefix and so prevents another one."""
    return Holding.objects.filter(is_valid_now_or_later(), prefix__overlaps=prefix).select_related("member").first()


def list_holdings_at(address: Address, at: datetime) -> QuerySet[Holding]:
    """Return the holding of the address, or of the prefix around it, at that moment: one, or none."""
    held = Holding.objects.filter(prefix__covers=address, valid__contains=at)
    return held.select_related("member", "device", "pool")


def list_address_holdings(address: Address) -> QuerySet[Holding]:
    """Return all holdings that the address ever had, the last one first."""
    return Holding.objects.filter(prefix__covers=address).select_related("member", "device").order_by("-valid")


@dataclass(frozen=True, slots=True)
class PreviousHolder:
    """The previous holder of a holding's address."""

    holding: int
    member: int
    name: str


def list_previous_holders(holdings: Sequence[Holding]) -> Mapping[int, PreviousHolder]:
    """Return, by the holding's id, the last other member who held its address before; addresses without one are left out."""
    query = """
        SELECT asked.id, before.member_id, m.name FROM network_holding asked
        CROSS JOIN LATERAL (SELECT member_id FROM network_holding h WHERE h.prefix && asked.prefix::inet AND h.valid << asked.valid
            AND h.member_id <> asked.member_id ORDER BY h.valid DESC LIMIT 1) before
        JOIN members_member m ON m.id = before.member_id
        WHERE asked.id = ANY(%s)
    """
    with connection.cursor() as cursor:
        cursor.execute(query, [[holding.pk for holding in holdings]])
        return {pk: PreviousHolder(pk, member, name) for pk, member, name in cursor.fetchall()}


def list_own_prefixes() -> tuple[Prefix, ...]:
    """Return our own networks, to which the portal must not be made to connect: all pools, and the gateways' management networks."""
    pools = list(Pool.objects.values_list("prefix", flat=True))
    managed = [each for networks in Gateway.objects.values_list("management_networks", flat=True) for each in networks]
    return tuple(ip_network(each) for each in {*pools, *managed})

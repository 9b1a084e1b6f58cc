"""Read access to ban lists, bans and their hits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import BigIntegerField, Func, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Cast, Coalesce, Now

from apps.bans.models import AllowEntry, Ban, BanCount, BanFeed, BanHits, BanList, Direction
from apps.bans.prefixes import UnbannablePrefix, parse_ban_prefix
from apps.lib.fields import Prefix
from firewall.elements.bans import LENGTHS as BAN_LENGTHS


@dataclass(frozen=True, slots=True)
class Hits:
    """Packets and octets that a ban kept out, over all gateways, and when the last one came."""

    packets: int = 0
    octets: int = 0
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class BanListSummary:
    """A list, the number of its bans in force, and their hits."""

    list: BanList
    bans: int
    hits: Hits


def list_ban_lists() -> list[BanListSummary]:
    """Return all lists by name. Two queries, whatever their number."""
    stored = BanCount.objects.filter(list=OuterRef("pk")).values("list").annotate(all=_cast_to_bigint(Sum("number"))).values("all")
    expired = Ban.objects.filter(list=OuterRef("pk"), expires__lte=Now()).order_by()
    number = Func("pk", function="count", output_field=BigIntegerField())  # an aggregate would group the rows
    in_force = Coalesce(Subquery(stored), 0) - Subquery(expired.annotate(number=number).values("number"))
    hits = _sum_hits_by_list()
    return [BanListSummary(row, row.in_force, hits.get(row.pk, Hits())) for row in BanList.objects.annotate(in_force=in_force)]


def count_bans(banlist: BanList) -> int:
    """Return the number of bans on the list, expired ones included, without counting them."""
    return BanCount.objects.filter(list=banlist).aggregate(all=Sum("number"))["all"] or 0


def summarize_list(banlist: BanList, stored: int | None = None) -> BanListSummary:
    """Summarize one list. stored: the number of its bans, if it is known; expired ones are few, and found in an index."""
    stored = count_bans(banlist) if stored is None else stored
    expired = banlist.bans.order_by().filter(expires__lte=Now()).count()
    return BanListSummary(banlist, stored - expired, _sum_hits_by_list(banlist).get(banlist.pk, Hits()))


def find_feed(banlist: BanList) -> BanFeed | None:
    """Return the list's feed, without the content of an import that was held back."""
    return BanFeed.objects.filter(list=banlist).defer("held").select_related("list").first()


def _sum_hits_by_list(only: BanList | None = None) -> dict[int, Hits]:
    query = """
        SELECT b.list_id, sum(h.packets)::bigint, sum(h.octets)::bigint, max(h.last_hit)
        FROM bans_banhits h JOIN bans_ban b ON b.prefix = h.prefix
        WHERE %(list)s::bigint IS NULL OR b.list_id = %(list)s GROUP BY b.list_id
    """
    with connection.cursor() as cursor:
        cursor.execute(query, {"list": only.pk if only else None})
        return {pk: Hits(*sums) for pk, *sums in cursor.fetchall()}


def filter_unexpired_bans(bans: QuerySet[Ban]) -> QuerySet[Ban]:
    """Return the bans that have not expired."""
    return bans.filter(Q(expires=None) | Q(expires__gt=Now()))


def list_unexpired_allow_entries() -> QuerySet[AllowEntry]:
    """Return the allow entries that have not expired."""
    return AllowEntry.objects.filter(Q(expires=None) | Q(expires__gt=Now()))


def list_bans(list: BanList, search: str = "", direction: str = "") -> QuerySet[Ban]:
    """Return the list's bans by prefix, including expired ones.

    search: an address or prefix that they cover or lie in, or a part of the comment.
    """
    of_list = Ban.objects.filter(list=list, direction=direction) if direction in Direction else Ban.objects.filter(list=list)
    return search_bans(of_list, search).prefetch_related("author").order_by("prefix")


def search_bans(bans: QuerySet[Ban], search: str) -> QuerySet[Ban]:
    """Return the bans that match the text: an address or prefix that they cover or lie in, or a part of the comment."""
    text = search.strip().replace("\0", "")
    if not text:
        return bans
    prefix = _parse_prefix(text)
    if prefix is None:
        return bans.filter(comment__icontains=text)
    return bans.filter(Q(prefix__in=list_wider_prefixes(prefix)) | Q(prefix__within=prefix))


def list_covering_bans(prefix: Prefix) -> QuerySet[Ban]:
    """Return the bans in force, on any list that is on, that cover the whole prefix; the widest first."""
    bans = filter_unexpired_bans(Ban.objects.filter(list__enabled=True, prefix__in=[*list_wider_prefixes(prefix), prefix]))
    return bans.select_related("list").order_by("prefix", "id")


def map_hits(bans: Iterable[Ban]) -> Mapping[Prefix, Hits]:
    """Return the hits of these bans by prefix, in one query; bans that were never hit are missing."""
    rows = BanHits.objects.filter(prefix__in={ban.prefix for ban in bans}).values("prefix")
    return {row["prefix"]: Hits(row["all_packets"], row["all_octets"], row["last"]) for row in _annotate_sums(rows)}


def list_most_hit_prefixes(limit: int = 10) -> list[tuple[Prefix, Hits]]:
    """Return the prefixes with the most hits, including those of lifted bans."""
    rows = _annotate_sums(BanHits.objects.values("prefix")).order_by("-all_packets", "prefix")[:limit]
    return [(row["prefix"], Hits(row["all_packets"], row["all_octets"], row["last"])) for row in rows]


def _annotate_sums(rows: Any) -> Any:
    return rows.annotate(
        all_packets=_cast_to_bigint(Sum("packets")), all_octets=_cast_to_bigint(Sum("octets")), last=Max("last_hit")
    ).order_by()


def _cast_to_bigint(total: Sum) -> Cast:
    """Cast a sum to bigint, because PostgreSQL's sum of bigint is numeric."""
    return Cast(total, BigIntegerField())


def _parse_prefix(text: str) -> Prefix | None:
    try:
        return parse_ban_prefix(text)
    except UnbannablePrefix:
        return None


def list_wider_prefixes(prefix: Prefix) -> list[Prefix]:
    """Return every wider prefix that could be banned: few enough to look each up in the index, unlike the operator `>>=`."""
    return [prefix.supernet(new_prefix=length) for length in BAN_LENGTHS[prefix.version] if length < prefix.prefixlen]

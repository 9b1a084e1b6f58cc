"""Queries of usage: one member over time, top talkers, sums by group, and throughput of gateways.

Windows are half open, [since, until); buckets begin in UTC. All numbers are octets of IP packets. Sums count for the member who held
the address at the time of counting; sums by room, site or tariff use the member's room and tariff of today.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple

from django.db import connection, transaction
from django.db.models import F, Max, Min, Sum
from django.utils import timezone

from apps.lib.web.request_cache import cache_per_request
from apps.members.models import Member
from apps.network.models import Gateway, Holding
from apps.traffic.coverage import ReadingCoverage, get_coverage
from apps.traffic.models import Level, Span, Tally
from apps.traffic.rollup import EPOCH, UNITS
from apps.traffic.rollup_planner import build_union, plan_pieces

FOREVER: Final = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AllTimeUsage:
    """Octets from (up) and to (down) a member over all gateways and holdings since counting began.

    last: start of the newest bucket with usage.
    """

    up: int
    down: int
    since: datetime | None
    last: datetime | None


class OctetsByDirection(NamedTuple):
    """Octets by direction and IP version."""

    up4: int = 0
    down4: int = 0
    up6: int = 0
    down6: int = 0

    @property
    def up(self) -> int:
        return self.up4 + self.up6

    @property
    def down(self) -> int:
        return self.down4 + self.down6

    @property
    def total(self) -> int:
        return sum(self)


class MemberHolding(NamedTuple):
    """A holding of a member: its id, its kind, and the id of the gateway group that carries it."""

    pk: int
    kind: str
    group: int


class UsagePoint(NamedTuple):
    """One bucket of a series. octets: None in a gap, when no gateway was read. lost: part of what passed was never read."""

    start: datetime
    octets: OctetsByDirection | None
    lost: bool


class TopTalker(NamedTuple):
    """A member and their usage in the window, in octets."""

    member: int
    name: str
    up: int
    down: int

    @property
    def total(self) -> int:
        return self.up + self.down


class TalkerOrder(StrEnum):
    """Direction by which top talkers are ranked."""

    BOTH = "both"
    DOWN = "down"
    UP = "up"


class GroupedUsage(NamedTuple):
    """A room, site or tariff (pk None: members without one), its members' usage in octets, and the number of members with any usage."""

    pk: int | None
    name: str | None
    up: int
    down: int
    members: int

    @property
    def total(self) -> int:
        return self.up + self.down


class ThroughputBucket(NamedTuple):
    """Traffic of one IP version that a gateway carried in one bucket. octets, packets: up, then down."""

    gateway: int
    family: int
    start: datetime
    octets: tuple[int, int]
    packets: tuple[int, int]


class UsageGrouping(StrEnum):
    """Grouping of sums."""

    ROOM = "room"
    SITE = "site"
    TARIFF = "tariff"


_BY: Final = {
    UsageGrouping.ROOM: "SELECT m.id AS member, r.id AS pk, s.code || '-' || r.name AS name FROM members_member m"
    " LEFT JOIN members_room r ON r.id = m.room_id LEFT JOIN members_site s ON s.id = r.site_id",
    UsageGrouping.SITE: "SELECT m.id AS member, s.id AS pk, s.name FROM members_member m"
    " LEFT JOIN members_room r ON r.id = m.room_id LEFT JOIN members_site s ON s.id = r.site_id",
    UsageGrouping.TARIFF: "SELECT m.id AS member, t.id AS pk, t.name FROM members_member m JOIN members_tariff t ON t.id = m.tariff_id",
}
_UP_DOWN: Final = "holding_id, up_octets, down_octets"
_OF_MEMBER: Final = "holding_id = ANY(ARRAY(SELECT id FROM network_holding WHERE member_id = %s))"
_TOTAL: Final = "SELECT sum(up_octets), sum(down_octets), min(bucket), max(bucket) FROM ({rows}) u"
_BY_BUCKET: Final = """
    SELECT date_bin(%s, bucket, %s),
        coalesce(sum(up_octets) FILTER (WHERE holding_id = ANY(%s)), 0), coalesce(sum(down_octets) FILTER (WHERE holding_id = ANY(%s)), 0),
        coalesce(sum(up_octets) FILTER (WHERE holding_id <> ALL(%s)), 0), coalesce(sum(down_octets) FILTER (WHERE holding_id <> ALL(%s)), 0)
    FROM ({rows}) u GROUP BY 1
"""
_BY_HOLDING: Final = "SELECT holding_id, sum(up_octets)::bigint AS up, sum(down_octets)::bigint AS down FROM ({rows}) r GROUP BY 1"
# PostgreSQL has statistics on the number of members, but none on the number of holdings in a union of tables: so join before grouping
_OF_MEMBERS: Final = "SELECT h.member_id, u.up_octets, u.down_octets FROM ({rows}) u JOIN network_holding h ON h.id = u.holding_id"
_OF_SPAN: Final = "SELECT member_id, up_octets, down_octets FROM traffic_spanusage WHERE span_id = %s"
_BY_MEMBER: Final = """
    SELECT member_id AS member, traffic_total(up_octets) AS up, traffic_total(down_octets) AS down FROM ({rows}) o GROUP BY 1
"""
# Aggregates 100,000 members in memory and on all processors; tuples are cheap to pass because workers only exchange sums of groups
LARGE: Final = "SET LOCAL work_mem = '64MB'; SET LOCAL jit = off; SET LOCAL parallel_tuple_cost = 0.01"
_TOP: Final = """
    SELECT m.id, m.name, t.up, t.down FROM (SELECT * FROM ({by_member}) s ORDER BY {order} DESC, member LIMIT %s) t
    JOIN members_member m ON m.id = t.member ORDER BY {order} DESC, 1
"""
_ORDERS: Final = {TalkerOrder.BOTH: "up + down", TalkerOrder.DOWN: "down", TalkerOrder.UP: "up"}
_SUMS: Final = """
    SELECT g.pk, g.name, sum(u.up), sum(u.down), count(*) FROM ({by_member}) u JOIN ({groups}) g ON g.member = u.member
    GROUP BY 1, 2 ORDER BY sum(u.up) + sum(u.down) DESC, 1
"""


def get_all_time_usage(member: Member) -> AllTimeUsage:
    """Return the member's usage since counting began, as far as it is kept."""
    tallies = Tally.objects.filter(holding__member=member).aggregate(
        up=Sum("up_octets"), down=Sum("down_octets"), since=Min("since"), last=Max("last")
    )
    rows, given = build_union(plan_pieces(EPOCH, FOREVER, timezone.now(), UNITS[Level.Name.DAY]), f"bucket, {_UP_DOWN}", _OF_MEMBER)
    parameters = _interleave_parameter(given, member.pk)
    [(up, down, since, last)] = _fetch_rows(_TOTAL.format(rows=rows), parameters)
    return AllTimeUsage(
        (tallies["up"] or 0) + int(up or 0),
        (tallies["down"] or 0) + int(down or 0),
        min(filter(None, (tallies["since"], since)), default=None),
        max(filter(None, (tallies["last"], last)), default=None),
    )


@cache_per_request
def list_member_holdings(member: int) -> tuple[MemberHolding, ...]:
    """Return all present and past holdings of the member."""
    return tuple(MemberHolding(*row) for row in Holding.objects.filter(member=member).values_list("pk", "kind", "group"))


@cache_per_request
def list_gateway_ids(groups: frozenset[int]) -> tuple[int, ...]:
    """Return the ids of the gateways in these groups, also of retired ones: their readings cover the time before."""
    return tuple(Gateway.ever.filter(group__in=groups).values_list("pk", flat=True))


def build_member_series(member: Member, since: datetime, until: datetime, unit: timedelta, *, now: datetime) -> list[UsagePoint]:
    """Return the member's usage: a point for each bucket that begins in the window and before now. unit: a multiple of five minutes."""
    return _build_series(list_member_holdings(member.pk), since, until, unit, now)


def build_holding_series(holding: Holding, since: datetime, until: datetime, unit: timedelta, *, now: datetime) -> list[UsagePoint]:
    """Return the same series for a single holding."""
    return _build_series([MemberHolding(holding.pk, holding.kind, holding.group_id)], since, until, unit, now)


def find_last_reading(member: Member, since: datetime, until: datetime) -> datetime | None:
    """Return the last reading of any gateway that carries the member if it was more than PAUSE before `until`, otherwise None."""
    return _get_coverage(frozenset(each.group for each in list_member_holdings(member.pk)), since, until).find_last_reading(until)


@cache_per_request
def _get_coverage(groups: frozenset[int], since: datetime, until: datetime) -> ReadingCoverage:
    return get_coverage(list_gateway_ids(groups), since, until)


def _build_series(held: Sequence[MemberHolding], since: datetime, until: datetime, unit: timedelta, now: datetime) -> list[UsagePoint]:
    read = _get_coverage(frozenset(each.group for each in held), since, until)
    sums = _sum_by_bucket(held, since, until, unit, now)
    return [
        _build_point(start, unit, sums.get(start, OctetsByDirection()), read, now)
        for start in iter_bucket_starts(since, min(until, now), unit)
    ]


def _build_point(start: datetime, unit: timedelta, octets: OctetsByDirection, read: ReadingCoverage, now: datetime) -> UsagePoint:
    end = min(start + unit, now)
    return UsagePoint(start, None if not any(octets) and read.is_gap(start, end) else octets, read.has_loss(start, end))


def iter_bucket_starts(since: datetime, until: datetime, unit: timedelta) -> Iterator[datetime]:
    """Yield the starts of the buckets that begin in the window."""
    start = since - (since - EPOCH) % unit
    if start < since:
        start += unit
    while start < until:
        yield start
        start += unit


def _sum_by_bucket(
    held: Sequence[MemberHolding], since: datetime, until: datetime, unit: timedelta, now: datetime
) -> dict[datetime, OctetsByDirection]:
    rows, given = build_union(plan_pieces(since, until, now, unit), f"bucket, {_UP_DOWN}", "holding_id = ANY(%s)")
    parameters = _interleave_parameter(given, [each.pk for each in held])
    four = [each.pk for each in held if each.kind == "private4"]
    return {
        start: OctetsByDirection(*map(int, sums))
        for start, *sums in _fetch_rows(_BY_BUCKET.format(rows=rows), [unit, EPOCH, four, four, four, four, *parameters])
    }


def sum_member_usage(member: Member, since: datetime, until: datetime, *, now: datetime) -> OctetsByDirection:
    """Return the member's usage in the window."""
    sums = _sum_by_bucket(list_member_holdings(member.pk), since, until, UNITS[Level.Name.DAY], now)
    return OctetsByDirection(*map(sum, zip(OctetsByDirection(), *sums.values(), strict=True)))


def compare_usage(member: Member, since: datetime, until: datetime, *, now: datetime) -> tuple[OctetsByDirection, OctetsByDirection]:
    """Return the member's usage in the window, and in the window of the same length before it."""
    return sum_member_usage(member, since, until, now=now), sum_member_usage(member, since - (until - since), since, now=now)


def sum_usage_by_holding(holdings: Sequence[int], since: datetime, until: datetime, *, now: datetime) -> dict[int, OctetsByDirection]:
    """Return the usage of each of these holdings in the window, by the holding's id. Holdings without usage are left out."""
    rows, given = build_union(plan_pieces(since, until, now), _UP_DOWN, "holding_id = ANY(%s)")
    parameters = _interleave_parameter(given, list(holdings))
    sums = {pk: (int(up), int(down)) for pk, up, down in _fetch_rows(_BY_HOLDING.format(rows=rows), parameters)}
    kinds = Holding.objects.filter(pk__in=sums).values_list("pk", "kind")
    return {pk: OctetsByDirection(*sums[pk], 0, 0) if kind == "private4" else OctetsByDirection(0, 0, *sums[pk]) for pk, kind in kinds}


def sum_usage_by_member(members: Sequence[int], since: datetime, until: datetime, *, now: datetime) -> dict[int, OctetsByDirection]:
    """Return the usage of each of these members in the window, by the member's id; zero for members without usage."""
    holder = dict(Holding.objects.filter(member__in=members).values_list("pk", "member"))
    found = dict.fromkeys(members, OctetsByDirection())
    for holding, octets in sum_usage_by_holding(list(holder), since, until, now=now).items():
        found[holder[holding]] = OctetsByDirection(*map(sum, zip(found[holder[holding]], octets, strict=True)))
    return found


def list_top_talkers(
    since: datetime, until: datetime, *, now: datetime, limit: int = 10, order: TalkerOrder = TalkerOrder.BOTH
) -> list[TopTalker]:
    """Return the `limit` members with the most usage in the window, ranked by up, down or both together."""
    by_member, given = build_member_sums_sql(since, until, now)
    query = _TOP.format(by_member=by_member, order=_ORDERS[order])
    return [TopTalker(pk, name, int(up), int(down)) for pk, name, up, down in run_large_query(query, [*given, limit])]


def list_grouped_usage(by: UsageGrouping, since: datetime, until: datetime, *, now: datetime) -> list[GroupedUsage]:
    """Return the usage in the window by room, site or tariff, the largest first."""
    by_member, given = build_member_sums_sql(since, until, now)
    query = _SUMS.format(by_member=by_member, groups=_BY[by])
    return [GroupedUsage(pk, name, int(up), int(down), members) for pk, name, up, down, members in run_large_query(query, given)]


def build_member_sums_sql(since: datetime, until: datetime, now: datetime) -> tuple[str, list[Any]]:
    """Return SQL for rows of member, up and down in the window, and its parameters. It uses the longest precomputed span in the window."""
    span = _find_longest_span(since, until)
    found = [*plan_pieces(since, span.since, now), *plan_pieces(span.until, until, now)] if span else plan_pieces(since, until, now)
    rows, given = build_union(found, _UP_DOWN)
    of_members = _OF_MEMBERS.format(rows=rows)
    if span is None:
        return _BY_MEMBER.format(rows=of_members), given
    return _BY_MEMBER.format(rows=f"{of_members} UNION ALL {_OF_SPAN}"), [*given, span.pk]


def _find_longest_span(since: datetime, until: datetime) -> Span | None:
    """Return the longest precomputed span inside this window."""
    return Span.objects.filter(since__gte=since, until__lte=until).order_by(F("since") - F("until")).first()


def list_throughput(gateways: Sequence[int], since: datetime, until: datetime, unit: timedelta) -> list[ThroughputBucket]:
    """Return what each gateway carried of each IP version, by bucket. Buckets without traffic are left out."""
    query = """
        SELECT gateway_id, family, date_bin(%s, bucket, %s), sum(up_octets), sum(down_octets), sum(up_packets), sum(down_packets)
        FROM traffic_throughput WHERE gateway_id = ANY(%s) AND bucket >= %s AND bucket < %s GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    """
    found = _fetch_rows(query, [unit, EPOCH, list(gateways), since, until])
    return [ThroughputBucket(at, family, start, (int(a), int(b)), (int(c), int(d))) for at, family, start, a, b, c, d in found]


def run_large_query(query: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a query over all members' usage, run with the settings of LARGE."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(LARGE)
        return _fetch_rows(query, parameters)


def _interleave_parameter(given: Sequence[Any], asked: object) -> list[Any]:
    """Return the parameters of `build_union`, two for each piece, with the parameter of its condition after each pair."""
    return [each for pair in zip(given[::2], given[1::2], strict=True) for each in (*pair, asked)]


def _fetch_rows(query: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found

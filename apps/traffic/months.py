"""A member's usage by month, with the quota of the tariff that was in force then.

Months begin at midnight, local time. The member's tariff and the tariff's quota at the end of a month come from the history; where the
history has no answer, only the usage is known.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from django.db import connection
from django.utils.dateformat import format as format_date
from django.utils.timezone import get_current_timezone, localtime
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.audit.trail import get_trail
from apps.lib.ui import formats
from apps.lib.ui.charts import VOLUME
from apps.lib.ui.charts.bars import Bar, BarChartDrawing, draw_bars
from apps.members.models import Member
from apps.traffic.coverage import get_coverage
from apps.traffic.models import Quota
from apps.traffic.quotas import compute_month_bounds
from apps.traffic.rollup_planner import align_border, build_union, plan_pieces
from apps.traffic.selectors import MemberHolding, list_gateway_ids, list_member_holdings

NUMBER: Final = 12
_SUM: Final = "SELECT month, sum(up_octets), sum(down_octets) FROM ({rows}) u GROUP BY 1"


class MonthUsage(NamedTuple):
    """Usage of one month. up, down: octets; None where nothing was counted. tariff, quota: in force at its end, as far as known."""

    since: datetime
    until: datetime
    up: int | None
    down: int | None
    tariff: str = ""
    quota: int | None = None

    @property
    def total(self) -> int | None:
        return None if self.up is None or self.down is None else self.up + self.down

    @property
    def percent(self) -> int | None:
        return 100 * self.total // self.quota if self.quota and self.total is not None else None

    @property
    def words(self) -> str:
        """Month and year, like “November 2026”."""
        return format_date(self.since.astimezone(get_current_timezone()), pgettext("month", "F Y"))

    @property
    def limit(self) -> str:
        """Quota and tariff, like “500 GB (Standard)”; "" without a quota."""
        return f"{formats.format_volume(self.quota)} ({self.tariff})" if self.quota else ""


class QuotaInForce(NamedTuple):
    """A tariff's name and its quota in octets."""

    tariff: str
    octets: int


def list_months(member: Member, *, now: datetime) -> list[MonthUsage]:
    """Return the last twelve months, the oldest first; the last one is under way."""
    spans = list(_list_spans(now))
    held = list_member_holdings(member.pk)
    sums = _sum_by_month(held, spans, now)
    read = get_coverage(list_gateway_ids(frozenset(each.group for each in held)), spans[0][0], now)
    limits = _list_limits(member, [until for _since, until in spans])

    def one(number: int, since: datetime, until: datetime) -> MonthUsage:
        before = localtime(until).date() <= member.since or read.is_gap(since, min(until, now))
        up, down = sums.get(number, (None, None) if before else (0, 0))
        limit = limits[number] if up is not None else None
        return MonthUsage(since, until, up, down, *(limit or ()))

    return [one(number, since, until) for number, (since, until) in enumerate(spans)]


def _list_spans(now: datetime) -> Iterable[tuple[datetime, datetime]]:
    since, until = compute_month_bounds(now)
    found = [(since, until)]
    while len(found) < NUMBER:
        since, until = compute_month_bounds(since - timedelta(days=1))
        found.append((since, until))
    return reversed(found)


def _sum_by_month(held: Iterable[MemberHolding], spans: Iterable[tuple[datetime, datetime]], now: datetime) -> dict[int, tuple[int, int]]:
    """Return octets up and down by the month's index. Months in which nothing was counted are left out."""
    keys, parts, given = [each.pk for each in held], list[str](), list[Any]()
    for number, (since, until) in enumerate(spans):
        found = plan_pieces(align_border(since, now), min(align_border(until, now), now), now)
        rows, moments = build_union(found, f"{number} AS month, up_octets, down_octets", "holding_id = ANY(%s)")
        parts.append(rows)
        for first, last in zip(moments[::2], moments[1::2], strict=True):
            given += [first, last, keys]
    with connection.cursor() as cursor:
        cursor.execute(_SUM.format(rows=" UNION ALL ".join(parts)), given)
        return {number: (int(up), int(down)) for number, up, down in cursor.fetchall()}


def _list_limits(member: Member, ends: Iterable[datetime]) -> list[QuotaInForce | None]:
    """Return the quota at each of these moments, of the tariff that the member had then; None where there was none or none is known."""
    own = get_trail(Member).events.objects.filter(pgh_obj_id=member.pk)
    tariffs = list(own.order_by("pgh_id").values_list("pgh_created_at", "tariff_id"))
    events = get_trail(Quota).events.objects.filter(tariff_id__in={tariff for _at, tariff in tariffs}).order_by("pgh_id")
    quotas = list(events.values_list("pgh_created_at", "tariff_id", "tariff__name", "octets", "pgh_label"))
    return list(_iter_limits_in_force(tariffs, quotas, ends))


def _iter_limits_in_force(tariffs: list[Any], quotas: list[Any], ends: Iterable[datetime]) -> Iterator[QuotaInForce | None]:
    for end in ends:
        had = next((tariff for at, tariff in reversed(tariffs) if at < end), None)
        of = [row for row in quotas if row[0] < end and row[1] == had]
        yield QuotaInForce(of[-1][2], of[-1][3]) if of and of[-1][4] != "delete" else None


def draw_months(found: Iterable[MonthUsage]) -> BarChartDrawing:
    """Return a chart with a bar for each month's usage and a line at its quota."""
    below = pgettext("month below a chart", "M")
    bars = [Bar(format_date(localtime(each.since), below), each.words, each.total, each.quota) for each in found]
    return draw_bars("months", _("Traffic of the last twelve months"), bars, VOLUME)


def build_months_csv_head() -> list[str]:
    """Return the header row of the CSV."""
    return [_("Begins"), _("Ends"), _("Down, bytes"), _("Up, bytes"), _("Total, bytes"), _("Tariff"), _("Quota, bytes")]


def iter_months_csv_rows(found: Iterable[MonthUsage]) -> Iterator[list[object]]:
    """Yield the months as rows of CSV; cells are empty where nothing was counted or no quota is known."""
    for each in found:
        numbers = ["" if number is None else number for number in (each.down, each.up, each.total)]
        yield [localtime(each.since).isoformat(), localtime(each.until).isoformat(), *numbers, each.tariff, each.quota or ""]

"""Measures over a time, for charts: the highest value of each bucket, or None where there was no reading."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from django.db.models.functions import JSONObject
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.gateways.health.models import HealthReading, HealthSample
from apps.network.models import Gateway
from apps.traffic.windows import align_down

Span = HealthSample.Span
type Maxima = Mapping[str, float | None]


class ChartPeriod(StrEnum):
    """Period that the charts of a page show."""

    HOUR = "1h"
    EVENING = "10h"
    TWO_DAYS = "48h"
    WEEK = "7d"
    QUARTER = "90d"
    YEAR = "1y"


LABELS: Final[dict[ChartPeriod, Promise]] = {
    ChartPeriod.HOUR: _("1 h"),
    ChartPeriod.EVENING: _("10 h"),
    ChartPeriod.TWO_DAYS: _("48 h"),
    ChartPeriod.WEEK: _("7 days"),
    ChartPeriod.QUARTER: _("90 days"),
    ChartPeriod.YEAR: _("1 year"),
}
EACH: Final[dict[ChartPeriod, Promise]] = {
    ChartPeriod.HOUR: _("highest in each half minute"),
    ChartPeriod.EVENING: _("highest in each 5 minutes"),
    ChartPeriod.TWO_DAYS: _("highest in each 5 minutes"),
    ChartPeriod.WEEK: _("highest in each hour"),
    ChartPeriod.QUARTER: _("highest on each day, from 00:00 UTC"),
    ChartPeriod.YEAR: _("highest on each day, from 00:00 UTC"),
}
_HALF_MINUTE: Final = timedelta(seconds=30)
_SAMPLED: Final = {
    ChartPeriod.EVENING: (Span.FIVE_MINUTES, 120),
    ChartPeriod.TWO_DAYS: (Span.FIVE_MINUTES, 576),
    ChartPeriod.WEEK: (Span.HOUR, 168),
    ChartPeriod.QUARTER: (Span.DAY, 90),
    ChartPeriod.YEAR: (Span.DAY, 365),
}


@dataclass(frozen=True)
class MeasureSeries:
    """Values of all measures of several gateways over one time. starts: of the buckets; values: by gateway, a bucket's maxima or None."""

    starts: Sequence[datetime]
    end: datetime
    values: Mapping[int, Sequence[Maxima | None]]

    def get_line(self, gateway: Gateway, key: str, factor: float = 1.0) -> list[float | None]:
        """Return one measure, multiplied; None where it was not read."""
        found = (None if each is None else each.get(key) for each in self.values[gateway.pk])
        return [None if value is None else round(value * factor, 4) for value in found]


def parse_period(text: str) -> ChartPeriod:
    """Return the period that a query parameter names, or one hour."""
    return ChartPeriod(text) if text in ChartPeriod else ChartPeriod.HOUR


def read_series(gateways: Sequence[Gateway], period: ChartPeriod, keys: Sequence[str], now: datetime) -> MeasureSeries:
    """Return these measures over a period, up to the last bucket that is over. The database leaves out the others."""
    unit, count = (_HALF_MINUTE, 120) if period is ChartPeriod.HOUR else _get_buckets(period)
    end = align_down(now, unit)
    starts = [end - unit * (count - at) for at in range(count)]
    read = _read_half_minutes if period is ChartPeriod.HOUR else _read_samples
    found = {each.pk: read(each, keys, starts[0], end, unit) for each in gateways}
    values = {key: [buckets.get(start) for start in starts] for key, buckets in found.items()}
    return _drop_unread_end(MeasureSeries(starts, end, values))


def _get_buckets(period: ChartPeriod) -> tuple[timedelta, int]:
    span, count = _SAMPLED[period]
    return timedelta(seconds=span), count


def _read_half_minutes(gateway: Gateway, keys: Sequence[str], since: datetime, until: datetime, unit: timedelta) -> dict[datetime, Maxima]:
    """Return the maxima of the readings in each bucket, by its beginning."""
    rows = HealthReading.objects.filter(gateway=gateway, at__gte=since, at__lt=until).order_by("at")
    found: dict[datetime, dict[str, float]] = {}
    for at, measures in rows.exclude(measures={}).values_list("at", _pick("measures", keys)):
        bucket = found.setdefault(align_down(at, unit), {})
        for key, value in measures.items():
            if value is not None:
                bucket[key] = max(value, bucket.get(key, value))
    return dict(found)


def _read_samples(gateway: Gateway, keys: Sequence[str], since: datetime, until: datetime, unit: timedelta) -> dict[datetime, Maxima]:
    """Return the maxima of each bucket that is summed up, by its beginning."""
    rows = HealthSample.objects.filter(gateway=gateway, span=int(unit.total_seconds()), begin__gte=since, begin__lt=until)
    return dict(rows.values_list("begin", _pick("maxima", keys)))


def _pick(column: str, keys: Sequence[str]) -> JSONObject:
    """Return an expression for the column with these keys alone; null for those that it lacks."""
    return JSONObject(**{key: f"{column}__{key}" for key in keys})


def _drop_unread_end(series: MeasureSeries) -> MeasureSeries:
    """Return it without the last bucket if nothing of it is there yet: it may be summed up in a moment, and is no gap."""
    if any(each[-1] is not None for each in series.values.values()):
        return series
    return MeasureSeries(series.starts[:-1], series.starts[-1], {key: each[:-1] for key, each in series.values.items()})

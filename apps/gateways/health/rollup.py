"""Sums health readings up to five minutes, hours and days. Doing it twice, late or after a pause changes nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final, NamedTuple

from django.db import transaction
from django.db.models import Max

from apps.gateways.health.models import HealthReading, HealthSample
from apps.network.models import Gateway
from apps.traffic.windows import align_down

Span = HealthSample.Span
COARSER: Final = {Span.HOUR: Span.FIVE_MINUTES, Span.DAY: Span.HOUR}
GRACE: Final = timedelta(seconds=30)
"""Time after the end of a bucket in which its last reading may still be stored."""


class MeasuredPart(NamedTuple):
    """A part of a bucket: when it began, and its averages and maxima by key."""

    begin: datetime
    averages: Mapping[str, float]
    maxima: Mapping[str, float]


def sum_up(now: datetime) -> None:
    """Write every bucket that is over and not written yet."""
    for gateway in Gateway.ever.filter(health__isnull=False):
        with transaction.atomic():
            _sum_readings(gateway, now)
            for span, parts in COARSER.items():
                _sum_samples(gateway, span, parts, now)


def _sum_readings(gateway: Gateway, now: datetime) -> None:
    since, until = _find_open_time(gateway, Span.FIVE_MINUTES, now)
    rows = HealthReading.objects.filter(gateway=gateway, at__gte=since, at__lt=until).order_by("at").values_list("at", "measures")
    _write(gateway, Span.FIVE_MINUTES, [MeasuredPart(at, measures, measures) for at, measures in rows if measures])


def _sum_samples(gateway: Gateway, span: Span, of: Span, now: datetime) -> None:
    since, until = _find_open_time(gateway, span, now)
    rows = HealthSample.objects.filter(gateway=gateway, span=of, begin__gte=since, begin__lt=until).order_by("begin")
    _write(gateway, span, [MeasuredPart(*row) for row in rows.values_list("begin", "averages", "maxima")])


def _find_open_time(gateway: Gateway, span: Span, now: datetime) -> tuple[datetime, datetime]:
    """Return the end of the last bucket that is over and written, and of the last one that is over.

    What is written of later buckets was read while the clock was ahead.
    """
    unit = timedelta(seconds=span)
    until = align_down(now - GRACE, unit)
    last = HealthSample.objects.filter(gateway=gateway, span=span, begin__lt=until).aggregate(last=Max("begin"))["last"]
    return (last + unit if last else datetime.min.replace(tzinfo=now.tzinfo, year=1970)), until


def _write(gateway: Gateway, span: Span, parts: Sequence[MeasuredPart]) -> None:
    unit = timedelta(seconds=span)
    rows = [
        HealthSample(gateway=gateway, span=span, begin=begin, averages=averages, maxima=maxima)
        for begin, averages, maxima in _iter_buckets(parts, unit)
    ]
    HealthSample.objects.bulk_create(rows, ignore_conflicts=True)


def _iter_buckets(parts: Iterable[MeasuredPart], unit: timedelta) -> Iterator[MeasuredPart]:
    for begin, group in groupby(parts, key=lambda part: align_down(part.begin, unit)):
        of_bucket = list(group)
        averages = combine_averages([each.averages for each in of_bucket])
        yield MeasuredPart(begin, averages, combine_maxima([each.maxima for each in of_bucket]))


def combine_averages(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the average of each measure over the parts that have it, parts of equal length."""
    return {key: round(sum(values) / len(values), 4) for key, values in _group_by_key(parts)}


def combine_maxima(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the maximum of each measure."""
    return {key: max(values) for key, values in _group_by_key(parts)}


def _group_by_key(parts: Sequence[Mapping[str, float]]) -> Iterator[tuple[str, list[float]]]:
    for key in sorted({key for part in parts for key in part}):
        yield key, [part[key] for part in parts if key in part]

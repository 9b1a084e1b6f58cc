"""Factories for rows of usage without gateways: counted octets, and the times when gateways were read."""

from datetime import datetime, timedelta

from apps.network.models import Gateway, Holding
from apps.traffic import partitions, rollup
from apps.traffic.models import Coverage, Day, FiveMinutes, Level, Throughput

FIVE = timedelta(minutes=5)


def read(gateways: list[Gateway], since: datetime, until: datetime, *, carried: bool = True) -> None:
    """Record that each of the gateways was read from `since` to `until`. carried: as in Coverage."""
    rollup.ensure_levels(since)
    Coverage.objects.bulk_create(Coverage(gateway=gateway, since=since, until=until, carried=carried) for gateway in gateways)


def count_usage(holding: Holding, at: datetime, *, up: int = 0, down: int = 0) -> None:
    """Add usage in octets to the five minutes that contain this moment."""
    bucket = rollup.compute_bucket_start("fiveminutes", at)
    partitions.ensure_partition("fiveminutes", bucket)
    packets = {"up_packets": up and 1, "down_packets": down and 1}
    FiveMinutes.objects.create(holding_id=holding.pk, bucket=bucket, up_octets=up, down_octets=down, **packets)


def count_throughput(gateway: Gateway, family: int, at: datetime, *, up: int = 0, down: int = 0) -> None:
    """Record the gateway's throughput in octets, in packets of 1000, in the five minutes that contain this moment."""
    numbers = {"up_octets": up, "up_packets": up // 1000, "down_octets": down, "down_packets": down // 1000}
    Throughput.objects.create(gateway=gateway, family=family, bucket=rollup.compute_bucket_start("fiveminutes", at), **numbers)


def count_days(holding: Holding, since: datetime, until: datetime) -> None:
    """Record an octet that the holding sent on each day from the one of `since` to the last that is over at `until`.

    Nothing else is kept of that time; it is rolled up to days, and not yet to weeks.
    """
    rollup.ensure_levels(until)
    partitions.ensure_between("day", since, until)
    first = rollup.compute_bucket_start("day", since)
    counted = {"up_octets": 1, "up_packets": 1, "down_octets": 0, "down_packets": 0}
    for number in range((until - first).days):
        Day.objects.create(holding_id=holding.pk, bucket=first + timedelta(days=number), **counted)
    Level.objects.filter(name__in=("week", "fourweeks")).update(complete_until=rollup.compute_bucket_start("fourweeks", first))

"""Usage for the demo network: a day of five-minute buckets, weeks of hours and a year of days, with an outage without readings.

It is plausible: most traffic is in the evening, a few members use most of it, and there is more IPv6 than IPv4. The same seed and
the same moment give the same usage.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import cos, exp, pi
from random import Random
from typing import Final, NamedTuple

from django.db import connection
from django.utils.timezone import get_current_timezone

from apps.accounts.models import User
from apps.members.models import Tariff
from apps.network.models import Gateway, Holding, Pool
from apps.traffic import partitions, rollup
from apps.traffic.models import Coverage, Level, Throughput
from apps.traffic.quotas import set_tariff_quota

HOUR, DAY = (rollup.UNITS[name] for name in (Level.Name.HOUR, Level.Name.DAY))
FILLED: Final = {Level.Name.FIVE_MINUTES: timedelta(hours=26), Level.Name.HOUR: timedelta(days=15), Level.Name.DAY: timedelta(days=400)}
RATES: Final = FILLED | {Level.Name.HOUR: timedelta(days=31)}  # for throughput, of which charts show hours for longer
AWAKE: Final = (6, 3, 2, 1, 1, 1, 2, 4, 5, 6, 6, 7, 8, 8, 8, 9, 10, 12, 15, 19, 22, 23, 19, 12)  # weight by hour of the local day
OUTAGE: Final = (timedelta(days=3, hours=14), timedelta(hours=5))  # how long ago it began, and how long it lasted
A_DAY: Final = 4_000_000_000  # octets down, about the median of members
OCTETS_UP, OCTETS_DOWN = 420, 1180  # per packet
QUOTA: Final = 500 * 10**9


@dataclass(frozen=True, slots=True)
class UsageHabit:
    """The octets that a holding receives in a day, the part of that which it sends, and its period of validity."""

    holding: int
    family: int
    down: float
    up: float
    since: datetime
    until: datetime | None


class UsageMoment(NamedTuple):
    """A bucket, and the part of a day's traffic in it: 0 during the outage."""

    start: datetime
    unit: timedelta
    part: float


def seed_usage(seed: int, now: datetime, by: User) -> None:
    """Create usage of all holdings, throughput of the gateways, and coverage by readings; set a quota. The database must have none yet."""
    random = Random(seed)  # noqa: S311 - made-up traffic is not a secret
    habits = list(_iter_habits(random))
    rollup.ensure_levels(now)
    borders = _compute_borders(FILLED, now)
    for level, (since, until) in borders.items():
        partitions.ensure_between(level, since, now)
        Level.objects.filter(name=level).update(kept_since=since)
        _fill(level, random, habits, _iter_moments(level, since, until, now))
    for level in rollup.FINER:
        Level.objects.filter(name=level).update(complete_until=_compute_complete_until(level, borders, now))
        rollup.roll_up(level, now)
    for level, (since, until) in _compute_borders(RATES, now).items():
        _carry(random, habits, _iter_moments(level, since, until, now))
    _cover(borders[Level.Name.DAY][0], now)
    set_tariff_quota(tariff=Tariff.objects.get(name="Standard"), octets=QUOTA, by=by)


def _compute_complete_until(level: Level.Name, borders: Mapping[Level.Name, tuple[datetime, datetime]], now: datetime) -> datetime:
    """Return up to when the level is filled; for a level that is only rolled up, from where on."""
    if level in borders:
        return borders[level][1]
    return rollup.compute_bucket_start(level, now if level == Level.Name.TODAY else borders[Level.Name.DAY][0])


def _compute_borders(filled: Mapping[Level.Name, timedelta], now: datetime) -> dict[Level.Name, tuple[datetime, datetime]]:
    """Return from when to when each level is filled: each ends where the finer one begins."""
    days = rollup.compute_bucket_start(Level.Name.DAY, now - filled[Level.Name.DAY])
    hours = rollup.compute_bucket_start(Level.Name.DAY, now - filled[Level.Name.HOUR])
    fives = rollup.compute_bucket_start(Level.Name.HOUR, now - filled[Level.Name.FIVE_MINUTES])
    end = rollup.compute_bucket_start(Level.Name.FIVE_MINUTES, now)
    return {Level.Name.DAY: (days, hours), Level.Name.HOUR: (hours, fives), Level.Name.FIVE_MINUTES: (fives, end)}


def _iter_habits(random: Random) -> Iterator[UsageHabit]:
    """Yield the habits by member: a few members use most, and about half of it is IPv6 for members with a prefix."""
    rows = Holding.objects.order_by("member__number", "kind", "prefix").values_list("pk", "member", "kind", "valid")
    much = {member: exp(random.gauss(0, 0.9)) for member in dict.fromkeys(member for _pk, member, _kind, _valid in rows)}
    for pk, member, kind, valid in rows:
        down = A_DAY * much[member] * random.uniform(0.2, 0.6)
        yield UsageHabit(pk, 4 if kind == Pool.Kind.PRIVATE4 else 6, down, random.uniform(0.04, 0.3), valid.lower, valid.upper)


def _iter_moments(level: Level.Name, since: datetime, until: datetime, now: datetime) -> Iterator[UsageMoment]:
    zone, unit, begun = get_current_timezone(), rollup.UNITS[level], _compute_outage_start(now)
    start = since
    while start < until:
        local = start.astimezone(zone)
        part = 1.0 if unit == DAY else AWAKE[local.hour] / sum(AWAKE) * (unit / HOUR)
        out = unit != DAY and begun <= start < begun + OUTAGE[1]
        yield UsageMoment(start, unit, 0.0 if out else part * _compute_season_factor(local))
        start += unit


def _compute_season_factor(local: datetime) -> float:
    """Return the factor for a day.

    There is more from Friday to Sunday and in winter, and a third less in August and September, when the house is half empty.
    """
    week = 1.25 if local.weekday() >= 4 else 1.0
    return week * (1 + 0.2 * cos(2 * pi * local.timetuple().tm_yday / 365)) * (0.67 if local.month in (8, 9) else 1.0)


def _compute_outage_start(now: datetime) -> datetime:
    return rollup.compute_bucket_start(Level.Name.HOUR, now - OUTAGE[0])


def _fill(level: Level.Name, random: Random, habits: list[UsageHabit], moments: Iterable[UsageMoment]) -> None:
    table = partitions.TABLES[level]._meta.db_table
    statement = f"COPY {table} (holding_id, bucket, up_octets, up_packets, down_octets, down_packets) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(statement) as writing:
        for moment in moments:
            writing.write("".join(_iter_copy_lines(random, habits, moment)))


def _iter_copy_lines(random: Random, habits: list[UsageHabit], moment: UsageMoment) -> Iterator[str]:
    """Yield lines for COPY. At night there is often no traffic, and now and then there is a large download."""
    start, bucket = moment.start, moment.start.isoformat()
    awake = 1.0 if moment.unit == DAY else 25 * moment.part * (HOUR / moment.unit)
    for habit in habits:
        if random.random() > awake or start < habit.since or (habit.until is not None and habit.until <= start):
            continue
        down = int(habit.down * moment.part * (0.5 + random.random()) * (3 if random.random() < 0.02 else 1))
        up = int(down * habit.up * (0.6 + 0.8 * random.random()))
        yield f"{habit.holding}\t{bucket}\t{up}\t{up // OCTETS_UP + 1}\t{down}\t{down // OCTETS_DOWN + 1}\n"


def _carry(random: Random, habits: list[UsageHabit], moments: Iterable[UsageMoment]) -> None:
    """Create throughput: IPv4 at the gateway that carries it, IPv6 at the other, about as much as all holdings use."""
    gateways = {4: Gateway.objects.get(carries4=True), 6: Gateway.objects.get(carries6=True)}
    sums = {family: sum(habit.down for habit in habits if habit.family == family and habit.until is None) for family in gateways}
    rows = (
        _build_throughput(gateways[family], family, moment, sums[family] * moment.part * (0.85 + 0.3 * random.random()))
        for moment in moments
        if moment.part
        for family in gateways
    )
    Throughput.objects.bulk_create(rows, batch_size=2000)


def _build_throughput(gateway: Gateway, family: int, moment: UsageMoment, down: float) -> Throughput:
    octets = {"down_octets": int(down), "down_packets": int(down / OCTETS_DOWN), "up_octets": int(down / 6)}
    return Throughput(gateway=gateway, family=family, bucket=moment.start, up_packets=int(down / 6 / OCTETS_UP), **octets)


def _cover(since: datetime, now: datetime) -> None:
    begun = _compute_outage_start(now)
    stretches = ((since, begun - timedelta(minutes=1)), (begun + OUTAGE[1], now))
    Coverage.objects.bulk_create(
        Coverage(gateway=gateway, since=first, until=last, carried=False) for gateway in Gateway.objects.all() for first, last in stretches
    )

"""Usage of holdings in the partitions of each level.

While years pass, usage is written for a part of the holdings, enough to see whether partitions go in time. At the end everybody's
is added that would be kept then.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from benchmarks.years import rates

WRITE: Final = """
    INSERT INTO {table} (holding_id, bucket, up_octets, up_packets, down_octets, down_packets)
    SELECT h.id, bucket, 1000000 + h.id, 1000, 9000000 + h.id, 9000
    FROM generate_series(%(first)s::timestamptz, %(until)s::timestamptz - %(unit)s, %(unit)s::interval) bucket
    CROSS JOIN (SELECT id, valid FROM network_holding WHERE (id / 2 %% %(sampled)s = 0) = %(sample)s ORDER BY id) h
    WHERE h.valid @> bucket AND random() < %(active)s ON CONFLICT DO NOTHING
"""


def begin_usage(start: datetime) -> None:
    """Declare every level complete at the start: nothing earlier exists."""
    from apps.traffic import rollup

    rollup.ensure_levels(start)


def write_sampled_usage(since: datetime, until: datetime) -> None:
    """Write usage of the sampled holdings, and say that it is rolled up."""
    from apps.traffic.models import Level
    from apps.traffic.rollup import compute_bucket_start

    _write(since, until, sample=True)
    for level in Level.objects.all():
        level.complete_until = compute_bucket_start(level.name, until)
        level.save(update_fields=["complete_until"])


def write_everybodys_usage(since: datetime, until: datetime) -> None:
    """Write usage of all other holdings, as far as it is kept at that time."""
    _write(since, until, sample=False)


def _write(since: datetime, until: datetime, *, sample: bool) -> None:
    from django.db import connection

    from apps.traffic import partitions
    from apps.traffic.models import Level
    from apps.traffic.rollup import UNITS, compute_bucket_start

    for level, share in rates.ACTIVE.items():
        unit, name = UNITS[Level.Name(level)], Level.Name(level)
        first = compute_bucket_start(level, max(since, until - timedelta(days=Level(name=name).days)))
        last = compute_bucket_start(level, until)
        partitions.ensure_between(level, first, last)
        given: dict[str, Any] = {"first": first, "until": last, "unit": unit, "sampled": rates.SAMPLED, "sample": sample, "active": share}
        with connection.cursor() as cursor:
            cursor.execute(WRITE.format(table=partitions.TABLES[level]._meta.db_table), given)

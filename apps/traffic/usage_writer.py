"""Writes what a reading adds: usage of holdings (by COPY), throughput of the gateway, and its coverage in time.

Call everything here in the transaction that also saves the reading's baseline.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network
from typing import Any, Final, NamedTuple

from django.db import connection

from apps.network.models import Gateway
from apps.traffic import partitions, rollup
from apps.traffic.models import Coverage, Level
from firewall.counters import NftSetTraffic, OwnerTraffic
from firewall.sets import parse_prefix_length

PAUSE: Final = timedelta(minutes=5)  # a longer pause between two readings is a gap

STAGE: Final = """
    CREATE TEMPORARY TABLE IF NOT EXISTS traffic_passed (
        owner bigint, prefix cidr, up_octets bigint, up_packets bigint, down_octets bigint, down_packets bigint
    ) ON COMMIT DELETE ROWS;
    TRUNCATE traffic_passed
"""
ADD: Final = """
    WITH owned AS (
        SELECT h.id AS holding_id, p.* FROM traffic_passed p JOIN network_holding h ON h.id = p.owner WHERE p.owner > 0
        UNION ALL
        SELECT h.id, p.* FROM traffic_passed p
        JOIN network_holding h ON h.prefix = p.prefix AND h.valid @> %(at)s::timestamptz WHERE p.owner = 0
    )
    INSERT INTO traffic_fiveminutes AS known (holding_id, bucket, up_octets, up_packets, down_octets, down_packets)
    SELECT holding_id, %(bucket)s, sum(up_octets), sum(up_packets), sum(down_octets), sum(down_packets)
    FROM owned GROUP BY 1 ORDER BY 1
    ON CONFLICT (holding_id, bucket) DO UPDATE SET
        up_octets = known.up_octets + excluded.up_octets, up_packets = known.up_packets + excluded.up_packets,
        down_octets = known.down_octets + excluded.down_octets, down_packets = known.down_packets + excluded.down_packets
"""
NOBODYS: Final = """
    SELECT count(*), (array_agg(coalesce('holding ' || nullif(p.owner, 0), p.prefix::text) ORDER BY p.owner, p.prefix))[1]
    FROM traffic_passed p
    WHERE NOT EXISTS (
        SELECT FROM network_holding h
        WHERE CASE WHEN p.owner > 0 THEN h.id = p.owner ELSE h.prefix = p.prefix AND h.valid @> %(at)s::timestamptz END
    )
"""
THROUGHPUT: Final = """
    INSERT INTO traffic_throughput AS known (gateway_id, family, bucket, up_octets, up_packets, down_octets, down_packets)
    VALUES (%(gateway)s, %(family)s, %(bucket)s, %(up_octets)s, %(up_packets)s, %(down_octets)s, %(down_packets)s)
    ON CONFLICT (gateway_id, family, bucket) DO UPDATE SET
        up_octets = known.up_octets + excluded.up_octets, up_packets = known.up_packets + excluded.up_packets,
        down_octets = known.down_octets + excluded.down_octets, down_packets = known.down_packets + excluded.down_packets
"""

type OwnerCounts = list[int]  # octets and packets up, octets and packets down


class UnownedElements(NamedTuple):
    """Number of elements that belong to no known holding, and the first of them."""

    number: int
    first: str


def get_open_bucket(at: datetime) -> datetime:
    """Return the start of the five-minute bucket for a reading taken at this moment: the current one, or the oldest that is still open."""
    open_since = rollup.lock_oldest_open_bucket(at)
    return max(rollup.compute_bucket_start(Level.Name.FIVE_MINUTES, at), open_since)


def add_usage(passed: Mapping[str, Iterable[OwnerTraffic]], at: datetime, bucket: datetime) -> UnownedElements:
    """Add what members' elements counted to the usage of their holdings. An element without an owner counts for the holding that has
    its address at this moment.

    Return the elements that belong to no holding; they are not counted.
    """
    partitions.ensure_partition(Level.Name.FIVE_MINUTES, bucket)
    rows = 0
    with connection.cursor() as cursor:
        cursor.execute(STAGE)
        with cursor.copy("COPY traffic_passed (owner, prefix, up_octets, up_packets, down_octets, down_packets) FROM STDIN") as copy:
            for lines in _iter_copy_lines(passed):
                rows += len(lines)
                copy.write("".join(lines))
        cursor.execute(ADD, {"at": at, "bucket": bucket})
        if cursor.rowcount == rows:
            return UnownedElements(0, "")
        cursor.execute(NOBODYS, {"at": at})
        number, first = cursor.fetchone()
        return UnownedElements(number, first or "")


def _iter_copy_lines(passed: Mapping[str, Iterable[OwnerTraffic]]) -> Iterator[list[str]]:
    """Yield the lines for COPY, one list for each kind of address (the part of a set's name after "up" or "down")."""
    for kind in sorted({name.removeprefix("up").removeprefix("down") for name in passed if name.startswith(("up", "down"))}):
        rows: dict[tuple[int, bytes], OwnerCounts] = {}
        for at, way in ((0, "up"), (2, "down")):
            for owner, key, packets, octets in passed.get(way + kind, ()):
                row = rows.setdefault((owner, b"" if owner else key), [0, 0, 0, 0])
                row[at] += octets
                row[at + 1] += packets
        yield [
            f"{owner}\t{_build_prefix(kind, key) if key else '\\N'}\t{a}\t{b}\t{c}\t{d}\n" for (owner, key), (a, b, c, d) in rows.items()
        ]


def _build_prefix(kind: str, key: bytes) -> IPv4Network | IPv6Network:
    return IPv4Network(key) if kind == "4" else IPv6Network((key, parse_prefix_length(kind)))


def add_throughput(gateway: Gateway, passed: Mapping[str, NftSetTraffic], bucket: datetime) -> None:
    """Add the sums over all members' elements, with or without an owner, to the gateway's throughput."""
    with connection.cursor() as cursor:
        for family in (4, 6):
            sums = {f"{way}_{what}": _sum(passed, f"{way}{family}", what) for way in ("up", "down") for what in ("octets", "packets")}
            if any(sums.values()):
                facts: dict[str, Any] = {"gateway": gateway.pk, "family": family, "bucket": bucket}
                cursor.execute(THROUGHPUT, facts | sums)


def _sum(passed: Mapping[str, NftSetTraffic], start: str, what: str) -> int:
    return sum(sum(getattr(some, what)) for name, some in passed.items() if name.startswith(start))


def record_coverage(gateway: Gateway, at: datetime, *, continues: bool) -> None:
    """Record that the gateway was read at this moment. continues: nothing was lost since the previous reading.

    Extends the gateway's last stretch, or begins a new one after a pause longer than PAUSE or where something may be lost. A stretch
    of which a clock that was ahead says that it ends later is left alone.
    """
    last = Coverage.objects.filter(gateway=gateway, until__lte=at).order_by("-until").first()
    if last and continues and at - last.until <= PAUSE:
        Coverage.objects.filter(pk=last.pk).update(until=at)
    else:
        Coverage.objects.create(gateway=gateway, since=at, until=at, carried=continues)

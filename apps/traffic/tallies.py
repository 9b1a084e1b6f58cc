"""Counters of the kernel in, sums per holding out. One statement per reading; a silent member costs no row.

A counter that is smaller than last time began anew (reboot, rebuilt table, address given back and held again). The same reading
twice adds nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from apps.lib.fields import Prefix
from apps.network.models import Gateway


@dataclass(frozen=True, slots=True)
class Counted:
    """One holding's counters: packets and octets, from the member and to the member."""

    up_packets: int = 0
    up_octets: int = 0
    down_packets: int = 0
    down_octets: int = 0


RECORD: Final = """
    MERGE INTO traffic_tally AS known
    USING (
        SELECT h.id AS holding, r.* FROM unnest(%(prefixes)s::cidr[], %(up_packets)s::bigint[], %(up_octets)s::bigint[],
            %(down_packets)s::bigint[], %(down_octets)s::bigint[]) AS r (prefix, up_packets, up_octets, down_packets, down_octets)
        JOIN network_holding h ON h.prefix = r.prefix AND h.valid @> %(at)s::timestamptz
    ) AS read
    ON known.gateway_id = %(gateway)s AND known.holding_id = read.holding
    WHEN MATCHED AND (read.up_octets, read.down_octets) = (known.counter_up_octets, known.counter_down_octets) THEN DO NOTHING
    WHEN MATCHED THEN UPDATE SET
        up_packets = known.up_packets + read.up_packets
            - CASE WHEN read.up_octets >= known.counter_up_octets THEN known.counter_up_packets ELSE 0 END,
        up_octets = known.up_octets + read.up_octets
            - CASE WHEN read.up_octets >= known.counter_up_octets THEN known.counter_up_octets ELSE 0 END,
        down_packets = known.down_packets + read.down_packets
            - CASE WHEN read.down_octets >= known.counter_down_octets THEN known.counter_down_packets ELSE 0 END,
        down_octets = known.down_octets + read.down_octets
            - CASE WHEN read.down_octets >= known.counter_down_octets THEN known.counter_down_octets ELSE 0 END,
        counter_up_packets = read.up_packets, counter_up_octets = read.up_octets,
        counter_down_packets = read.down_packets, counter_down_octets = read.down_octets, last = %(at)s
    WHEN NOT MATCHED THEN INSERT (gateway_id, holding_id, up_packets, up_octets, down_packets, down_octets,
            counter_up_packets, counter_up_octets, counter_down_packets, counter_down_octets, since, last)
        VALUES (%(gateway)s, read.holding, read.up_packets, read.up_octets, read.down_packets, read.down_octets,
            read.up_packets, read.up_octets, read.down_packets, read.down_octets, %(at)s, %(at)s)
"""


def record(*, gateway: Gateway, readings: Mapping[Prefix, Counted], at: datetime) -> None:
    """Add a gateway's counters, by prefix, read at this moment, to what is known of whoever holds the prefix then."""
    if not readings:
        return
    columns = ("up_packets", "up_octets", "down_packets", "down_octets")
    facts: dict[str, Any] = {column: [getattr(counted, column) for counted in readings.values()] for column in columns}
    facts |= {"gateway": gateway.pk, "at": at, "prefixes": [str(prefix) for prefix in readings]}
    with connection.cursor() as cursor:
        cursor.execute(RECORD, facts)

"""How often each ban was hit: counters of the kernel in, sums over counter resets out.

A counter that is smaller than last time began anew (reboot, rebuilt table, ban lifted and made again). A reading delivered twice
changes nothing; neither does one that is older than the last hit.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import connection

from apps.bans.models import Direction
from apps.lib.fields import Prefix
from apps.network.models import Gateway

RECORD: Final = """
    MERGE INTO bans_banhits AS known
    USING unnest(%(prefixes)s::cidr[], %(directions)s::text[], %(packets)s::bigint[], %(octets)s::bigint[])
        AS read (prefix, direction, packets, octets)
    ON known.gateway_id = %(gateway)s AND known.prefix = read.prefix AND known.direction = read.direction
    WHEN MATCHED AND %(at)s < known.last_hit OR (read.packets, read.octets) = (known.counter_packets, known.counter_octets) THEN
        DO NOTHING
    WHEN MATCHED AND (read.packets < known.counter_packets OR read.octets < known.counter_octets) THEN
        UPDATE SET packets = known.packets + read.packets, octets = known.octets + read.octets,
            last_hit = CASE WHEN read.packets > 0 THEN %(at)s ELSE known.last_hit END,
            counter_packets = read.packets, counter_octets = read.octets
    WHEN MATCHED THEN
        UPDATE SET packets = known.packets + read.packets - known.counter_packets,
            octets = known.octets + read.octets - known.counter_octets, last_hit = %(at)s,
            counter_packets = read.packets, counter_octets = read.octets
    WHEN NOT MATCHED AND read.packets > 0 THEN
        INSERT (gateway_id, prefix, direction, packets, octets, last_hit, counter_packets, counter_octets)
        VALUES (%(gateway)s, read.prefix, read.direction, read.packets, read.octets, %(at)s, read.packets, read.octets)
"""


type Counters = Mapping[tuple[Prefix, Direction], tuple[int, int]]


def record(*, gateway: Gateway, readings: Counters, at: datetime) -> None:
    """Add a gateway's counters, (packets, octets) by element, read at this moment, to what is known. One statement."""
    if not readings:
        return
    facts: dict[str, Any] = {
        "gateway": gateway.pk,
        "at": at,
        "prefixes": [str(prefix) for prefix, _direction in readings],
        "directions": [direction.value for _prefix, direction in readings],
        "packets": [packets for packets, _octets in readings.values()],
        "octets": [octets for _packets, octets in readings.values()],
    }
    with connection.cursor() as cursor:
        cursor.execute(RECORD, facts)

"""Hits of bans: adds up what a gateway's counters counted between two readings (firewall/counters.py)."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from typing import Any, Final

from django.db import connection

from apps.bans.models import Direction
from apps.network.models import Gateway
from firewall.counters import OwnerTraffic
from firewall.elements.bans import FAMILIES
from firewall.sets import parse_prefix_length, split_set_name

RECORD: Final = """
    INSERT INTO bans_banhits AS known (gateway_id, prefix, direction, packets, octets, last_hit)
    SELECT %(gateway)s, prefix, direction, packets, octets, %(at)s
    FROM unnest(%(prefixes)s::cidr[], %(directions)s::text[], %(packets)s::bigint[], %(octets)s::bigint[])
        AS passed (prefix, direction, packets, octets)
    ON CONFLICT (gateway_id, prefix, direction) DO UPDATE SET
        packets = known.packets + excluded.packets, octets = known.octets + excluded.octets,
        last_hit = greatest(known.last_hit, excluded.last_hit)
"""
DIRECTIONS: Final = {start: Direction(direction) for direction, start in FAMILIES.items()}


def record_hits(*, gateway: Gateway, passed: Mapping[str, Iterable[OwnerTraffic]], at: datetime) -> None:
    """Add the counts of a gateway's ban elements, by set, up to this moment. One statement, which belongs in the reading's transaction."""
    rows = list(_iter_rows(passed))
    if not rows:
        return
    prefixes, directions, packets, octets = zip(*rows, strict=True)
    facts: dict[str, Any] = {"gateway": gateway.pk, "at": at, "prefixes": list(prefixes), "directions": list(directions)}
    with connection.cursor() as cursor:
        cursor.execute(RECORD, facts | {"packets": list(packets), "octets": list(octets)})


def _iter_rows(passed: Mapping[str, Iterable[OwnerTraffic]]) -> Iterator[tuple[str, str, int, int]]:
    """Yield prefix, direction, packets and octets of each element, once: advance() has added up an element that was deleted and
    added again.
    """
    for name, some in passed.items():
        start = split_set_name(name)[0]
        if (direction := DIRECTIONS.get(start[:-1])) is None:
            continue
        network, length = IPv4Network if start.endswith("4") else IPv6Network, parse_prefix_length(name)
        yield from ((str(network((each.key, length))), direction.value, each.packets, each.octets) for each in some)

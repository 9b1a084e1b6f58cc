"""A list that a feed fills: each day some bans come and as many go, in hourly imports. Only history remembers those that are gone."""

from datetime import timedelta
from typing import Any, Final

from benchmarks.years import rates
from benchmarks.years.month import SimulatedMonth

# Bans are numbered as they come. Ban k comes in an import at this time, and goes when ban k + size comes.
COMES: Final = """date_bin(%(every)s, %(start)s::timestamptz
    + greatest({ordinal} - %(size)s, 0) * interval '1 day' / %(a_day)s, %(start)s)"""
CONTEXTS: Final = """
    INSERT INTO pghistory_context (id, created_at, updated_at, metadata)
        SELECT md5('feed' || at)::uuid, at, at, '{"user": null, "cause": "import into feed"}'
        FROM (SELECT DISTINCT COMES AS at FROM generate_series(%(since)s, %(until)s - 1) k) imports
        WHERE NOT EXISTS (SELECT FROM pghistory_context c WHERE c.id = md5('feed' || at)::uuid)
"""
EVENTS: Final = """
    INSERT INTO bans_banevent (pgh_created_at, pgh_label, pgh_obj_id, id, version, prefix, comment, created, list_id, pgh_context_id)
        SELECT at, label, k + 1, k + 1, 1, ('11.0.0.0'::inet + k)::cidr, 'seen ' || k %% 9 || ' times', created, 1, md5('feed' || at)::uuid
        FROM (
            SELECT k, 'insert' AS label, COMES AS at, COMES AS created FROM generate_series(%(since)s, %(until)s - 1) k
            UNION ALL
            SELECT k, 'delete', LEAVES, COMES FROM generate_series(greatest(%(since)s - %(size)s, 0), %(until)s - %(size)s - 1) k
        ) changes ORDER BY at
"""
REMOVE: Final = "DELETE FROM bans_ban WHERE list_id = 1 AND id <= %(until)s - %(size)s"
ADD: Final = """
    INSERT INTO bans_ban (id, version, list_id, prefix, comment, created)
        SELECT k + 1, 1, 1, ('11.0.0.0'::inet + k)::cidr, 'seen ' || k %% 9 || ' times', COMES
        FROM generate_series(greatest(%(since)s, %(until)s - %(size)s), %(until)s - 1) k
"""
HITS: Final = """
    INSERT INTO bans_banhits (gateway_id, prefix, packets, octets, last_hit)
        SELECT g.id, b.prefix, 10, 600, %(end)s FROM network_gateway g
        CROSS JOIN LATERAL (SELECT prefix FROM bans_ban WHERE list_id = 1 ORDER BY id LIMIT %(count)s) b
    ON CONFLICT (gateway_id, prefix, direction) DO UPDATE SET last_hit = excluded.last_hit
"""


def write_feed(month: SimulatedMonth) -> None:
    """Write what the feed brings and takes in a month, and which of its bans were hit."""
    size, a_day = rates.FEED * month.members, max(rates.FEED_A_DAY * month.members, 1)
    since = _count_come(month.begin - month.start, size, a_day) if month.number else 0
    until = _count_come(month.end - month.start, size, a_day)
    given: dict[str, Any] = {
        "since": since,
        "until": until,
        "size": size,
        "a_day": a_day,
        "start": month.start,
        "every": timedelta(days=1) / rates.IMPORTS_A_DAY,
    }
    for query in (CONTEXTS, EVENTS, REMOVE, ADD):
        comes, leaves = COMES.replace("{ordinal}", "k"), COMES.replace("{ordinal}", "(k + %(size)s)")
        month.write(query.replace("COMES", comes).replace("LEAVES", leaves), **given)
    month.write(HITS, rates.HITS_A_DAY * month.members * 30)


def _count_come(passed: timedelta, size: int, a_day: float) -> int:
    """Return how many bans have come after that time."""
    return size + int(passed / timedelta(days=1) * a_day)

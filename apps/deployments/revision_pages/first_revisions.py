"""Finds the first revision that contains a change. A change that waited for approval or failed went out with a later revision."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db import connection

from apps.audit.entries import HistoryEntry, WriteStamp

# A row stores only the lower 32 bits of its transaction's id: the full id is the nearest such id to those of the revision's time.
FIRST = """
    SELECT change.n, first.id
    FROM unnest(%(times)s::timestamptz[], %(transactions)s::bigint[], %(groups)s::bigint[]) WITH ORDINALITY AS change(at, xid, group_id, n)
    JOIN network_gatewaygroup g ON g.id = change.group_id OR change.group_id IS NULL
    CROSS JOIN LATERAL (
        SELECT v.id FROM deployments_revision v, LATERAL (SELECT pg_snapshot_xmax(v.snapshot)::text::bigint AS newest) s,
            LATERAL (SELECT ((change.xid - s.newest) %% (1::bigint << 32) + (1::bigint << 32)) %% (1::bigint << 32) AS ahead) d,
            LATERAL (SELECT s.newest + d.ahead - CASE WHEN d.ahead < 1::bigint << 31 THEN 0 ELSE 1::bigint << 32 END AS xid) whole
        WHERE v.group_id = g.id AND v.created >= change.at - interval '1 hour'
            AND whole.xid > 0 AND pg_visible_in_snapshot(whole.xid::text::xid8, v.snapshot)
        ORDER BY v.created, v.id LIMIT 1
    ) first
    ORDER BY change.n, first.id
"""


def attach_revisions_to_history(entries: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """Return the entries of a history, each with the first revisions that contain its change."""
    found = find_first_revisions([entry.stamp for entry in entries])
    return [replace(entry, revisions=tuple(revisions)) for entry, revisions in zip(entries, found, strict=True)]


def find_first_revisions(stamps: Sequence[WriteStamp | None]) -> list[list[int]]:
    """Return for each stamp the ids of the first revisions that saw it, one per group that it concerns; in one query.

    Clocks may differ by an hour: the snapshot decides what a revision saw; the time only says where to start looking.
    """
    known = [(place, stamp) for place, stamp in enumerate(stamps) if stamp]
    found: list[list[int]] = [[] for _ in stamps]
    parameters: dict[str, Any] = {
        "times": [stamp.at for _place, stamp in known],
        "transactions": [stamp.transaction for _place, stamp in known],
        "groups": [stamp.group for _place, stamp in known],
    }
    with connection.cursor() as cursor:
        cursor.execute(FIRST, parameters)
        for number, revision in cursor.fetchall():
            found[known[number - 1][0]].append(revision)
    return found

"""Finds the objects that changed since an earlier read: those that triggers noted, and those that began or ended by time alone.

Triggers (migrations/deployments/0001) note ids and keys only, so that a write costs almost nothing more. This module resolves an id: the
addresses of a member, the forwards of a holding, the bans of a list. Called within the snapshot that reads the objects' current values.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import connection

from apps.deployments.rule_kinds.kind import MOST_TOUCHED, TimedRows
from apps.deployments.rule_kinds.registry import KINDS
from firewall.policy import TouchedKeys

KEPT = "1 hour"
PRUNED_AT_ONCE = 20_000

# Notes of transactions that the earlier snapshot did not see. A note "pruned" stands for notes that were already deleted; its key
# is the last transaction of those. A reader that saw all transactions up to that one, or the pruning itself, misses nothing.
NOTED = """
    SELECT DISTINCT kind, key FROM deployments_touched
    WHERE xid >= pg_snapshot_xmin(%(seen)s::pg_snapshot) AND NOT pg_visible_in_snapshot(xid, %(seen)s::pg_snapshot)
        AND (kind <> 'pruned' OR key::xid8 >= pg_snapshot_xmin(%(seen)s::pg_snapshot))
"""
BETWEEN = {  # what expires does so for the gateways with the second in which it ends (ban_entries.NOT_ENDED_SQL)
    "valid": "lower(valid) BETWEEN %(since)s AND %(until)s OR upper(valid) BETWEEN %(since)s AND %(until)s",
    "expires": "expires BETWEEN %(second)s AND %(until)s",
}


def _build_timed_query(rows: TimedRows) -> str:
    return f"SELECT '{rows.note}', {rows.text} FROM {rows.table} WHERE {BETWEEN[rows.column]}"  # noqa: S608 - constants


TIMED = [_build_timed_query(rows) for kind in KINDS.values() for rows in kind.timed]
TOUCHED = " UNION ALL ".join([f"({NOTED} LIMIT {MOST_TOUCHED} + 1)", *TIMED]) + f" LIMIT {MOST_TOUCHED} + 1"
NOTES = [notes for kind in KINDS.values() for notes in kind.notes]
TARIFFS = f"SELECT id::text FROM members_member WHERE tariff_id = ANY(%s::bigint[]) LIMIT {MOST_TOUCHED} + 1"  # noqa: S608 - a constant
HOLDINGS = "SELECT id, prefix::text FROM network_holding WHERE id = ANY(%s::bigint[]) OR member_id = ANY(%s::bigint[])"
PRUNE = """
    WITH old AS (
        DELETE FROM deployments_touched WHERE id IN (
            SELECT id FROM deployments_touched WHERE at < statement_timestamp() - %s::interval ORDER BY xid LIMIT %s
        ) RETURNING xid
    )
    INSERT INTO deployments_touched (kind, key) SELECT 'pruned', max(xid::text::numeric) FROM old HAVING count(*) > 0
"""


def find_touched_objects(seen: str, since: datetime, until: datetime) -> TouchedKeys | None:
    """Return the objects that may differ from what the snapshot `seen` saw at `since`. None when everything has to be read."""
    first, last = min(since, until), max(since, until)  # the clock may have been set back
    moments = {"seen": seen, "since": first, "second": first.replace(microsecond=0), "until": last}
    notes = _fetch_rows(TOUCHED, moments)
    of: dict[str, set[str]] = defaultdict(set)
    for kind, key in notes:
        of[kind].add(key)
    if len(notes) > MOST_TOUCHED or of.keys() & {"everything", "pruned"}:
        return None
    _add_dependents(of)
    if sum(map(len, of.values())) > MOST_TOUCHED:
        return None
    keys: dict[str, set[Any]] = defaultdict(set)
    for each in NOTES:
        keys[each.field] |= {key for text in of[each.note] for key in each.parse(text)}
    return TouchedKeys(**keys)


def _add_dependents(of: dict[str, set[str]]) -> None:
    """Add what is touched indirectly: members of tariffs, addresses of holdings and members, and what belongs to holdings or lists."""
    if of["tariff"]:
        of["member"] |= _get_first_column(_fetch_rows(TARIFFS, [list(of["tariff"])]))
    holdings = _fetch_rows(HOLDINGS, [list(of["holding"]), list(of["member"])]) if of["holding"] or of["member"] else []
    of["address"] |= {prefix for _pk, prefix in holdings}
    changed = {"holding": [pk for pk, _prefix in holdings], "list": list(of["list"])}
    for notes in NOTES:
        if changed.get(notes.follows):
            of[notes.note] |= _get_first_column(_fetch_rows(notes.query, [changed[notes.follows]]))


def _get_first_column(rows: Iterable[tuple[Any, ...]]) -> set[str]:
    return {row[0] for row in rows}


def prune_change_notes() -> None:
    """Delete old notes, a bounded number at a time. A reader whose last snapshot is older than these has to read everything."""
    with connection.cursor() as cursor:
        cursor.execute(PRUNE, [KEPT, PRUNED_AT_ONCE])


def _fetch_rows(query: str, parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows

"""Queries of events."""

from dataclasses import dataclass
from typing import Final

from django.db import connection

from apps.events.event_types import PublishedEvent
from apps.events.stream_position import StreamPosition

KEPT: Final = 3600  # seconds
MARGIN: Final = 60  # seconds before KEPT ends: older positions count as missed, because their events may be pruned at any time
MAX_EVENTS_PER_BATCH: Final = 1_000  # events in one batch; a subscriber that missed more gets a reset

NOW = "SELECT extract(epoch FROM statement_timestamp())::bigint, pg_current_snapshot()::text"
# One statement: it returns exactly the events that its own snapshot sees and the given one does not, however late a transaction
# committed.
SINCE = """
    WITH asked AS MATERIALIZED (SELECT %s::pg_snapshot AS seen)
    SELECT extract(epoch FROM statement_timestamp())::bigint, pg_current_snapshot()::text,
        pg_snapshot_xmax(asked.seen) > pg_snapshot_xmax(pg_current_snapshot()), e.kind, e.object_id, e.state, e.member_id, e.own,
        e.transaction::text::bigint
    FROM asked LEFT JOIN LATERAL (
        SELECT * FROM events_event
        WHERE transaction >= pg_snapshot_xmin(asked.seen) AND NOT pg_visible_in_snapshot(transaction, asked.seen)
        ORDER BY id LIMIT %s
    ) e ON true
    ORDER BY e.id
"""


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events up to a position. missed: there were too many events, or some may already have been pruned."""

    position: StreamPosition
    events: tuple[PublishedEvent, ...] = ()
    missed: bool = False


def get_current_position() -> StreamPosition:
    """Return the current position. Everything committed so far is before it."""
    with connection.cursor() as cursor:
        cursor.execute(NOW)
        return StreamPosition(*cursor.fetchone())


def list_events_since(position: StreamPosition) -> EventBatch:
    """Return each event of a transaction that the position did not see, exactly once, in the order in which they were written."""
    with connection.cursor() as cursor:
        cursor.execute(SINCE, [position.snapshot, MAX_EVENTS_PER_BATCH + 1])
        rows = cursor.fetchall()
    seconds, snapshot, of_another_database = rows[0][:3]
    events = tuple(PublishedEvent(*row[3:]) for row in rows if row[3] is not None)
    known = -MARGIN <= seconds - position.seconds <= KEPT - MARGIN
    here = StreamPosition(seconds, snapshot)
    return (
        EventBatch(here, events)
        if known and not of_another_database and len(events) <= MAX_EVENTS_PER_BATCH
        else EventBatch(here, missed=True)
    )

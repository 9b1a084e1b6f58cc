"""Reading events."""

from dataclasses import dataclass
from typing import Final

from django.db import connection

from apps.events.event_types import PublishedEvent
from apps.events.stream_position import StreamPosition

KEPT: Final = 3600  # seconds
MARGIN: Final = 60  # seconds before the end of that: what is just being forgotten counts as gone
MOST: Final = 1_000  # events at once; who missed more looks at everything again

NOW = "SELECT extract(epoch FROM statement_timestamp())::bigint, pg_current_snapshot()::text"
# One statement: what it returns is exactly what its own snapshot saw and the other did not, however late a transaction committed.
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
    """What happened, up to which position. missed: more than can be told, or longer ago than anything is kept."""

    position: StreamPosition
    events: tuple[PublishedEvent, ...] = ()
    missed: bool = False


def get_current_position() -> StreamPosition:
    """Everything that has been committed is before it."""
    with connection.cursor() as cursor:
        cursor.execute(NOW)
        return StreamPosition(*cursor.fetchone())


def list_events_since(position: StreamPosition) -> EventBatch:
    """Each event of a transaction that the position did not see, in the order in which they were written; each exactly once."""
    with connection.cursor() as cursor:
        cursor.execute(SINCE, [position.snapshot, MOST + 1])
        rows = cursor.fetchall()
    seconds, snapshot, of_another_database = rows[0][:3]
    events = tuple(PublishedEvent(*row[3:]) for row in rows if row[3] is not None)
    known = -MARGIN <= seconds - position.seconds <= KEPT - MARGIN
    here = StreamPosition(seconds, snapshot)
    return EventBatch(here, events) if known and not of_another_database and len(events) <= MOST else EventBatch(here, missed=True)

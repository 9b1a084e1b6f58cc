"""How each gateway stands, and since when it has each of the given rows: one query, however many rows and gateways there are.

Takes rows as the transactions that last wrote them, and returns one standing for each gateway in service, ordered by name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from apps.deployments.approvals.kinds import SPECIAL
from apps.lib.models import Deployed

_STANDINGS = """
    SELECT g.id, g.name, g.group_id, gg.live_since IS NOT NULL, s.unreachable_since, coalesce(s.error, '') <> '', h.revision_id,
        r.id, r.state, r.revision_id,
        (SELECT st.state FROM deployments_rolloutstep st WHERE st.rollout_id = r.id AND st.gateway_id = g.id),
        ARRAY(SELECT concat_ws(' ', w.id, w.kind, w.digest) FROM deployments_heldback w
            WHERE w.group_id = g.group_id AND w.state = 'waiting' AND w.kind <> ALL(%(special)s) ORDER BY w.id),
        EXISTS (SELECT FROM deployments_databaserestore WHERE agreed IS NULL),
        its.numbers, its.times
    FROM network_gateway g
    JOIN network_gatewaygroup gg ON gg.id = g.group_id
    LEFT JOIN deployments_gatewaystate s ON s.gateway_id = g.id
    LEFT JOIN deployments_hold h ON h.group_id = g.group_id AND h.released IS NULL
    LEFT JOIN LATERAL (
        SELECT id, state, revision_id FROM deployments_rollout WHERE group_id = g.group_id ORDER BY id DESC LIMIT 1
    ) r ON true
    CROSS JOIN LATERAL (
        SELECT array_agg(asked.number) AS numbers, array_agg(
            CASE WHEN pg_visible_in_snapshot(asked.xid, s.snapshot) THEN coalesce(
                (SELECT st.confirmed FROM deployments_rolloutstep st
                    JOIN deployments_rollout r ON r.id = st.rollout_id JOIN deployments_revision v ON v.id = r.revision_id
                    WHERE st.gateway_id = g.id AND st.confirmed >= asked.at AND pg_visible_in_snapshot(asked.xid, v.snapshot)
                    ORDER BY st.confirmed LIMIT 1),
                asked.at) END) AS times
        FROM unnest(%(numbers)s::int[], %(xids)s::xid8[], %(times)s::timestamptz[], %(groups)s::bigint[])
            AS asked(number, xid, at, group_id)
        WHERE asked.group_id = g.group_id OR asked.group_id IS NULL
    ) its
    WHERE g.retired IS NULL
    ORDER BY g.name
"""


@dataclass(frozen=True, slots=True)
class GatewayStanding:
    """State of a gateway: silent or in error, the hold of its group, the group's last rollout and the gateway's step in it.

    parts: what is held back in its group, each “id kind digest”. restored: a restore of the database holds all gateways back.
    numbers, times: the rows that concern the gateway, by their place among the given ones, and since when it has each; None: not yet.
    """

    pk: int
    name: str
    group: int
    live: bool
    silent_since: datetime | None
    error: bool
    held_at: int | None
    rollout: int | None
    state: str | None
    revision: int | None
    step: str | None
    parts: list[str]
    restored: bool
    numbers: list[int] | None
    times: list[datetime | None] | None

    def iter_rows(self) -> Iterator[tuple[int, datetime | None]]:
        """Yield the place of each row that concerns the gateway, and since when the gateway has it."""
        return zip(self.numbers or (), self.times or (), strict=True)


def load_standings(rows: Sequence[Deployed]) -> list[GatewayStanding]:
    """Return how each gateway in service stands, with the rows of its group, and rows without a group (bans), which concern all."""
    parameters: dict[str, Any] = {
        "special": list(SPECIAL),
        "numbers": list(range(len(rows))),
        "xids": [str(row.changed_in) for row in rows],
        "times": [row.changed_at for row in rows],
        "groups": [getattr(row, "group_id", None) for row in rows],
    }
    with connection.cursor() as cursor:
        cursor.execute(_STANDINGS, parameters)
        return [GatewayStanding(*row) for row in cursor.fetchall()]

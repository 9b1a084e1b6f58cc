"""How each gateway stands, and since when it has each of the given rows: one query, however many rows and gateways there are.

Takes rows as the transactions that last wrote them, and returns one standing for each gateway in service, ordered by name. The query is
a function of the database (migrations/deployments/0007), because to plan it takes longer than to run it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from apps.deployments.approvals.kinds import SPECIAL
from apps.lib.models import Deployed

_STANDINGS = """
    SELECT id, name, group_id, live, silent_since, error, held_at, rollout, state, revision, step, parts, restored, row_numbers, row_times
    FROM deployments_gateway_standings(
        %(special)s, %(numbers)s::int[], %(xids)s::xid8[], %(times)s::timestamptz[], %(groups)s::bigint[]
    )
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

"""Reading what the gateways run, and since when a given row is part of it."""

from collections.abc import Iterable, Mapping

from django.db import connection
from django.db.models import QuerySet

from apps.deployments.models import GatewayState, Rollout
from apps.lib.activation import Activation
from apps.lib.models import Deployed

ACTIVATIONS = """
    SELECT asked.id, g.name, CASE WHEN pg_visible_in_snapshot(asked.xid, s.snapshot) THEN coalesce(
        (SELECT st.confirmed FROM deployments_rolloutstep st
            JOIN deployments_rollout r ON r.id = st.rollout_id JOIN deployments_revision v ON v.id = r.revision_id
            WHERE st.gateway_id = g.id AND st.confirmed >= asked.at AND pg_visible_in_snapshot(asked.xid, v.snapshot)
            ORDER BY st.confirmed LIMIT 1),
        asked.at) END
    FROM unnest(%(ids)s::bigint[], %(xids)s::xid8[], %(times)s::timestamptz[], %(groups)s::bigint[]) AS asked(id, xid, at, group_id)
    JOIN network_gateway g ON g.group_id = asked.group_id OR asked.group_id IS NULL
    LEFT JOIN deployments_gatewaystate s ON s.gateway_id = g.id
    ORDER BY asked.id, g.name
"""


def activations(rows: Iterable[Deployed]) -> Mapping[int, list[Activation]]:
    """For each row, by its id, what each gateway has of it: those of its group, or all for a row without one (a ban)."""
    asked = list(rows)
    found: dict[int, list[Activation]] = {row.pk: [] for row in asked}
    parameters = {
        "ids": [row.pk for row in asked],
        "xids": [str(row.changed_in) for row in asked],
        "times": [row.changed_at for row in asked],
        "groups": [getattr(row, "group_id", None) for row in asked],
    }
    with connection.cursor() as cursor:
        cursor.execute(ACTIVATIONS, parameters)
        for pk, gateway, since in cursor.fetchall():
            found[pk].append(Activation(gateway, since))
    return found


def last_rollouts() -> QuerySet[Rollout]:
    """Rollouts, the newest first, with what their rows show."""
    return Rollout.objects.select_related("revision__by", "group").prefetch_related("steps__gateway").order_by("-id")


def gateway_states() -> QuerySet[GatewayState]:
    """What each gateway runs."""
    return GatewayState.objects.select_related("gateway__group", "revision").order_by("gateway__name")

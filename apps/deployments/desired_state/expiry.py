"""Finds groups in which an opening ended by time alone. No write announces such an end, so nothing else triggers a reconciliation."""

from typing import Final

from django.db import connection

from apps.deployments.rule_kinds.registry import KINDS
from apps.network.models import GatewayGroup

RECENT: Final = "15 seconds"  # three scheduled runs, so that one may be lost or late
TABLES: Final = [rows.table for kind in KINDS.values() for rows in kind.timed if rows.stays]
ENDED: Final = " UNION ".join(
    f"SELECT group_id FROM {table} WHERE upper(valid) BETWEEN statement_timestamp() - interval '{RECENT}' AND statement_timestamp()"  # noqa: S608 - constants
    " AND upper(valid) > changed_at"
    for table in TABLES
)


def list_groups_with_recent_expiry() -> list[GatewayGroup]:
    """Return groups in which a forward, pinhole, mapping or holding reached its end in the last seconds.

    Rows that a person ended are not included: that write already triggers a reconciliation.
    """
    with connection.cursor() as cursor:
        cursor.execute(ENDED)
        found = [group for (group,) in cursor.fetchall()]
    return list(GatewayGroup.objects.filter(pk__in=found)) if found else []

"""Groups in which something open ended by time alone: nobody wrote anything then, so nobody asked for a look."""

from typing import Final

from django.db import connection

from apps.network.models import GatewayGroup

RECENT: Final = "15 seconds"  # three looks of the schedule: one that was lost or late is made up for
TABLES: Final = ("network_holding", "nat_natmapping", "nat_portforward", "nat_pinhole")
ENDED: Final = " UNION ".join(
    f"SELECT group_id FROM {table} WHERE upper(valid) BETWEEN statement_timestamp() - interval '{RECENT}' AND statement_timestamp()"  # noqa: S608 - constants
    " AND upper(valid) > changed_at"
    for table in TABLES
)


def list_groups_with_ends() -> list[GatewayGroup]:
    """Where a forward, pinhole, mapping or address reached its end in the last seconds. What somebody ended is not meant: that nudges."""
    with connection.cursor() as cursor:
        cursor.execute(ENDED)
        found = [group for (group,) in cursor.fetchall()]
    return list(GatewayGroup.objects.filter(pk__in=found)) if found else []

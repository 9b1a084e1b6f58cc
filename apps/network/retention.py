"""Declares how this app's tables are bounded. Holdings are kept as history."""

from apps.operations.registry import TableBoundKind, register_unpruned_tables

register_unpruned_tables(TableBoundKind.PEOPLE, "network.Uplink", "network.GatewayGroup", "network.Gateway", "network.Pool")
register_unpruned_tables(TableBoundKind.PEOPLE, "network.Protection", "network.Limits", "network.Profile", "network.Failover")
register_unpruned_tables(TableBoundKind.HISTORY, "network.Holding")
register_unpruned_tables(TableBoundKind.CODE, "network.Gauge")

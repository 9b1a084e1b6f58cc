"""Declares how this app's tables are bounded. Holdings are kept as history."""

from apps.operations.registry import TableBound, register_bounded

register_bounded(TableBound.PEOPLE, "network.Uplink", "network.GatewayGroup", "network.Gateway", "network.Pool")
register_bounded(TableBound.PEOPLE, "network.Protection", "network.Limits", "network.Profile", "network.Failover")
register_bounded(TableBound.HISTORY, "network.Holding")
register_bounded(TableBound.CODE, "network.Gauge")

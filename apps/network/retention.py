"""How this app's tables are bounded. Who held an address when is history."""

from apps.operations.registry import TableBound, register_bounded

register_bounded(TableBound.PEOPLE, "network.Uplink", "network.GatewayGroup", "network.Gateway", "network.Pool")
register_bounded(TableBound.PEOPLE, "network.Protection", "network.Limits", "network.Profile")
register_bounded(TableBound.HISTORY, "network.Holding")
register_bounded(TableBound.CODE, "network.Gauge")

"""How this app's tables are bounded. Who held an address when is history."""

from apps.operations.registry import Bound, bounded

bounded(Bound.PEOPLE, "network.Uplink", "network.GatewayGroup", "network.Gateway", "network.Pool")
bounded(Bound.PEOPLE, "network.Protection", "network.Limits", "network.Profile")
bounded(Bound.HISTORY, "network.Holding")
bounded(Bound.CODE, "network.Gauge")

"""How this app's tables are bounded. Who left as what, and where ports led, is history."""

from apps.operations.registry import Bound, bounded

bounded(Bound.HISTORY, "nat.NatMapping", "nat.PortForward", "nat.Pinhole", "nat.Move")
bounded(Bound.PEOPLE, "nat.PortRules", "nat.PortClaim")

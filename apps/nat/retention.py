"""Declares how this app's tables are bounded. Mappings, forwards, pinholes and moves are kept as history."""

from apps.operations.registry import TableBound, register_bounded

register_bounded(TableBound.HISTORY, "nat.NatMapping", "nat.PortForward", "nat.Pinhole", "nat.Move")
register_bounded(TableBound.PEOPLE, "nat.PortRules", "nat.PortClaim")

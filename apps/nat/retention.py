"""Declares how this app's tables are bounded. Mappings, forwards, pinholes and moves are kept as history."""

from apps.operations.registry import TableBoundKind, register_unpruned_tables

register_unpruned_tables(TableBoundKind.HISTORY, "nat.NatMapping", "nat.PortForward", "nat.Pinhole", "nat.Move")
register_unpruned_tables(TableBoundKind.PEOPLE, "nat.PortRules", "nat.PortClaim")

"""Bounds of this app's table."""

from apps.operations.registry import TableBoundKind, register_unpruned_tables

register_unpruned_tables(TableBoundKind.CODE, "preferences.NetworkSettings")

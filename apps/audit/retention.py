"""Bounds of this app's table: the log of address lookups is history and is kept."""

from apps.operations.registry import TableBoundKind, register_unpruned_tables

register_unpruned_tables(TableBoundKind.HISTORY, "audit.Enquiry")

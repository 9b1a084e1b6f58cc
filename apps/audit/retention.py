"""Bounds of this app's table: the log of address lookups is history and is kept."""

from apps.operations.registry import TableBound, register_bounded

register_bounded(TableBound.HISTORY, "audit.Enquiry")

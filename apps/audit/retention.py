"""How this app's tables are bounded: who asked for an address is history."""

from apps.operations.registry import TableBound, register_bounded

register_bounded(TableBound.HISTORY, "audit.Enquiry")

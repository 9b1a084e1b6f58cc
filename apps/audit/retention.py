"""How this app's tables are bounded: who asked for an address is history."""

from apps.operations.registry import Bound, bounded

bounded(Bound.HISTORY, "audit.Enquiry")

"""The kinds of `HeldBack` that are no elements of a ruleset: changes that wait for a second person whatever they remove."""

from typing import Final

MANAGEMENT: Final = "management"  # who reaches the gateways themselves
LIMITS: Final = "limits"  # above what removals wait
ROLLBACK: Final = "rollback"  # an older revision that takes service away, or changes management
SPECIAL: Final = (MANAGEMENT, LIMITS, ROLLBACK)

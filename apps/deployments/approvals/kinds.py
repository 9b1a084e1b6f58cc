"""Kinds of `HeldBack` that are not elements of a ruleset. They need approval whatever they remove."""

from typing import Final

MANAGEMENT: Final = "management"  # who can reach the gateways themselves
LIMITS: Final = "limits"  # the limits above which removals wait
ROLLBACK: Final = "rollback"  # to an older revision that removes service or changes management
SPECIAL: Final = (MANAGEMENT, LIMITS, ROLLBACK)

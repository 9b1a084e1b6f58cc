"""Registry of the rules, one module each, the most urgent first. A new rule is a new module here and a line in `MODULES`."""

from typing import Final

from apps.operations.portal_health.rule import PortalRule
from apps.operations.portal_health.rules import (
    backup_old,
    bloat,
    broker_full,
    database_connections,
    database_disk,
    old_transaction,
    partitions_missing,
    queue_behind,
    wraparound,
)

MODULES: Final = (
    database_disk,
    wraparound,
    database_connections,
    broker_full,
    partitions_missing,
    queue_behind,
    backup_old,
    old_transaction,
    bloat,
)
PORTAL_RULES: Final[dict[str, PortalRule]] = {module.RULE.name: module.RULE for module in MODULES}
"""By name, the most urgent first."""

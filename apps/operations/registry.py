"""Registry of the tables that grow: what bounds each of them. `pruning` removes what is too old.

Each app registers its own tables in its module `retention`, which is imported when all apps are ready. A test fails for tables
that are not registered, so that every growing table has an owner.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Model, QuerySet
from django.utils.functional import Promise

type Pruner = Callable[[datetime, int], int]
"""Deletes at most this many rows that are too old at that time, and returns how many. A smaller number means that none are left."""


class TableBoundKind(StrEnum):
    """Kinds of bounds that keep a table from growing for ever."""

    PEOPLE = "people"  # rows for members, devices, rules: as many as people enter
    CODE = "code"  # a fixed number of rows, or one for each gateway, role, job
    HISTORY = "history"  # kept on purpose, for as long as the network exists
    PRUNED = "pruned"  # old rows are removed


@dataclass(frozen=True)
class TableRetention:
    """Bound of one table.

    kept: name of the setting, or words, that say how long rows are kept. prune: None if another task or function (`by`) prunes
    the table. rows_stay: True if pruning empties old rows and does not delete them, so that the table grows like history.
    """

    label: str  # app_label.ModelName
    bound: TableBoundKind
    kept: str | Promise = ""
    prune: Pruner | None = None
    by: str = ""  # the task or function that prunes, if it is not `prune`
    rows_stay: bool = False

    @property
    def job(self) -> str:
        """Name under which the pruning is recorded."""
        return f"prune {self.label}"


_registry: dict[str, TableRetention] = {}


def register_unpruned_tables(bound: TableBoundKind, *labels: str) -> None:
    """Register tables that need no pruning."""
    for label in labels:
        _registry[label] = TableRetention(label, bound)


def register_pruned_table(label: str, *, kept: str | Promise, prune: Pruner | None = None, by: str = "", rows_stay: bool = False) -> None:
    """Register a table that is pruned: by `prune`, which the hourly task calls, or by the task named in `by`."""
    _registry[label] = TableRetention(label, TableBoundKind.PRUNED, kept, prune, by, rows_stay)


def list_retentions() -> list[TableRetention]:
    """Return all registered tables, ordered by label."""
    return [_registry[label] for label in sorted(_registry)]


def delete_oldest_batch[Row: Model](rows: QuerySet[Row], by: str, at_most: int) -> int:
    """Delete at most `at_most` of these rows, oldest first. Returns the number of rows found for deletion."""
    oldest = list(rows.order_by(by).values_list("pk", flat=True)[:at_most])
    rows.model._base_manager.filter(pk__in=oldest).delete()
    return len(oldest)

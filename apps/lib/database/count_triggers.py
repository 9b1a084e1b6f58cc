"""Counts of a table's rows by one column, kept by triggers, because counting a million rows takes longer than showing fifty of them.

Each statement adds a row with how many rows it added or removed to a table of counts; the sum of a value's rows is its number. So writers
do not wait for each other, and a number is seen together with the rows that it counts.
"""

from dataclasses import dataclass
from typing import Final

import pgtrigger
from django.db import connection, transaction
from psycopg import sql

from apps.lib.database.triggers import build_statement_trigger

# One snapshot sees a row and the one that counts it, or neither. So this sums up what it removes, and puts right what is wrong
SUM_UP: Final = sql.SQL("""
    WITH old AS (DELETE FROM {counts} RETURNING 1), sums AS (
        INSERT INTO {counts} ({column}, number) SELECT {column}, count(*) FROM {table} GROUP BY {column} RETURNING 1
    )
    SELECT greatest((SELECT count(*) FROM old) - (SELECT count(*) FROM sums), 0)
""")
LOCK: Final = sql.SQL("LOCK TABLE {counts} IN SHARE UPDATE EXCLUSIVE MODE")  # one at a time; whoever writes rows does not wait


@dataclass(frozen=True, slots=True)
class CountedColumn:
    """A column by which rows are counted. table: of these rows. counts: table with the same column, and `number`. field: of the model."""

    table: str
    counts: str
    column: str
    field: str

    def build_triggers(self) -> list[pgtrigger.Trigger]:
        """Return the triggers that count the rows that a statement adds or removes, and a row that gets another value."""
        into = f"INSERT INTO {self.counts} ({self.column}, number)"
        moved = f"{into} VALUES (OLD.{self.column}, -1), (NEW.{self.column}, 1);"
        added = f"{into} SELECT {self.column}, count(*) FROM new_values GROUP BY {self.column};"  # noqa: S608 - names from the code
        removed = f"{into} SELECT {self.column}, -count(*) FROM old_values GROUP BY {self.column};"  # noqa: S608 - names from the code
        return [
            build_statement_trigger("count_added", pgtrigger.Insert, added, new="new_values"),
            build_statement_trigger("count_removed", pgtrigger.Delete, removed, old="old_values"),
            pgtrigger.Trigger(
                name="count_moved",
                when=pgtrigger.After,
                operation=pgtrigger.UpdateOf(self.column),  # type: ignore[no-untyped-call]  # pgtrigger has no annotation here
                condition=pgtrigger.Q(**{f"old__{self.field}__df": pgtrigger.F(f"new__{self.field}")}),
                func=moved + "RETURN NULL;",
            ),
        ]

    def sum_up(self) -> int:
        """Replace the counts by one row for each value, all in one step. Return how many fewer these are."""
        names = {name: sql.Identifier(getattr(self, name)) for name in ("table", "counts", "column")}
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(LOCK.format(**names).as_string())
            cursor.execute(SUM_UP.format(**names).as_string())
            return int(cursor.fetchone()[0])

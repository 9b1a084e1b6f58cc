"""Registry of what else a restore changes in the database, in the transaction that restores it.

Yesterday's database believes that yesterday's mails still wait and that yesterday's rollouts are under way. Each app says in its module
`after_restore`, as SQL, what becomes of such rows; so no program ever sees them as they were. The SQL runs on the schema of the backup,
which may be older than the code: it names only columns that every release with backups has.
"""

from collections.abc import Callable
from datetime import datetime

from django.utils.module_loading import autodiscover_modules
from psycopg import sql

type StatementBuilder = Callable[[datetime], sql.Composable]
"""Returns one SQL statement. Gets the time of the backup's snapshot."""

_registry: dict[str, StatementBuilder] = {}


def register_statement(name: str, build: StatementBuilder) -> None:
    """Register a statement. name: says what it does; statements run in the order of their names."""
    _registry[name] = build


def build_script(made: datetime) -> str:
    """Return all statements as a script for psql. made: time of the backup's snapshot."""
    autodiscover_modules("after_restore")
    return "".join(f"{_registry[name](made).as_string()};\n" for name in sorted(_registry))

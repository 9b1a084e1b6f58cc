"""Schema snapshot: creates an empty database in a second, instead of running every migration in turn.

`migrations/schema.sql` is the result of all migrations up to one moment, with their names in `django_migrations`; newer ones run
on top of it as usual. `python -m portal.stack snapshot` writes it. Imports no Django, so that `portal.stack` starts quickly.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
SNAPSHOT = ROOT / "migrations" / "schema.sql"
MARK = "netzwart schema "
# First of the removed migrations. Each app's migrations were merged into one before the first release; there is no upgrade path.
GONE = ("accounts", "0001_users_and_tokens")
OUTDATED = (
    "This database was made before each app's migrations became one (0001_initial), and nothing leads from there to here: "
    "Netzwart was not released yet."
)
RELATIONS = """
SELECT count(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
    WHERE nspname NOT LIKE 'pg\\_%' AND nspname != 'information_schema'
"""


def is_empty(cursor: Any) -> bool:
    """True if the database has no relation at all, neither ours nor another program's."""
    cursor.execute(RELATIONS)
    return bool(cursor.fetchone()[0] == 0)


def has_removed_migrations(cursor: Any) -> bool:
    """True if removed migrations made this database. OUTDATED is the message for the operator."""
    cursor.execute("SELECT to_regclass('public.django_migrations') IS NOT NULL")
    if not cursor.fetchone()[0]:
        return False
    cursor.execute("SELECT EXISTS (SELECT FROM public.django_migrations WHERE app = %s AND name = %s)", GONE)
    return bool(cursor.fetchone()[0])


def list_unknown_migrations(cursor: Any, root: Path = ROOT) -> list[str]:
    """Return migrations of our apps, as app.name, that have run in this database and are not in this release: a later one made them."""
    cursor.execute("SELECT to_regclass('public.django_migrations') IS NOT NULL")
    if not cursor.fetchone()[0]:
        return []
    cursor.execute("SELECT app, name FROM public.django_migrations ORDER BY app, name")
    at = root / "migrations"
    return [f"{app}.{name}" for app, name in cursor.fetchall() if (at / app).is_dir() and not (at / app / f"{name}.py").exists()]


def explain_unknown_migrations(names: list[str]) -> str:
    """Return a sentence for the operator about what `list_unknown_migrations` found."""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (
        f"The database is of a later release: this one does not know its migration {names[0]}{more}. "
        "Install that release again, or restore a backup of this one (docs/upgrade.md)."
    )


def load_schema_snapshot(cursor: Any) -> None:
    """Create everything in the snapshot, within the caller's transaction. Changes that transaction's search path."""
    cursor.execute(SNAPSHOT.read_text())


def compute_fingerprint(root: Path = ROOT) -> str:
    """Return 64 hexadecimal digits that change whenever a migration, ours or a package's, is added or edited."""
    files = [root / "requirements-production.lock", *sorted((root / "migrations").rglob("*.py"))]
    return _compute_digest((str(file.relative_to(root)), file.read_bytes()) for file in files)


def is_current(cursor: Any) -> bool:
    """True if the last complete `migrate` of this database ran with the present migrations.

    The mark is a comment on the table of applied migrations, so that backups contain it.
    """
    cursor.execute("SELECT obj_description(to_regclass('public.django_migrations'), 'pg_class')")
    return bool(cursor.fetchone()[0] == MARK + compute_fingerprint())


def mark_migrated(cursor: Any, *, current: bool) -> None:
    """Record whether all migrations have run."""
    cursor.execute(f"COMMENT ON TABLE django_migrations IS '{MARK}{compute_fingerprint() if current else 'unknown'}'")


def _compute_digest(parts: Iterable[tuple[str, bytes]]) -> str:
    whole = hashlib.sha256()
    for name, content in parts:
        whole.update(f"{name} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()

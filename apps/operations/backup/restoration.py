"""Restores a backup into an empty installation: all of it in one transaction, or nothing.

psql gets one script: the beginning of a transaction, the dump as pg_restore writes it, what apps change in a restored database, and the
end of the transaction, which is only written after pg_restore has succeeded. However this process ends, a part is never left behind.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Final

from django.apps import apps
from django.db import connection as django_connection
from django.db import transaction
from django.db.migrations.loader import MigrationLoader

from apps.operations.backup import after_restore, contents, files
from apps.operations.backup.address import DatabaseAddress, close_connections, find_database
from apps.operations.backup.contents import Connection
from apps.operations.backup.errors import BackupError
from apps.operations.backup.keys import PlacedKeys, check_secret_key, place_keys
from apps.operations.backup.manifest import DUMP, BackupManifest
from apps.operations.backup.programs import LAST_LINES, find_program
from apps.operations.registry import TableBoundKind, list_retentions

OTHERS: Final = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
MADE_BY_MIGRATIONS: Final = frozenset({"django_migrations", "django_content_type", "auth_permission"})
EMPTY: Final = "DROP SCHEMA public CASCADE;\nCREATE SCHEMA public;\n"
NAMED_TABLES: Final = 5
LEAVING: Final = 10.0  # seconds that connections have to end: on a busy server those that were just closed are still there for a moment
_STEP: Final = 0.1

type Progress = Callable[[str], None]


@dataclass(frozen=True)
class FinishedRestore:
    """What was restored, where keys were put, and the migrations (app.name) that this release has beyond the backup."""

    manifest: BackupManifest
    keys: PlacedKeys
    pending: tuple[str, ...]


def restore_backup(backup: Path, say: Progress) -> FinishedRestore:
    """Restore a backup's directory. say: gets words about the progress. Raises BackupError; then nothing has changed."""
    manifest = files.read_manifest(backup)
    files.check_files(backup, manifest)
    say(f"All {len(manifest.files)} files have the digests of the manifest.")
    check_secret_key(backup)
    pending = find_pending_migrations(manifest)
    close_connections()
    address = find_database()
    with address.connect() as connection:
        _check_server(connection, manifest)
        _wait_until_alone(connection, say)
        _require_empty(connection)
        opening = EMPTY if contents.list_tables(connection) else ""
        major = max(connection.info.server_version, manifest.server) // 10_000
    say("Restoring the database.")
    _run_script(backup / DUMP, address, major, opening, after_restore.build_script(manifest.made_at))
    with address.connect(autocommit=True) as connection:
        connection.execute("ANALYZE")
    return FinishedRestore(manifest, place_keys(backup), pending)


def hold_restored_database(made: datetime) -> None:
    """Do to a database that PostgreSQL itself has restored what a restore does besides. made: the time that it was restored to."""
    with transaction.atomic(), django_connection.cursor() as cursor:
        cursor.execute(after_restore.build_script(made))


def find_pending_migrations(manifest: BackupManifest) -> tuple[str, ...]:
    """Return the migrations that are missing in the backup. Raises BackupError if it has some that this release does not know."""
    known = set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    applied = {(app, name) for app, names in manifest.migrations.items() for name in names}
    if unknown := sorted(applied - known):
        names = ", ".join(".".join(each) for each in unknown[:NAMED_TABLES])
        raise BackupError(
            f"The backup was made by a newer release ({manifest.release}): this one does not know its migrations {names}. "
            "Restore it with the release that made it."
        )
    return tuple(".".join(each) for each in sorted(known - applied))


def _check_server(connection: Connection, manifest: BackupManifest) -> None:
    major, needed = connection.info.server_version // 10_000, manifest.server // 10_000
    if major < needed:
        raise BackupError(f"The backup is of PostgreSQL {needed}, and this server is PostgreSQL {major}. Restore it into a newer server.")


def _wait_until_alone(connection: Connection, say: Progress) -> None:
    """Wait until nobody else is connected to the database. Raises BackupError if somebody still is after LEAVING."""
    begun, others = monotonic(), _count_others(connection)
    if others:
        say("Waiting until other connections to the database have ended.")
    while others:
        if monotonic() - begun > LEAVING:
            raise BackupError(f"Other connections to the database are open ({others}). Stop all programs of the portal first.")
        sleep(_STEP)
        others = _count_others(connection)


def _count_others(connection: Connection) -> int:
    connection.rollback()  # within a transaction, PostgreSQL shows the same activity each time
    [(others,)] = connection.execute(OTHERS)
    return int(others)


def _require_empty(connection: Connection) -> None:
    """Raise BackupError if the database holds anything that people or gateways have brought."""
    unimportant = MADE_BY_MIGRATIONS | _list_own_tables()
    tables = [table for table in contents.list_tables(connection) if table not in unimportant]
    if filled := [table for table in tables if contents.has_rows(connection, table)]:
        more = f" and {len(filled) - NAMED_TABLES} more" if len(filled) > NAMED_TABLES else ""
        raise BackupError(
            f"The database {connection.info.dbname} is not empty: there are rows in {', '.join(filled[:NAMED_TABLES])}{more}. Nothing was "
            "changed. Create an empty database (createdb), set NETZWART_DATABASE_URL to it, and restore into that."
        )


def _list_own_tables() -> frozenset[str]:
    """Return the tables that the portal's programs fill by themselves, such as their heartbeats."""
    labels = [each.label for each in list_retentions() if each.bound is TableBoundKind.CODE]
    return frozenset(apps.get_model(label)._meta.db_table for label in labels)


def _run_script(dump: Path, address: DatabaseAddress, major: int, opening: str, closing: str) -> None:
    """Run the opening, the dump and the closing as one transaction. Raises BackupError; then the transaction has left nothing."""
    extract = [find_program("pg_restore", major), "--no-owner", "--no-privileges", "--exit-on-error", "--file=-", str(dump)]
    with tempfile.TemporaryFile() as faults, _run_psql(address, major, faults) as script:
        script.write(f"BEGIN;\n{opening}".encode())
        with subprocess.Popen(extract, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=faults) as process:
            shutil.copyfileobj(process.stdout, script)  # type: ignore[arg-type]
        if process.returncode != 0:
            raise BackupError(f"pg_restore ended with status {process.returncode}: {_read_last_lines(faults)}. Nothing was changed.")
        script.write(f"RESET search_path;\n{closing}COMMIT;\n".encode())


@contextmanager
def _run_psql(address: DatabaseAddress, major: int, faults: IO[bytes]) -> Iterator[IO[bytes]]:
    """Yield psql's standard input. It rolls back what is not committed when that ends. Raises BackupError if it fails."""
    options = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--file=-", f"--dbname={address.build_conninfo()}"]
    command = [find_program("psql", major), *options]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=faults, env=address.build_environment())
    script: IO[bytes] = process.stdin  # type: ignore[assignment]
    broken = False
    try:
        yield script
    except BrokenPipeError:
        broken = True
    finally:
        broken = not _close(script) or broken
        process.wait()
    if process.returncode != 0 or broken:
        raise BackupError(f"psql ended with status {process.returncode}: {_read_last_lines(faults)}. Nothing was changed.")


def _close(script: IO[bytes]) -> bool:
    """Close the pipe. Returns False if psql did not read all of it."""
    try:
        script.close()
    except BrokenPipeError:
        return False
    return True


def _read_last_lines(faults: IO[bytes]) -> str:
    faults.seek(0)
    return " / ".join(line.strip() for line in faults.read().decode(errors="replace").splitlines()[-LAST_LINES:])

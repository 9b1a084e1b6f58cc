"""Checks a backup: its digests, and what comes out when it is restored into a scratch database beside the real one."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from apps.operations.backup import contents, files
from apps.operations.backup.address import DatabaseAddress, find_database
from apps.operations.backup.contents import Connection
from apps.operations.backup.errors import BackupError
from apps.operations.backup.manifest import DUMP, BackupManifest
from apps.operations.backup.programs import find_program, run_program

SUFFIX: Final = "_backup_check"
LONGEST_NAME: Final = 63  # octets, NAMEDATALEN - 1
NAMED_FAULTS: Final = 10

type Progress = Callable[[str], None]


def verify_backup(backup: Path, say: Progress) -> BackupManifest:
    """Check a backup's directory, which is not changed, and return its manifest. say: gets words about the progress.

    Raises BackupError, which says what is wrong. The scratch database is dropped in any case.
    """
    manifest = files.read_manifest(backup)
    files.check_files(backup, manifest)
    say(f"All {len(manifest.files)} files have the digests of the manifest.")
    with _open_scratch_database(find_database()) as (scratch, connection):
        say(f"Restoring into the database {scratch.name}.")
        program = find_program("pg_restore", max(connection.info.server_version, manifest.server) // 10_000)
        options = ["--no-owner", "--no-privileges", "--exit-on-error", f"--dbname={scratch.build_conninfo()}"]
        run_program([program, *options, str(backup / DUMP)], scratch, lambda _line: None)
        say("Comparing rows and migrations with the manifest.")
        compare_with_manifest(connection, manifest)
    return manifest


def compare_with_manifest(connection: Connection, manifest: BackupManifest) -> None:
    """Raise BackupError if rows or migrations are not those of the manifest."""
    faults = [*_iter_row_faults(contents.count_rows(connection), manifest.rows)]
    if contents.read_migrations(connection) != manifest.migrations:
        faults.append("the applied migrations differ")
    if faults:
        more = f", and {len(faults) - NAMED_FAULTS} more" if len(faults) > NAMED_FAULTS else ""
        raise BackupError(f"What was restored is not what the manifest says: {'; '.join(faults[:NAMED_FAULTS])}{more}. Use another backup.")


def _iter_row_faults(found: Mapping[str, int], expected: Mapping[str, int]) -> Iterator[str]:
    for table in sorted(expected.keys() | found.keys()):
        if table not in found:
            yield f"the table {table} is missing"
        elif table not in expected:
            yield f"the table {table} should not be there"
        elif found[table] != expected[table]:
            yield f"{table} has {found[table]:,} rows instead of {expected[table]:,}"


@contextmanager
def _open_scratch_database(real: DatabaseAddress) -> Iterator[tuple[DatabaseAddress, Connection]]:
    """Create a database, yield it with a connection that shows others that it is in use, and drop it."""
    name = f"{real.name[: LONGEST_NAME - len(SUFFIX)]}{SUFFIX}"
    with real.connect(autocommit=True) as server:
        _create(server, name)
        try:
            scratch = real.find_sibling(name)
            with scratch.connect(autocommit=True) as connection:
                yield scratch, connection
        finally:
            server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _create(server: Connection, name: str) -> None:
    """Create the database, in the place of one that a killed check has left behind. Raises BackupError."""
    try:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    except psycopg.errors.ObjectInUse as error:
        raise BackupError(f"Another check is under way in the database {name}. Wait for its end.") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise BackupError(
            f"The database’s account may not create the database {name}. Let it, as the server’s administrator: "
            f'ALTER ROLE "{server.info.user}" CREATEDB.'
        ) from error

"""Makes a backup: one directory with a dump of the database, the keys that it is worthless without, and a manifest.

The directory grows beside its place and gets its name when everything in it is on the disk: one that has its name is whole.
"""

import fcntl
import os
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from apps.lib.ui import formats
from apps.operations.backup import contents, files
from apps.operations.backup.address import DatabaseAddress, find_database
from apps.operations.backup.contents import Connection
from apps.operations.backup.errors import BackupError
from apps.operations.backup.keys import collect_keys
from apps.operations.backup.manifest import DIRECTORY_PREFIX, DUMP, FORMAT, NAME, BackupManifest, build_directory_name, render_manifest
from apps.operations.backup.programs import find_program, run_program
from apps.operations.portal_health.backups import note_backup

PARTIAL = ".partial"
EXTENSIONS = ("btree_gist", "pg_trgm", "unaccent")  # others are the server's own business, such as statistics of statements
DUMPING = "pg_dump: dumping contents of table "
type Progress = Callable[[str], None]


@dataclass(frozen=True)
class FinishedBackup:
    """A backup that is whole: its directory and its manifest."""

    path: Path
    manifest: BackupManifest


def create_backup(directory: Path, say: Progress) -> FinishedBackup:
    """Make a backup in a new directory below `directory`, and note it. say: gets words about the progress. Raises BackupError."""
    with _private_umask(), _growing_directory(directory) as partial:
        manifest = _fill(partial, say)
        path = directory / build_directory_name(manifest.made_at)
        if path.exists():
            raise BackupError(f"{path} is there already: another backup was made in the same second. Try again.")
        partial.rename(path)
    files.force_to_disk(directory)
    note_backup(place=str(path)[-200:], octets=manifest.octets, at=manifest.made_at)
    return FinishedBackup(path, manifest)


@contextmanager
def _private_umask() -> Iterator[None]:
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def _growing_directory(directory: Path) -> Iterator[Path]:
    """Yield a directory that is removed at the end, unless it got another name."""
    partial = directory / f"netzwart-{os.getpid()}{PARTIAL}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _lock(directory):
            for left in directory.glob(f"{DIRECTORY_PREFIX}*{PARTIAL}"):  # by a backup that was killed
                shutil.rmtree(left)
            partial.mkdir()
            try:
                yield partial
            finally:
                shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise BackupError(f"The backup cannot be written: {error.filename or directory}: {error.strerror}.") from error


@contextmanager
def _lock(directory: Path) -> Iterator[None]:
    """Hold the directory for one backup. The kernel lets it go when this process ends, however that happens. Raises BackupError."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise BackupError(f"Another backup into {directory} is under way. Wait for its end.") from error
    finally:
        os.close(descriptor)


def _fill(partial: Path, say: Progress) -> BackupManifest:
    address = find_database()
    with address.connect() as connection:
        made, rows = _dump_snapshot(connection, address, partial, say)
        migrations, server = contents.read_migrations(connection), connection.info.server_version
    for name, content in collect_keys().items():
        files.write_private_file(partial / name, content)
    say("Computing digests.")
    measured = tuple(files.measure_file(partial, path) for path in files.list_files(partial))
    manifest = BackupManifest(FORMAT, made.isoformat(), read_release(), server, address.name, migrations, rows, measured)
    files.write_private_file(partial / NAME, render_manifest(manifest).encode())
    for directory in (partial, *(path for path in partial.rglob("*") if path.is_dir())):
        files.force_to_disk(directory)
    return manifest


def _refuse_standby(connection: Connection) -> None:
    """Raise BackupError on a standby: its unlogged tables cannot be read, and the backup could not be noted there."""
    [(is_standby,)] = connection.execute("SELECT pg_is_in_recovery()")
    if is_standby:
        raise BackupError(
            "This server is a standby, from which no backup can be made. Name the primary, or all servers with "
            "target_session_attrs=read-write (docs/scale.md)."
        )


def _dump_snapshot(connection: Connection, address: DatabaseAddress, partial: Path, say: Progress) -> tuple[datetime, Mapping[str, int]]:
    """Dump the database as one transaction sees it, and count rows in that same transaction. Returns its time, and the numbers."""
    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    _refuse_standby(connection)
    [(snapshot, made)] = connection.execute("SELECT pg_export_snapshot(), now()")
    say("Counting rows.")
    rows = contents.count_rows(connection)
    program = find_program("pg_dump", connection.info.server_version // 10_000)
    options = ["--format=custom", "--no-owner", "--no-privileges", "--verbose", f"--snapshot={snapshot}", f"--file={partial / DUMP}"]
    options += [f"--extension={name}" for name in EXTENSIONS]
    run_program([program, *options, f"--dbname={address.build_conninfo()}"], address, _TableProgress(rows, say))
    files.force_to_disk(partial / DUMP)
    say(f"The database is dumped: {formats.format_volume((partial / DUMP).stat().st_size)}.")
    return made.astimezone(UTC), rows


class _TableProgress:
    """Tells of each table that pg_dump begins with, if it has rows."""

    def __init__(self, rows: Mapping[str, int], say: Progress) -> None:
        self._rows, self._say, self._done = rows, say, 0

    def __call__(self, line: str) -> None:
        if not line.startswith(DUMPING):
            return
        self._done += 1
        table = line.removeprefix(DUMPING).strip('"').removeprefix("public.")
        if rows := self._rows.get(table):
            self._say(f"Table {self._done} of {len(self._rows)}: {table}, {formats.format_number(rows)} rows.")


def read_release() -> str:
    """Return the portal's release, such as 0.1.0."""
    return str(tomllib.loads((settings.ROOT / "pyproject.toml").read_text())["project"]["version"])

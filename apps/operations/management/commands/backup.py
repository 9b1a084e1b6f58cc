"""manage.py backup: makes a backup of the whole portal, or checks one by restoring it beside the real database."""

from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from apps.lib.ui import formats
from apps.operations import jobs
from apps.operations.backup.creation import create_backup
from apps.operations.backup.errors import BackupError
from apps.operations.backup.restic import copy_to_repository, thin_repository
from apps.operations.backup.thinning import KeptBackups, remove_obsolete_backups
from apps.operations.backup.verification import verify_backup
from apps.operations.portal_health.backups import BackupNoteError

PERIODS = ("daily", "weekly", "monthly")
JOB = "backup"  # its failure is a need on the dashboard until a backup succeeds


class Command(BaseCommand):
    help = (
        "Make a backup of the whole portal: the database, the secret key and the portal's ssh key, in one directory below DIR. "
        "With --verify, check one: its digests, and what comes out when it is restored into a database beside the real one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", nargs="?", type=Path, metavar="DIR", help="where backups are kept; each gets a directory in it")
        for period, plural in (("daily", "days"), ("weekly", "weeks"), ("monthly", "months")):
            words = f"afterwards keep the newest backup of each of the last N {plural}, and remove others that no such option keeps"
            parser.add_argument(f"--keep-{period}", type=int, metavar="N", help=words)
        parser.add_argument(
            "--restic", metavar="REPOSITORY", help="copy it into this restic repository, encrypted; RESTIC_PASSWORD_FILE names its password"
        )
        parser.add_argument("--verify", type=Path, metavar="BACKUP", help="the directory of one backup; it is not changed")

    def handle(self, *args: Any, **options: Any) -> None:
        if (options["directory"] is None) == (options["verify"] is None):
            raise CommandError(
                "Say where to make the backup: manage.py backup DIR. Or which one to check: manage.py backup --verify BACKUP."
            )
        kept = [options[f"keep_{period}"] for period in PERIODS]
        if any(each is not None and each < 0 for each in kept):
            raise CommandError("--keep-daily, --keep-weekly and --keep-monthly are numbers from 0.")
        keep = KeptBackups(*(each or 0 for each in kept)) if any(each is not None for each in kept) else None
        try:
            if options["verify"]:
                self._verify(options["verify"])
            else:
                made = self._make(options["directory"])
                if options["restic"]:
                    self._copy(options["restic"], made, keep)
                if keep:
                    self._thin(options["directory"], keep)
                jobs.record_success(JOB)
        except (BackupError, BackupNoteError, DatabaseError, psycopg.Error, OSError) as error:
            if options["directory"]:
                _record_failure(error)
            raise CommandError(str(error)) from error

    def _make(self, directory: Path) -> Path:
        finished = create_backup(directory.resolve(), self.stdout.write)
        manifest = finished.manifest
        rows = formats.format_number(sum(manifest.rows.values()))
        self.stdout.write(f"{finished.path}: {formats.format_volume(manifest.octets)}, {rows} rows in {len(manifest.rows)} tables.")
        self.stdout.write("It holds the secret key and the portal’s ssh key. Keep it where only administrators can read it.")
        return finished.path

    def _copy(self, repository: str, made: Path, keep: KeptBackups | None) -> None:
        try:
            copy = copy_to_repository(repository, made, self.stdout.write)
            removed = thin_repository(repository, keep) if keep else 0
        except BackupError as error:
            raise BackupError(f"{made} is whole, but its copy failed: {error}") from error
        self.stdout.write(f"Copied to {repository} as {copy.snapshot}, which added {formats.format_volume(copy.octets)} there.")
        if removed:
            self.stdout.write(f"Copies removed there, because they are not kept any longer: {removed}")

    def _thin(self, directory: Path, keep: KeptBackups) -> None:
        for path in remove_obsolete_backups(directory.resolve(), keep):
            self.stdout.write(f"Removed, because it is not kept any longer: {path}")

    def _verify(self, backup: Path) -> None:
        manifest = verify_backup(backup, self.stdout.write)
        self.stdout.write(
            f"{backup} is whole. It was made at {formats.format_full_time(manifest.made_at)} by release {manifest.release}, can be "
            f"restored, and has the {formats.format_number(sum(manifest.rows.values()))} rows that its manifest names."
        )


def _record_failure(error: Exception) -> None:
    """Tell the dashboard why, if the database can be reached at all."""
    with suppress(DatabaseError):
        jobs.record_failure(JOB, error)

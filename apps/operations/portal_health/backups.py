"""Backups are made by the administrators' own scripts, which note them here: the portal cannot see them, and only judges their age."""

from datetime import datetime
from pathlib import Path

from apps.lib.database.validity import check_not_too_long_ago
from apps.lib.errors import Problem
from apps.operations.portal_health.models import BackupNote


class BackupNoteError(Exception):
    """What was told is not a backup. Its text says why."""


def note_backup(*, place: str, octets: int | None, at: datetime) -> BackupNote:
    """Note a backup. Raises BackupNoteError if it is empty: a script that fails half-way often leaves such a file. Likewise if it was
    made too long ago to be meant.
    """
    try:
        check_not_too_long_ago(at, "at")
    except Problem as problem:
        raise BackupNoteError(f"{problem} Nothing was noted.") from problem
    if octets == 0:
        raise BackupNoteError(f"The backup at {place} is empty. Look at the output of the program that made it; nothing was noted.")
    return BackupNote.objects.create(place=place, octets=octets, at=at)


def measure_backup(path: Path) -> int:
    """Return the size in octets of a file, or of all files of a directory. Raises BackupNoteError if there is neither."""
    try:
        if path.is_dir():
            return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
        return path.stat().st_size
    except OSError as error:
        raise BackupNoteError(f"{path} cannot be read: {error.strerror}. Nothing was noted.") from error


def find_last_backup() -> BackupNote | None:
    """Return the newest backup; None if none was ever noted."""
    return BackupNote.objects.first()

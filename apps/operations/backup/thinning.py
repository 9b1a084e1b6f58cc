"""Which old backups are no longer kept, and their removal. Only whole backups with our manifest are ever removed, never the newest."""

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.utils import timezone

from apps.operations.backup import files
from apps.operations.backup.creation import PARTIAL
from apps.operations.backup.errors import BackupError
from apps.operations.backup.manifest import DIRECTORY_PREFIX

type Period = tuple[int, ...]


@dataclass(frozen=True)
class KeptBackups:
    """From how many days, ISO weeks and months the newest backup is kept. Only those count in which there was a backup."""

    daily: int = 0
    weekly: int = 0
    monthly: int = 0


def find_obsolete(made: Iterable[datetime], keep: KeptBackups) -> list[datetime]:
    """Return the times of the backups that are not kept, oldest first. Days begin at midnight of the times' own zone."""
    newest_first = sorted(set(made), reverse=True)
    kept = {
        *newest_first[:1],
        *_choose(newest_first, keep.daily, lambda at: (at.year, at.month, at.day)),
        *_choose(newest_first, keep.weekly, lambda at: tuple(at.isocalendar()[:2])),
        *_choose(newest_first, keep.monthly, lambda at: (at.year, at.month)),
    }
    return sorted(set(newest_first) - kept)


def _choose(newest_first: Sequence[datetime], periods: int, find_period: Callable[[datetime], Period]) -> list[datetime]:
    """Return the newest backup of each of the last periods that have one."""
    newest: dict[Period, datetime] = {}
    for at in newest_first:
        newest.setdefault(find_period(at), at)
    return list(newest.values())[:periods]


def remove_obsolete_backups(directory: Path, keep: KeptBackups) -> list[Path]:
    """Remove the backups in a directory that are not kept, and return where they were. Raises BackupError."""
    found = dict(_iter_whole_backups(directory))
    obsolete = set(find_obsolete(found.values(), keep))
    removed = sorted(path for path, made in found.items() if made in obsolete)
    try:
        for path in removed:
            _remove(path)
    except OSError as error:
        raise BackupError(f"An old backup cannot be removed: {error.filename}: {error.strerror}.") from error
    return removed


def _iter_whole_backups(directory: Path) -> Iterable[tuple[Path, datetime]]:
    for path in directory.glob(f"{DIRECTORY_PREFIX}*"):
        try:
            yield path, timezone.localtime(files.read_manifest(path).made_at)
        except BackupError:
            continue  # not ours, or not whole: a person decides about it


def _remove(path: Path) -> None:
    """Remove a backup, which first loses its name: what has that name is whole."""
    going = path.with_name(f"{path.name}{PARTIAL}")
    path.rename(going)
    shutil.rmtree(going)

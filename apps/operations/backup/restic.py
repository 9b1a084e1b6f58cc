"""Copies of backups in a restic repository: encrypted, without repetition, and wherever restic can reach (a disk, SFTP, S3, REST).

restic(1) is run as it is. Its password, and the keys of the place, come from its own variables, such as RESTIC_PASSWORD_FILE.
"""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from apps.operations.backup.errors import BackupError
from apps.operations.backup.programs import LAST_LINES
from apps.operations.backup.thinning import KeptBackups

TAG: Final = "netzwart"
STEP: Final = 0.1  # of a copy, after which its progress is said again

type Progress = Callable[[str], None]


@dataclass(frozen=True)
class RepositoryCopy:
    """A copy in a repository: its snapshot, and the octets that it added there."""

    snapshot: str
    octets: int


def copy_to_repository(repository: str, backup: Path, say: Progress) -> RepositoryCopy:
    """Copy a backup's directory into the repository. say: gets words about the progress. Raises BackupError."""
    last: dict[str, Any] = {}
    said = 0.0
    for message in _run(repository, "backup", "--tag", TAG, str(backup)):
        if message.get("message_type") == "status" and message["percent_done"] >= said + STEP:
            said = message["percent_done"]
            say(f"Copying to {repository}: {said:.0%}.")
        elif message.get("message_type") == "summary":
            last = message
    if "snapshot_id" not in last:
        raise BackupError(f"restic did not say that the copy to {repository} is whole. Check it: restic --repo {repository} check")
    return RepositoryCopy(str(last["snapshot_id"])[:8], int(last["data_added"]))


def thin_repository(repository: str, keep: KeptBackups) -> int:
    """Remove the copies that are not kept, never the newest, and return how many. Raises BackupError."""
    periods = {"daily": keep.daily, "weekly": keep.weekly, "monthly": keep.monthly}
    kept = [part for period, number in periods.items() if number for part in (f"--keep-{period}", str(number))]
    groups = list(_run(repository, "forget", "--tag", TAG, "--group-by", "tags", "--keep-last", "1", *kept))
    removed = sum(len(group.get("remove") or ()) for listed in groups for group in listed)
    if removed:
        list(_run(repository, "prune", "--quiet"))
    return removed


def _run(repository: str, *arguments: str) -> Iterator[Any]:
    """Run restic and yield what it says as JSON. Raises BackupError with its last lines if it fails."""
    program = shutil.which("restic")
    if program is None:
        raise BackupError("restic is not installed. Install the package restic.")
    with tempfile.TemporaryFile("w+") as faults:
        command = [program, "--repo", repository, "--json", *arguments]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=faults, text=True) as process:
            yield from filter(None, map(_parse, process.stdout or ()))
        if process.returncode != 0:
            faults.seek(0)
            words = " / ".join([line.strip() for line in faults if line.strip()][-LAST_LINES:])
            raise BackupError(f"restic ended with status {process.returncode}: {words}")


def _parse(line: str) -> Any:
    """Return the JSON data of a line; None if it is none."""
    try:
        return json.loads(line)
    except ValueError:
        return None

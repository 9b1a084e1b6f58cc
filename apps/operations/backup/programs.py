"""Finds and runs PostgreSQL's own programs. They must not be older than the server: pg_dump refuses one that is newer than itself."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from apps.operations.backup.address import DatabaseAddress
from apps.operations.backup.errors import BackupError

DEBIAN: Final = Path("/usr/lib/postgresql")
LAST_LINES: Final = 5  # of a program's messages, when it fails


def find_program(name: str, major: int, under: Path = DEBIAN) -> str:
    """Return the path of a program of the server's major version, or else of the next newer one. Raises BackupError."""
    found = dict(_iter_versions(name, under))
    fitting = min((version for version in found if version >= major), default=None)
    if fitting is not None:
        return found[fitting]
    has = f"The newest one here is of version {max(found)}." if found else "There is none here."
    raise BackupError(
        f"The database's server is PostgreSQL {major}, which needs {name} of version {major} or newer. {has} "
        f"Install the package postgresql-client-{major}."
    )


def _iter_versions(name: str, under: Path) -> Iterator[tuple[int, str]]:
    on_path = shutil.which(name)
    if on_path:
        said = subprocess.run([on_path, "--version"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL).stdout
        for number in re.findall(r"\) (\d+)", said)[:1]:
            yield int(number), on_path
    for path in under.glob(f"*/bin/{name}"):
        if path.parts[-3].isdigit():
            yield int(path.parts[-3]), str(path)


def run_program(command: Sequence[str], address: DatabaseAddress, heard: Callable[[str], None]) -> None:
    """Run a program to its end. heard: gets each line that it says. Raises BackupError with its last lines if it fails."""
    last: list[str] = []
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=address.build_environment(), text=True, **options) as process:  # type: ignore[call-overload]
        for line in process.stderr:
            last = [*last, line.strip()][-LAST_LINES:]
            heard(line.strip())
    if process.returncode != 0:
        raise BackupError(f"{Path(command[0]).name} ended with status {process.returncode}: {' / '.join(last)}")

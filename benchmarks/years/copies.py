"""Times of a backup and of its restore, by the commands that administrators use, with a database of their own for the restore."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.changes import NAME, build_database_url

RESTORED: Final = f"{NAME}_restored"


@dataclass(frozen=True)
class CopyTimes:
    """Seconds of the backup and of the restore, and the octets of the backup."""

    backup: float
    restore: float
    octets: int


def measure_copies() -> CopyTimes:
    """Back the database up and restore it beside. Raises SystemExit if one of the commands fails."""
    from django.db import connection

    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL
    with tempfile.TemporaryDirectory(prefix="nw-years-") as directory:
        made = _measure_command({"NETZWART_DATABASE_URL": build_database_url(NAME)}, "backup", directory)
        [backup] = (path for path in Path(directory).iterdir() if path.is_dir())
        octets = sum(path.stat().st_size for path in backup.rglob("*") if path.is_file())
        keys = {
            "NETZWART_VAR": f"{directory}/var",
            "NETZWART_SSH_KEY": f"{directory}/key",
            "NETZWART_SSH_KNOWN_HOSTS": f"{directory}/hosts",
        }
        return CopyTimes(made, _measure_restore(backup, keys), octets)


def _measure_restore(backup: Path, keys: Mapping[str, str]) -> float:
    from django.db import connection

    quoted = connection.ops.quote_name(RESTORED)
    with connection._nodb_cursor() as server:
        server.execute(f"DROP DATABASE IF EXISTS {quoted}")
        server.execute(f"CREATE DATABASE {quoted}")
        try:
            return _measure_command({**keys, "NETZWART_DATABASE_URL": build_database_url(RESTORED)}, "restore", str(backup))
        finally:
            server.execute(f"DROP DATABASE {quoted} WITH (FORCE)")


def _measure_command(variables: Mapping[str, str], *arguments: str) -> float:
    """Run a command of manage.py and return its seconds."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], env={**os.environ, **variables}, stdout=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        raise SystemExit(f"manage.py {arguments[0]} failed with status {done.returncode}")
    return time.perf_counter() - began

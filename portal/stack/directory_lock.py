"""Lock that allows one stack per state directory. The kernel holds it, so it ends with its process, however that ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from portal.stack.errors import StackError
from portal.stack.state_paths import StatePaths


@contextmanager
def lock_directory(places: StatePaths) -> Iterator[None]:
    """Hold the lock. Raises StackError with the holder's pid if another process has it."""
    places.var.mkdir(parents=True, exist_ok=True)
    with places.lock.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise StackError(
                f"{places.var} is in use by pid {holder}. Stop it with Ctrl-C (or: kill {holder}), or use another directory with --var."
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def is_locked(places: StatePaths) -> bool:
    """Return whether a process holds the lock now."""
    if not places.lock.exists():
        return False
    with places.lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False

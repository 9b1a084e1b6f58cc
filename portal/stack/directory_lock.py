"""One stack per state directory at a time: the kernel keeps the lock, so it is gone with its holder, however that ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from portal.stack.errors import StackError
from portal.stack.state_paths import StatePaths


@contextmanager
def lock_directory(places: StatePaths) -> Iterator[None]:
    """Holds the state directory; StackError with the holder's pid if somebody else does."""
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
    """Whether somebody runs this state directory now."""
    if not places.lock.exists():
        return False
    with places.lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False

"""Stops a process in the midst of whatever it does. The signal alone is a request: on a busy machine the thread that takes it waits for
a core, and the others go on answering until then (signal(7)).
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tests.whole.system import wait_for

_HALTED: Final = frozenset("TZX")
"""States of threads that do nothing more (proc_pid_stat(5)): stopped, or ended."""


def freeze(pid: int) -> None:
    """Stop the process, unless it has ended. Afterwards none of its threads runs."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: _read_states(pid) <= _HALTED)


def thaw(pid: int) -> None:
    """Let the process go on, unless it has ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


@contextmanager
def frozen(*pids: int) -> Iterator[None]:
    """Stop these processes for the block."""
    try:
        for pid in pids:
            freeze(pid)
        yield
    finally:
        for pid in pids:
            thaw(pid)


def list_group(leader: int) -> list[int]:
    """Return the processes of this process group."""
    pids = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal()]
    return [pid for pid in pids if _find_group(pid) == leader]


def _find_group(pid: int) -> int | None:
    with suppress(ProcessLookupError):
        return os.getpgid(pid)
    return None


def _read_states(pid: int) -> set[str]:
    """Return the states of the threads, as far as they have not ended meanwhile. The name before them may have blanks and brackets."""
    states = set[str]()
    with suppress(FileNotFoundError):
        for each in Path(f"/proc/{pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                states.add((each / "stat").read_text().rpartition(") ")[2][0])
    return states

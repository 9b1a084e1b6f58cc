"""Reference to a process by its id and start time, so that a recycled id is never mistaken for it.

Every program that runs in a node imports this module first, so it uses only modules that load in a millisecond (no dataclasses,
no pathlib).
"""

import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple


class ProcessRef(NamedTuple):
    """A process. `started` counts clock ticks since boot (proc(5), field 22 of stat)."""

    pid: int
    started: int

    @classmethod
    def from_pid(cls, pid: int) -> "ProcessRef":
        """Return a reference to the running process. Raise `ProcessLookupError` if no process has this id."""
        return cls(pid, _read_start_time(pid))

    @property
    def is_alive(self) -> bool:
        try:
            return _read_start_time(self.pid) == self.started
        except ProcessLookupError:
            return False

    @contextmanager
    def open_pidfd(self) -> Iterator[int]:
        """Yield a file descriptor that refers to this process and never to another. Raise `ProcessLookupError` if the process has
        ended.
        """
        descriptor = os.pidfd_open(self.pid)
        try:
            if not self.is_alive:
                raise ProcessLookupError(f"process {self.pid} is gone")
            yield descriptor
        finally:
            os.close(descriptor)

    def kill(self, timeout: float = 10) -> None:
        """Kill the process; return when it has ended. For the first process of a namespace, everything in the namespace has then
        ended.
        """
        with suppress(ProcessLookupError), self.open_pidfd() as descriptor:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        self.wait(timeout)

    def wait(self, timeout: float) -> None:
        """Wait until the process has ended. Raise `TimeoutError` after `timeout` seconds."""
        with suppress(ProcessLookupError), self.open_pidfd() as descriptor:
            if not select.select([descriptor], [], [], timeout)[0]:
                raise TimeoutError(f"process {self.pid} did not end within {timeout} s")


def _read_start_time(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            stat = file.read()
    except FileNotFoundError as error:
        raise ProcessLookupError(f"there is no process {pid}") from error
    state, *fields = stat.rpartition(")")[2].split()
    if state in "ZX":
        raise ProcessLookupError(f"process {pid} has ended")
    return int(fields[18])

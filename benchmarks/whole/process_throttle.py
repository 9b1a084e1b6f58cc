"""Limits processes to a share of one core, as on a small or busy machine: by a cgroup, else by stopping them in turns.

A cgroup of its own is made and removed: version 2 (`cpu.max`, see Control Group v2 in the documentation of the kernel) or 1
(`cpu.cfs_quota_us`).
"""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Protocol

from benchmarks.whole.stack import say
from tests.whole.system import descendants

SHARE = 0.1
PERIOD = 0.1  # seconds in which the share is given


class Throttle(Protocol):
    """Limits processes."""

    def take(self, pids: Iterable[int]) -> None:
        """Limit these processes, with their present and future children."""

    def free(self) -> None:
        """Lift the limit of all processes."""


class ControlGroup:
    """Limits processes by a cgroup."""

    def __init__(self, directory: Path, quota: str, words: str) -> None:
        self._directory, self._quota, self._words = directory, quota, words

    def make(self) -> None:
        """Create the cgroup. Raises OSError if this kernel or machine does not allow it."""
        self._directory.mkdir()
        try:
            (self._directory / self._quota).write_text(self._words)
        except OSError:
            self._directory.rmdir()
            raise

    def take(self, pids: Iterable[int]) -> None:
        """Move processes into the group. Children start in their parent's group; one that was born during a move follows in the
        next round.
        """
        parents = list(pids)
        while outside := {*_list_families(parents)} - self._list_pids():
            _move(outside, self._directory)

    def _list_pids(self) -> set[int]:
        return set(map(int, (self._directory / "cgroup.procs").read_text().split()))

    def free(self) -> None:
        """Move processes back to the group above. One that is born meanwhile follows in the next round."""
        while pids := self._list_pids():
            _move(pids, self._directory.parent)

    def remove(self) -> None:
        """Empty the cgroup and remove it."""
        self.free()
        self._directory.rmdir()


def _move(pids: Iterable[int], to: Path) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # it has ended meanwhile
            (to / "cgroup.procs").write_text(str(pid))


def _list_families(pids: Iterable[int]) -> list[int]:
    return [each for pid in pids for each in (pid, *descendants(pid))]


class StopContinueThrottle:
    """Limits processes by stopping and continuing them in a rhythm."""

    def __init__(self) -> None:
        self._pids: list[int] = []
        self._lock, self._over = Lock(), Event()
        self._thread = Thread(target=self._run, name="throttle", daemon=True)
        self._thread.start()

    def take(self, pids: Iterable[int]) -> None:
        with self._lock:
            self._pids += pids

    def free(self) -> None:
        with self._lock:
            self._pids.clear()

    def remove(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.is_set():
            with self._lock:
                held = _list_families(self._pids)
                _signal(held, signal.SIGSTOP)
                self._over.wait(PERIOD * (1 - SHARE))
                _signal(held, signal.SIGCONT)
            self._over.wait(PERIOD * SHARE)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@contextmanager
def throttle() -> Iterator[Throttle]:
    """Yield a throttle to a tenth of one core, for all its processes together."""
    made = _make_control_group() or StopContinueThrottle()
    say(f"Held back by {type(made).__name__}")
    try:
        yield made
    finally:
        made.remove()


def _make_control_group() -> ControlGroup | None:
    name, microseconds = f"nw-slow-{os.getpid()}", round(PERIOD * 1_000_000)
    quota = round(microseconds * SHARE)
    groups = [ControlGroup(root / name, "cpu.max", f"{quota} {microseconds}") for root in _list_mounts("cgroup2")]
    groups += [ControlGroup(root / name, "cpu.cfs_quota_us", f"{quota}") for root in _list_mounts("cgroup", having="cpu")]
    for group in groups:
        with suppress(OSError):
            group.make()
            return group
    return None


def _list_mounts(kind: str, having: str = "") -> list[Path]:
    """List the mount points of cgroups of this kind (proc(5), /proc/mounts)."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    return [Path(where) for _device, where, fs, options, *_ in mounts if fs == kind and (not having or having in options.split(","))]

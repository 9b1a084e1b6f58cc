"""Noise and disturbance of a measurement: the variation of a fixed piece of work, and the other programs that used the
processors.

Reads /proc (proc(5), proc_stat(5)); CPU time of this process and of those that it started does not count as a disturbance.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")
REPEATS = 15
NAMED, SMALLEST = 5, 0.02  # of the listed programs: their number, and the cores in use


def measure_python_seconds(size: int = 20_000) -> float:
    """Return the seconds of a fixed piece of Python: tuples, a dictionary, a sort, text. The baseline for work done in Python."""
    start = time.perf_counter()
    pairs = {(number * 2_654_435_761 % 4_294_967_296, number): f"{number:08x}" for number in range(size)}
    ordered = sorted(pairs.items())
    "".join(text for _pair, text in ordered).encode()
    return time.perf_counter() - start


def measure_noise() -> float:
    """Return the spread of the baseline: half of the distance between its 10th and 90th percentile, as a share of its median."""
    times = sorted(measure_python_seconds() for _ in range(REPEATS))
    low, high = times[REPEATS // 10], times[-1 - REPEATS // 10]
    return (high - low) / 2 / median(times)


@dataclass
class Disturbance:
    """Noise and other programs during a measurement; complete when `watch_disturbance` ends."""

    noise: float = 0.0
    stolen: float = 0.0  # share of all processors' time that the host gave to other guests
    programs: dict[str, float] = field(default_factory=dict)  # cores in use

    def to_dict(self) -> dict[str, Any]:
        """Return the values for JSON; the busiest programs come first."""
        most = sorted(self.programs.items(), key=lambda pair: -pair[1])[:NAMED]
        busy = [{"program": name, "cores": round(cores, 2)} for name, cores in most if cores >= SMALLEST]
        return {"noise": round(self.noise, 4), "stolen": round(self.stolen, 4), "disturbed_by": busy}


@contextmanager
def watch_disturbance() -> Iterator[Disturbance]:
    """Measure noise before and after the block (the larger value counts), and the CPU time of other programs during it."""
    found = Disturbance(noise=measure_noise())
    start, before, stolen = time.monotonic(), _list_processes(), _read_stolen_ticks()
    try:
        yield found
    finally:
        seconds = time.monotonic() - start
        found.stolen = (_read_stolen_ticks() - stolen) / TICKS / seconds / (os.cpu_count() or 1)
        for pid, (name, ticks, _parent) in filter_unrelated(_list_processes(), os.getpid()).items():
            used = (ticks - before.get(pid, (name, 0, 0))[1]) / TICKS / seconds
            found.programs[name] = found.programs.get(name, 0) + used
        found.noise = max(found.noise, measure_noise())


Processes = dict[int, tuple[str, int, int]]  # by process id: name, processor time in ticks, parent


def _list_processes() -> Processes:
    """Return all running processes."""
    found: Processes = {}
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            try:
                head, _, rest = (directory / "stat").read_text().rpartition(")")
            except OSError:
                continue  # it has ended meanwhile
            fields = rest.split()
            found[int(directory.name)] = (head.partition("(")[2], int(fields[11]) + int(fields[12]), int(fields[1]))
    return found


def filter_unrelated(processes: Processes, pid: int) -> Processes:
    """Return the processes that are neither ancestors nor descendants of this one.

    A Python that started this process is our own supervisor: everything that it started is left out, too.
    """
    above, parent = {pid}, processes[pid][2]
    below = {pid, parent} if processes.get(parent, ("", 0, 0))[0].startswith("python") else {pid}
    while parent in processes:
        above.add(parent)
        parent = processes[parent][2]
    while grown := {each for each, (_name, _ticks, over) in processes.items() if over in below and each not in below}:
        below |= grown
    return {each: about for each, about in processes.items() if each not in above | below}


def _read_stolen_ticks() -> int:
    """Return the ticks that the host took from all processors together."""
    return int(Path("/proc/stat").read_text().split("\n", 1)[0].split()[8])

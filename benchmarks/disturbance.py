"""Noise and disturbance of a measurement: how far a fixed piece of work differs from itself, and which other programs used the processors.

Reads /proc (proc(5), proc_stat(5)); what this process and those it started used does not count as a disturbance.
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
NAMED, SMALLEST = 5, 0.02  # of the programs that are named: how many, and cores in use


def measure_python_seconds(size: int = 20_000) -> float:
    """Seconds of a fixed piece of Python: tuples, a dictionary, a sort, text. The baseline of what is computed in Python."""
    start = time.perf_counter()
    pairs = {(number * 2_654_435_761 % 4_294_967_296, number): f"{number:08x}" for number in range(size)}
    ordered = sorted(pairs.items())
    "".join(text for _pair, text in ordered).encode()
    return time.perf_counter() - start


def measure_noise() -> float:
    """Spread of the baseline against itself: half of the distance between its 10th and 90th percentile, as a share of its median."""
    times = sorted(measure_python_seconds() for _ in range(REPEATS))
    low, high = times[REPEATS // 10], times[-1 - REPEATS // 10]
    return (high - low) / 2 / median(times)


@dataclass
class Disturbance:
    """Filled while it is watched."""

    noise: float = 0.0
    stolen: float = 0.0  # share of all processors' time that the host gave to others
    programs: dict[str, float] = field(default_factory=dict)  # cores in use

    def to_dict(self) -> dict[str, Any]:
        """For JSON; the busiest programs first."""
        most = sorted(self.programs.items(), key=lambda pair: -pair[1])[:NAMED]
        busy = [{"program": name, "cores": round(cores, 2)} for name, cores in most if cores >= SMALLEST]
        return {"noise": round(self.noise, 4), "stolen": round(self.stolen, 4), "disturbed_by": busy}


@contextmanager
def watch_disturbance() -> Iterator[Disturbance]:
    """Noise before and after (the larger counts), and who else was busy between."""
    found = Disturbance(noise=measure_noise())
    start, before, stolen = time.monotonic(), _list_processes(), _read_stolen_ticks()
    try:
        yield found
    finally:
        seconds = time.monotonic() - start
        found.stolen = (_read_stolen_ticks() - stolen) / TICKS / seconds / (os.cpu_count() or 1)
        for pid, (name, ticks, _parent) in filter_others(_list_processes(), os.getpid()).items():
            used = (ticks - before.get(pid, (name, 0, 0))[1]) / TICKS / seconds
            found.programs[name] = found.programs.get(name, 0) + used
        found.noise = max(found.noise, measure_noise())


Processes = dict[int, tuple[str, int, int]]  # by process id: name, processor time in ticks, parent


def _list_processes() -> Processes:
    """Everything that runs."""
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


def filter_others(processes: Processes, pid: int) -> Processes:
    """Those that this process neither started nor comes from; a Python that started it is our own supervisor, with all that it started."""
    above, parent = {pid}, processes[pid][2]
    below = {pid, parent} if processes.get(parent, ("", 0, 0))[0].startswith("python") else {pid}
    while parent in processes:
        above.add(parent)
        parent = processes[parent][2]
    while grown := {each for each, (_name, _ticks, over) in processes.items() if over in below and each not in below}:
        below |= grown
    return {each: about for each, about in processes.items() if each not in above | below}


def _read_stolen_ticks() -> int:
    """Ticks that the host took, of all processors together."""
    return int(Path("/proc/stat").read_text().split("\n", 1)[0].split()[8])

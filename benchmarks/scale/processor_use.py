"""Processor time of programs with all their children, from /proc (proc(5), field numbers of stat)."""

import os
from collections.abc import Mapping
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PARENT, OWN, ENDED_CHILDREN = 1, slice(11, 13), slice(13, 15)  # fields after the name


def read_processor_seconds(programs: Mapping[str, int]) -> dict[str, float]:
    """Return the seconds that each program, by its process id, and its descendants have used so far, also those that have ended."""
    processes = _read_processes()
    return {name: _sum_seconds(pid, processes) for name, pid in programs.items()}


def _sum_seconds(pid: int, processes: Mapping[int, list[str]]) -> float:
    tree = fresh = {pid} & processes.keys()
    while fresh := {each for each, fields in processes.items() if int(fields[PARENT]) in fresh}:
        tree |= fresh
    return sum(int(ticks) for each in tree for part in (OWN, ENDED_CHILDREN) for ticks in processes[each][part]) / TICKS


def _read_processes() -> dict[int, list[str]]:
    """Return the fields of each process after its name, which may contain blanks and parentheses."""
    found = {}
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            try:
                found[int(directory.name)] = (directory / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
    return found

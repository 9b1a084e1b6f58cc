"""Runs benchmarks one after the other, each in a process of its own, and says how each has ended.

If one fails, its answer says so, and the others follow. An interrupt (Ctrl-C) ends the one that runs; those that have ended keep their
answers, and those that would follow are named.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, Any, Final

MISSED, FAILED = 2, 1  # exit statuses of a benchmark, besides 0
INTERRUPTED: Final = 130  # as a shell reports a program that SIGINT has ended


class BenchmarkOutcome(StrEnum):
    """How a benchmark has ended."""

    MET = "met"
    MISSED = "missed"
    FAILED = "failed"
    LEFT_OUT = "not run"


@dataclass(frozen=True)
class BenchmarkEnd:
    """How a benchmark has ended, and its answer: the JSON object that it printed, or one that says that there is none."""

    outcome: BenchmarkOutcome
    answer: dict[str, Any]


def run_in_sequence(commands: dict[str, Sequence[str]], *, in_json: bool) -> dict[str, BenchmarkEnd]:
    """Run each benchmark's command, and return how each has ended.

    in_json: they print their answers as JSON, which is caught; else they print tables. Progress is told on standard error.
    """
    ends = dict[str, BenchmarkEnd]()
    try:
        for number, (name, command) in enumerate(commands.items(), 1):
            print(f"── {name}, {number} of {len(commands)} ──", file=sys.stderr, flush=True)
            began = monotonic()
            ends[name] = _run_one(name, command, in_json=in_json)
            print(f"── {name}: {ends[name].outcome}, {monotonic() - began:.0f} s ──", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("── interrupted ──", file=sys.stderr, flush=True)
    return {name: ends.get(name) or BenchmarkEnd(BenchmarkOutcome.LEFT_OUT, {"bench": name, "not_run": True}) for name in commands}


def _run_one(name: str, command: Sequence[str], *, in_json: bool) -> BenchmarkEnd:
    with TemporaryFile("w+") as said:
        status = run_patiently(command, said if in_json else None)
        outcome = {0: BenchmarkOutcome.MET, MISSED: BenchmarkOutcome.MISSED}.get(status, BenchmarkOutcome.FAILED)
        if outcome is BenchmarkOutcome.FAILED:
            return BenchmarkEnd(outcome, {"bench": name, "failed": True})
        said.seek(0)
        return BenchmarkEnd(outcome, json.load(said) if in_json else {})


def run_patiently(command: Sequence[str], stdout: IO[str] | None = None) -> int:
    """Run a command and return its exit status. An interrupt reaches the command too, and is raised here after that has cleaned up."""
    with subprocess.Popen(command, stdout=stdout) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait()
            raise


def choose_status(ends: Iterable[BenchmarkEnd]) -> int:
    """Return the exit status of all of them: of the worst one."""
    outcomes = {end.outcome for end in ends}
    worst_first = {BenchmarkOutcome.LEFT_OUT: INTERRUPTED, BenchmarkOutcome.FAILED: FAILED, BenchmarkOutcome.MISSED: MISSED}
    return next((status for outcome, status in worst_first.items() if outcome in outcomes), 0)

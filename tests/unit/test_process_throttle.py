"""Processes that are slowed down for a benchmark run freely again when it ends."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.whole.process_throttle import StopContinueThrottle, throttle
from tests.whole.system import wait_for

BUSY = [sys.executable, "-S", "-c", "while True: pass"]
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="cgroups are made by root")


@pytest.fixture
def busy() -> Iterator[int]:
    with subprocess.Popen(BUSY) as process:
        yield process.pid
        process.kill()


def groups(pid: int) -> str:
    return Path(f"/proc/{pid}/cgroup").read_text()


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_cgroup_holds_a_process_and_is_gone_afterwards(busy: int) -> None:
    before = groups(busy)
    with throttle() as hold:
        if isinstance(hold, StopContinueThrottle):
            pytest.skip("this machine lets nobody make a cgroup with the controller for processors")
        hold.take([busy])
        assert f"nw-slow-{os.getpid()}" in groups(busy)
        hold.free()
        assert groups(busy) == before
        hold.take([busy])
    assert groups(busy) == before
    assert not list(Path("/sys/fs/cgroup").glob(f"**/nw-slow-{os.getpid()}"))


def test_what_runs_in_turns_is_stopped_now_and_then_and_runs_freely_afterwards(busy: int) -> None:
    turns = StopContinueThrottle()
    turns.take([busy])
    wait_for(lambda: state(busy) == "T")
    wait_for(lambda: state(busy) == "R")
    wait_for(lambda: state(busy) == "T")
    turns.remove()
    assert state(busy) != "T"

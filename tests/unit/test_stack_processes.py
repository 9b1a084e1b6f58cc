"""The supervisor with real processes."""

import asyncio
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from portal.stack.errors import StackError
from portal.stack.output import Output
from portal.stack.processes import Supervisor, run_concurrently, supervise
from portal.stack.program import Program

ROOT = Path(__file__).parents[2]
FOREVER = "while :; do read -t 60 <> <(:) || :; done"  # bash, without a child process
STUBBORN = f"trap '' TERM; {FOREVER}"


def shell(name: str, script: str) -> Program:
    return Program(name, ("bash", "-c", script))


def run_supervised(work: Callable[[Supervisor], object]) -> str:
    """Run `work`, which starts programs, until one of them ends; return the output."""
    stream = io.StringIO()

    async def run() -> None:
        async with supervise(os.environ, Output(stream)) as supervisor:
            work(supervisor)
            await asyncio.sleep(30)
            raise AssertionError("nothing ended it")

    try:
        asyncio.run(run())
    except StackError as failure:
        stream.write(f"END {failure}")
    return stream.getvalue()


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def runs(pid: int, program: str) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == program
    except FileNotFoundError:
        return False


def wait_until(condition: Callable[[], bool], within: float = 10.0) -> bool:
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_if_one_dies_all_are_stopped_and_it_is_named_with_its_status() -> None:
    pids = []

    def work(supervisor: Supervisor) -> None:
        pids.append(supervisor.start(shell("steady", FOREVER)).pid)
        pids.append(supervisor.start(shell("weak", "echo my last words; exit 7")).pid)

    shown = run_supervised(work)
    assert "my last words" in shown
    assert shown.endswith("END weak ended with status 7.")
    assert all(is_gone(pid) for pid in pids)


def test_a_program_that_ends_well_ends_all_too() -> None:
    assert run_supervised(lambda supervisor: supervisor.start(shell("brief", "exit 0"))).endswith("END brief ended with status 0.")


def test_a_program_that_is_killed_is_named_with_the_signal() -> None:
    assert run_supervised(lambda supervisor: supervisor.start(shell("victim", "kill -KILL $$"))).endswith(
        "END victim was ended by SIGKILL."
    )


def test_programs_are_stopped_in_the_reverse_order_of_their_start() -> None:
    def work(supervisor: Supervisor) -> None:
        for name in ("first", "second"):
            supervisor.start(shell(name, f"trap 'echo {name} stops; exit' TERM; echo ready; {FOREVER}"))
        asyncio.get_running_loop().call_later(0.5, os.kill, os.getpid(), signal.SIGTERM)

    shown = run_supervised(work)
    assert "SIGTERM: stopping" in shown
    assert shown.index("second stops") < shown.index("first stops")


def test_what_does_not_want_to_stop_is_killed_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portal.stack.processes.STOP_WITHIN", 0.5)
    pids: list[int] = []

    def work(supervisor: Supervisor) -> None:
        pids.append(supervisor.start(shell("stubborn", STUBBORN)).pid)
        asyncio.get_running_loop().call_later(0.2, os.kill, os.getpid(), signal.SIGINT)

    started = time.monotonic()
    run_supervised(work)
    assert time.monotonic() - started < 5
    assert is_gone(pids[0])


def test_children_of_a_dead_program_are_killed() -> None:
    shown = run_supervised(lambda supervisor: supervisor.start(shell("parent", f"({FOREVER}) & echo left $!; exit 1")))
    left = int(shown.split("left ")[1].split()[0])
    assert wait_until(lambda: is_gone(left))


def test_lines_that_are_held_back_are_shown_when_the_program_dies() -> None:
    program = Program("quiet", ("bash", "-c", "echo LOG: all is well; echo ERROR: not so well; exit 1"), hush="LOG:")
    shown = run_supervised(lambda supervisor: supervisor.start(program))
    assert shown.index("not so well") < shown.index("all is well")


def test_what_is_to_be_done_afterwards_is_done_when_it_is_stopped() -> None:
    keeper = (sys.executable, "-m", "portal.stack.wait_then_exec", "sh", "-c", "echo the lab goes down")
    with subprocess.Popen(keeper, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "Waiting for SIGTERM\n"
        process.terminate()
        assert process.stdout.read() == "the lab goes down\n"


def test_a_step_that_fails_is_named() -> None:
    async def run() -> None:
        async with supervise(os.environ, Output(io.StringIO())) as supervisor:
            await supervisor.run(shell("migrate", "exit 3"))

    with pytest.raises(StackError, match="migrate ended with status 3"):
        asyncio.run(run())


def test_of_two_things_side_by_side_the_one_that_fails_is_named_and_ends_the_other() -> None:
    stream, pids = io.StringIO(), list[int]()

    async def lasting(supervisor: Supervisor) -> None:
        pids.append(supervisor.start(shell("steady", FOREVER)).pid)
        await supervisor.run(shell("lasting", f"echo began; {FOREVER}"))

    async def failing(supervisor: Supervisor) -> None:
        await supervisor.wait_until(lambda: "began" in stream.getvalue(), "The other one's beginning")
        await supervisor.run(shell("migrate", "exit 3"))

    async def run() -> None:
        async with supervise(os.environ, Output(stream)) as supervisor:
            await run_concurrently(lasting(supervisor), failing(supervisor))

    with pytest.raises(StackError, match="migrate ended with status 3"):
        asyncio.run(run())
    assert is_gone(pids[0])


def test_a_wait_that_times_out_names_what_did_not_come() -> None:
    async def run() -> None:
        async with supervise(os.environ, Output(io.StringIO())) as supervisor:
            await supervisor.wait_until(lambda: False, "An answer", within=0.05)

    with pytest.raises(StackError, match="An answer did not come within"):
        asyncio.run(run())


ORPHANS = f"""
import asyncio, os
from portal.stack.output import Output
from portal.stack.processes import supervise
from portal.stack.program import Program

async def main():
    async with supervise(os.environ, Output()) as supervisor:
        for name in ("one", "two"):
            print(supervisor.start(Program(name, ("bash", "-c", {FOREVER!r}))).pid, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


def test_nobody_outlives_a_supervisor_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True, cwd=ROOT) as supervisor:
        assert supervisor.stdout is not None
        pids = [int(supervisor.stdout.readline()) for _ in range(2)]
        assert wait_until(lambda: all(runs(pid, "bash") for pid in pids)), "until then setpriv has not set the parent-death signal"
        alive = [pid for pid in pids if not is_gone(pid)]
        supervisor.kill()
        assert alive == pids
        assert wait_until(lambda: all(is_gone(pid) for pid in pids))

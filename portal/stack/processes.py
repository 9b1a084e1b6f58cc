"""Runs programs side by side and stops them together.

In: programs. Out: their lines, each with the program's name, and one end for all: the first program that ends also ends the
others, and so do Ctrl-C and SIGTERM. Nothing is restarted: a program that dies is an error to be seen.
"""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import IO, Any

from portal.stack.errors import StackError
from portal.stack.output import LineSplitter, Output
from portal.stack.program import Program

START_WITHIN = 600.0  # seconds for the first answer of a running program; waiting stops if the program ends
STOP_WITHIN = 9.0  # seconds for all programs together; then they are killed
CHUNK = 65_536
LAST_CHUNKS = 64
MAX_BUFFERED_LINES = 20


class RunningProgram:
    """One started program.

    With an output it leads its own process group, and its lines are shown as they come. Without one it uses our terminal, as if it
    had been started alone.
    """

    def __init__(self, program: Program, environment: Mapping[str, str], output: Output | None) -> None:
        self.program = program
        self._loop = asyncio.get_running_loop()
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if output else {}
        self._popen: subprocess.Popen[bytes] = subprocess.Popen(
            program.build_arguments(), env={**environment, **program.environment}, process_group=0 if output else None, **streams
        )
        self._reader = _Reader(self._popen.stdout, program, output) if output and self._popen.stdout else None
        # A pidfd becomes readable when the process ends, even if a child of it still holds the pipe.
        self._pidfd = os.pidfd_open(self._popen.pid)
        self.ended: asyncio.Future[int] = self._loop.create_future()
        self._loop.add_reader(self._pidfd, self._on_end)

    @property
    def pid(self) -> int:
        return self._popen.pid

    def _on_end(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        if self._reader:
            self._reader.read_last_words()
        self.ended.set_result(self._popen.wait())

    def tell_all(self) -> None:
        """Show the last lines that were held back: they may say why the program died."""
        if self._reader:
            self._reader.tell_all()

    async def stop(self, within: float) -> None:
        """Ask the program to end, wait up to this many seconds, and kill what is left: with an output its whole process group."""
        if not self.ended.done():
            self._popen.send_signal(self.program.stop)
            await asyncio.wait([self.ended], timeout=within)
        self._kill()
        await self.ended
        if self._reader:
            self._reader.close()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self._reader:
                os.killpg(self._popen.pid, signal.SIGKILL)  # the program and its children
            else:
                self._popen.kill()


class _Reader:
    """Shows the lines of a pipe as they come, and keeps the last of those that the program's `hush` holds back."""

    def __init__(self, pipe: IO[bytes], program: Program, output: Output) -> None:
        self._pipe, self._program, self._output = pipe, program, output
        self._lines = LineSplitter()
        self._held_back: deque[str] = deque(maxlen=MAX_BUFFERED_LINES)
        os.set_blocking(pipe.fileno(), False)
        asyncio.get_running_loop().add_reader(pipe.fileno(), self._read)

    def _read(self) -> bool:
        """Read and show what is there. Return False at the end of the pipe, or if nothing is there now."""
        try:
            data = os.read(self._pipe.fileno(), CHUNK)
        except BlockingIOError:
            return False
        for line in self._lines.feed(data) if data else self._lines.end():
            self._show(line)
        if not data:
            asyncio.get_running_loop().remove_reader(self._pipe.fileno())
        return bool(data)

    def _show(self, line: str) -> None:
        if self._program.hush and re.match(self._program.hush, line):
            self._held_back.append(line)
        else:
            self._output.write_line(self._program.name, line)

    def tell_all(self) -> None:
        while self._held_back:
            self._output.write_line(self._program.name, self._held_back.popleft())

    def read_last_words(self) -> None:
        for _ in range(LAST_CHUNKS):  # bounded: a child that outlives it may continue to write
            if not self._read():
                return

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pipe.fileno())
        self._pipe.close()


@dataclass(frozen=True)
class StopReason:
    """Everything is being stopped because of a signal or because the work is done, not because of an error."""

    by: str = ""


class Supervisor:
    """Starts and stops programs; use it inside `supervise`. Programs are stopped in the reverse order of their start."""

    def __init__(self, environment: Mapping[str, str], output: Output) -> None:
        self.environment = dict(environment)
        self.output = output
        self._started: list[RunningProgram] = []
        self._main = asyncio.current_task()
        self.reason: StopReason | StackError | None = None

    def start(self, program: Program) -> RunningProgram:
        """Start a program that must keep running: if it ends, with any status, everything ends."""
        running = RunningProgram(program, self.environment, self.output)
        self._started.append(running)

        def died(ended: asyncio.Future[int]) -> None:
            if self.reason is None:
                running.tell_all()
                self.end(StackError(f"{program.name} {describe_exit(ended.result())}."))

        running.ended.add_done_callback(died)
        return running

    async def run(self, program: Program) -> None:
        """Run a program that is expected to succeed, and wait for it. Raises StackError if it fails."""
        running = RunningProgram(program, self.environment, self.output)
        try:
            status = await asyncio.shield(running.ended)
        finally:
            await running.stop(within=1.0)
        if status != 0:
            running.tell_all()
            raise StackError(f"{program.name} {describe_exit(status)}.")

    async def run_in_foreground(self, program: Program) -> int:
        """Give the terminal to a program until it ends, and return its status. Ctrl-C is left to the program."""
        running = RunningProgram(program, self.environment, None)
        self._started.append(running)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return await asyncio.shield(running.ended)

    async def wait_until(self, ready: Callable[[], bool], what: str, *, within: float = START_WITHIN) -> None:
        """Poll until `ready` returns True. After this many seconds, raises StackError that names `what`."""
        deadline = time.monotonic() + within
        pause = 0.01
        while not await asyncio.to_thread(ready):
            if time.monotonic() > deadline:
                raise StackError(f"{what} did not come within {within:.0f} seconds.")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.2)

    def end(self, reason: StopReason | StackError) -> None:
        """End the work inside `supervise`. The first reason counts."""
        if self.reason is None:
            self.reason = reason
            if self._main is not None:
                self._main.cancel()

    async def stop(self) -> None:
        """Stop all programs in reverse order.

        Each gets an equal share of the remaining time, and leaves what it does not use to the others.
        """
        self.reason = self.reason or StopReason()
        deadline = time.monotonic() + STOP_WITHIN
        while self._started:
            share = max(deadline - time.monotonic(), 0.1) / len(self._started)
            await self._started[-1].stop(share)
            self._started.pop()


@contextlib.asynccontextmanager
async def supervise(environment: Mapping[str, str], output: Output) -> AsyncIterator[Supervisor]:
    """Yield a supervisor, and stop everything that it started at the end, whatever the end is.

    Raises the StackError that ended the work; returns normally after a signal.
    """
    supervisor = Supervisor(environment, output)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, supervisor.end, StopReason(signal.Signals(number).name))
    try:
        yield supervisor
    except asyncio.CancelledError:
        if supervisor.reason is None:
            raise
    finally:
        if isinstance(supervisor.reason, StopReason):
            output.say(f"{supervisor.reason.by}: stopping …")
        await _finish_uncancelled(supervisor.stop())
    if isinstance(supervisor.reason, StackError):
        raise supervisor.reason


async def run_concurrently(*works: Coroutine[None, None, None]) -> None:
    """Run all of them at once. The first that fails cancels the others, and its error is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None


async def _finish_uncancelled(work: Coroutine[None, None, None]) -> None:
    """Wait until the work is done, even if our task was cancelled a moment ago."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


def describe_exit(status: int) -> str:
    """Return in words how a process ended."""
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"

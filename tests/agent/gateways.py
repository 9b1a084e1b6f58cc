"""Gateways to test: the agent in process on the fake, in process on a kernel's namespace, and served on a socket.

All have the same methods: `ask`, `ask_anew` (over a new connection), `restart` (the agent dies without warning, the kernel
stays), `close`.
"""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from tempfile import mkdtemp
from threading import Thread
from typing import Protocol
from uuid import uuid4

from firewall import wire
from gateway.kernel import KernelTable
from gateway.memory_table import FakeKernel
from gateway.operations import Agent
from gateway.persistent_state import StateDirectory
from tests.agent.client import Client
from tests.agent.namespace import Namespace

ROOT = Path(__file__).parents[2]


def clock() -> int:
    """Return the gateways' time, in Unix seconds."""
    return int(time.time())


class AnyGateway(Protocol):
    """Interface of all gateways."""

    state: Path

    def ask(self, request: wire.Request) -> wire.Reply: ...

    def ask_anew(self, request: wire.Request) -> wire.Reply: ...

    def restart(self) -> None: ...

    def close(self) -> None: ...


class Hands:
    """Settable clocks of a gateway: `off` is the error of the machine's clock, `passed` the time skipped; both in seconds."""

    def __init__(self) -> None:
        self.off = self.passed = 0

    def wall(self) -> float:
        return time.time() + self.off

    def steady(self) -> float:
        return time.monotonic() + self.passed


def get_failover_path(state: Path) -> Path:
    """Return where a gateway's agent looks for failover.conf."""
    return state.parent / "failover.conf"


def build_agent(table: FakeKernel | KernelTable, directory: StateDirectory, hands: Hands, state: Path) -> Agent:
    """Build the agent of a gateway whose clocks the test sets."""
    failover = get_failover_path(state)
    return Agent(table, directory, name="gw1", boot="boot", clock=hands.wall, steady=hands.steady, failover=failover)


class InProcess:
    """The agent on a table in memory."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.hands = Hands()
        self.table = FakeKernel()
        self._start()

    def _start(self) -> None:
        self._directory = StateDirectory(self.state)
        self.agent = build_agent(self.table, self._directory, self.hands, self.state)
        self._opened = self.hands.steady()
        self.brought = self.agent.changes.restore()

    def ask(self, request: wire.Request) -> wire.Reply:
        return self.agent.answer(request, self._opened)

    def ask_anew(self, request: wire.Request) -> wire.Reply:
        self._opened = self.hands.steady()
        return self.ask(request)

    def restart(self) -> None:
        self._directory.close()
        self._start()

    def close(self) -> None:
        self._directory.close()


class OnKernel:
    """The agent on the kernel, in a network namespace of its own. build_table: what opens the table at each start."""

    build_table: Callable[[], KernelTable] = KernelTable

    def __init__(self, state: Path) -> None:
        self.state = state
        self.hands = Hands()
        self.space = Namespace()
        self.table = self.space.do(self.build_table)
        self.space.do(self._start)

    def _start(self) -> None:
        self._directory = StateDirectory(self.state)
        self.agent = build_agent(self.table, self._directory, self.hands, self.state)
        self._opened = self.hands.steady()
        self.brought = self.agent.changes.restore()

    def ask(self, request: wire.Request) -> wire.Reply:
        return self.space.do(self.agent.answer, request, self._opened)

    def ask_anew(self, request: wire.Request) -> wire.Reply:
        self._opened = self.hands.steady()
        return self.ask(request)

    def nft(self, *arguments: str) -> str:
        """Run nft in the gateway's namespace and return its output."""
        return self.space.do(lambda: subprocess.run(["nft", *arguments], check=True, capture_output=True, text=True).stdout)

    def restart(self) -> None:
        self._directory.close()
        self.space.do(self.table.close)
        self.table = self.space.do(self.build_table)
        self.space.do(self._start)

    def close(self) -> None:
        self._directory.close()
        self.space.do(self.table.close)
        self.space.close()


class Served:
    """The agent as a process: with `on_kernel`, in a network namespace that outlives it; else on a table in memory.

    root: the sources that it runs; version: in which it is asked.
    """

    def __init__(self, state: Path, *, on_kernel: bool, root: Path = ROOT, version: int = wire.VERSION) -> None:
        self.state = state
        self.root, self.version = root, version
        self.space = f"nw-test-{uuid4().hex[:12]}" if on_kernel else ""
        self._short = Path(mkdtemp(prefix="nw"))  # a socket's path must be short
        self.socket = self._short / "agent"
        if self.space:
            subprocess.run(["ip", "netns", "add", self.space], check=True)
        self.start()

    def command(self, *arguments: str) -> list[str]:
        """Return a command of the agent, in its namespace."""
        inside = ["ip", "netns", "exec", self.space] if self.space else []
        return [*inside, sys.executable, "-m", "gateway", *arguments]

    def start(self) -> None:
        """Start the agent and wait until it listens."""
        where = ["--socket", str(self.socket), "--state", str(self.state), "--failover", str(get_failover_path(self.state))]
        command = self.command("serve", "--name", "gw1", *where, *([] if self.space else ["--fake"]))
        self.log: list[str] = []
        self.process = subprocess.Popen(command, cwd=self.root, stderr=subprocess.PIPE, text=True)
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._reader = Thread(target=self._read_log, args=(self.process, self._lines), daemon=True)
        self._reader.start()
        self.wait_for_log("listening at")
        self.client = Client(self.socket, self.version)

    def wait_for_log(self, words: str) -> str:
        """Return the next line of the log that contains these words."""
        while line := self._lines.get():
            self.log.append(line)
            if words in line:
                return line
        raise AssertionError("".join(self.log))

    @staticmethod
    def _read_log(process: subprocess.Popen[str], lines: "SimpleQueue[str]") -> None:
        """Take every line at once, and "" at the end: an agent whose log nobody reads would wait for a reader."""
        assert process.stderr
        for line in process.stderr:
            lines.put(line)
        lines.put("")

    def ask(self, request: wire.Request) -> wire.Reply:
        return self.client.ask(request)

    def ask_anew(self, request: wire.Request) -> wire.Reply:
        """Ask over a new connection, which replaces the old one."""
        self.client.close()
        self.client = Client(self.socket, self.version)
        return self.ask(request)

    def kill(self) -> None:
        """Kill the agent with SIGKILL."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the agent in order, as systemd does."""
        self._end(signal.SIGTERM)

    def _end(self, by: signal.Signals) -> None:
        self.client.close()
        self.process.send_signal(by)
        self.process.wait()
        self._reader.join()
        assert self.process.stderr
        self.process.stderr.close()

    def restart(self) -> None:
        self.kill()
        self.start()

    def replace(self, root: Path, version: int) -> None:
        """Replace the agent by that of other sources, as an upgrade does; the kernel's table stays."""
        self.root, self.version = root, version
        self.restart()

    def nft(self, *arguments: str) -> str:
        """Run nft in the gateway's namespace and return its output."""
        command = ["ip", "netns", "exec", self.space, "nft", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        if self.space:
            subprocess.run(["ip", "netns", "delete", self.space], check=True)
        shutil.rmtree(self._short)

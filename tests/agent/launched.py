"""An agent under its launcher, restarted whenever it ends, as systemd does; and programs to try on it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread

from apps.gateways.agent_package.debian_package import build_program, read_sources
from firewall import wire
from firewall.agent_programs import DropProgram, KeepProgram, ProgramIs, ReadProgram, StoreProgram, TryProgram
from tests.agent.client import Client

SOURCES = read_sources()
PACKAGED = build_program(SOURCES)
TOKEN = 7
PATIENCE = 120.0  # seconds for the next line of a log
LONG = 600  # seconds of a trial that ends before


def digest_of(program: bytes) -> str:
    """Return a program's name on the wire."""
    return sha256(program).hexdigest()


def repack(**changed: str) -> bytes:
    """Return our program with other texts of modules of `gateway`, by their names."""
    return build_program(SOURCES | {f"gateway/{name}.py": text.encode() for name, text in changed.items()})


NEWER = repack(brought_by_a_test='"""Nothing."""\n')
CRASHES = repack(
    brought_by_a_test="",
    server=SOURCES["gateway/server.py"].decode() + "\nif 'serve' in __import__('sys').argv:\n    raise SystemExit(3)\n",
)
MUTE = repack(relay="", main="import sys, time\nmain = lambda: 0 if 'self-check' in sys.argv else time.sleep(3600)\n")
RESTORE = "\ndef restore(given):\n    log.info('restored by the kept program')\n    return {}\n"
RESTORES, RESTORES_NOTHING = (repack(main=SOURCES["gateway/main.py"].decode() + RESTORE.format(status)) for status in (0, 9))
NEEDS_MORE = repack(brought_by_a_test="import django\n")


type Wrap = Callable[[Sequence[str]], Sequence[str]]


class LaunchedGateway:
    """Runs the launcher again and again until `close`. What is asked goes to the program that listens then.

    more: options of the agent. wrap: how a command is run where the gateway is.
    """

    def __init__(
        self,
        home: Path,
        *,
        allowed: bool = True,
        name: str = "gw1",
        socket: Path | None = None,
        more: Sequence[str] = ("--fake",),
        wrap: Wrap = list,
    ) -> None:
        self.home, self.package, self.state = home, home / "netzwart-agent.pyz", home / "state"
        self.socket = socket or home / "agent"
        self.allowed_by = home / "allow-upgrades"
        self.package.write_bytes(PACKAGED)
        if allowed:
            self.allowed_by.touch()
        options = ["--state", str(self.state), "--allowed-by", str(self.allowed_by)]
        self.launch = wrap([sys.executable, str(self.package), "launch", *options])
        serve = ["serve", "--name", name, "--socket", str(self.socket), "--state", str(self.state), *more]
        self._command = [*self.launch, *serve]
        self._ends, self._changing = False, Lock()
        read, self._written = os.pipe()
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._reader = Thread(target=self._read_log, args=(read,))
        self._reader.start()
        self._start()
        self._keeper = Thread(target=self._restart_always)
        self._keeper.start()
        self.await_line("listening at")

    def _start(self) -> None:
        self._process = subprocess.Popen(self._command, stderr=self._written)

    def _restart_always(self) -> None:
        while self._process.wait() is not None:
            with self._changing:
                if self._ends:
                    return
                self._start()

    def await_line(self, text: str) -> str:
        """Return the next line of the log with this text. Lines before it are skipped. Raises queue.Empty if there is none in time."""
        while text not in (line := self._lines.get(timeout=PATIENCE)):
            pass
        return line

    def _read_log(self, read: int) -> None:
        """Take every line at once: an agent whose log nobody reads would wait for a reader."""
        with os.fdopen(read) as log:
            for line in log:
                self._lines.put(line)

    def ask(self, request: wire.Request) -> wire.Reply:
        """Ask over a new connection."""
        client = Client(self.socket)
        try:
            return client.ask(request)
        finally:
            client.close()

    def ask_anew(self, request: wire.Request) -> wire.Reply:
        return self.ask(request)

    def tell(self, request: wire.Request) -> ProgramIs:
        """Ask what must not be refused."""
        answer = self.ask(request)
        assert isinstance(answer, ProgramIs), answer
        return answer

    def read(self) -> ProgramIs:
        return self.tell(ReadProgram())

    def store(self, program: bytes) -> wire.Reply:
        return self.ask(StoreProgram(TOKEN, digest_of(program), program))

    def try_out(self, program: bytes, within: int = LONG, *, until: str = "listening at") -> None:
        """Store the program and begin its trial; return when the log says `until`."""
        assert isinstance(self.store(program), ProgramIs)
        assert self.tell(TryProgram(TOKEN, digest_of(program), within)).trial == digest_of(program)
        self.await_line(until)

    def keep(self, program: bytes) -> wire.Reply:
        return self.ask(KeepProgram(TOKEN, digest_of(program)))

    def drop(self) -> ProgramIs:
        return self.tell(DropProgram(TOKEN))

    def restart(self) -> None:
        self.kill()

    def kill(self) -> None:
        """SIGKILL to launcher and program at once, as a power cut; return when the next program listens."""
        self._process.kill()
        self.await_line("listening at")

    def restore(self, *before: str) -> "subprocess.CompletedProcess[str]":
        """Restore the ruleset as at boot. before: how to run the command."""
        command = [*before, *self.launch, "restore", "--state", str(self.state)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def close(self) -> None:
        """Stop it for good. May be called twice."""
        if self._ends:
            return
        with self._changing:
            self._ends = True
            self._process.terminate()
        self._keeper.join()
        os.close(self._written)
        self._reader.join()


@contextmanager
def launch_gateway(home: Path, *, allowed: bool = True, wrap: Wrap = list) -> Iterator[LaunchedGateway]:
    """Yield an agent under its launcher."""
    gateway = LaunchedGateway(home, allowed=allowed, wrap=wrap)
    try:
        yield gateway
    finally:
        gateway.close()

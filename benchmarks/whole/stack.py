"""The whole product as its parts: each can be started, killed and started again. Knows nothing of the measurements.

Everything is started as `script/server` starts it (`portal.stack.commands`): agents on the kernel behind a real sshd each, a
worker on the management network, the ticker, PostgreSQL as in production, Redis. The web server is left out: the benchmark takes
its part.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from django.core.management import call_command
from django.db import connection

from apps.accounts.models import User
from apps.desk.seeding import demo, lab_network, network_plan
from apps.network.models import GatewayGroup
from lab import sshd as lab_sshd
from lab.lab import Lab
from lab.register import LabRegisterEntry
from lab.topology import parse_topology
from portal import programs
from portal.stack import commands, postgres, redis, sshd
from portal.stack.ports import find_free_port
from portal.stack.program import Program
from portal.stack.state_paths import StatePaths
from tests.whole.system import descendants

TOPOLOGY = programs.ROOT / "lab" / "topology.toml"
EVENTS_PORT = 8700  # or the next free one
PATIENCE = 600.0  # seconds: enough for a slow machine


def say(words: str) -> None:
    """Print progress on standard error."""
    print(words, file=sys.stderr, flush=True)


def wait_until(ready: Callable[[], bool], what: str, *, seconds: float = PATIENCE) -> None:
    """Poll until ready. Raises SystemExit, with the name of the missing event, after `seconds`."""
    give_up = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > give_up:
            raise SystemExit(f"{what} did not come within {seconds:.0f} s")
        time.sleep(0.01)


class StackPart:
    """One program of the stack, with a log of its own."""

    def __init__(self, program: Program, log: Path, ready: Callable[[], bool]) -> None:
        self.program, self.log, self._ready = program, log, ready
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it is ready."""
        with self.log.open("ab") as log:
            environment = {**os.environ, "PYTHONUNBUFFERED": "1", **self.program.environment}
            self._process = subprocess.Popen(
                self.program.build_arguments(),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
                cwd=programs.ROOT,
            )
        wait_until(lambda: self._ready() or not self.is_running, f"{self.program.name} (its log: {self.log})")
        if not self.is_running:
            raise SystemExit(f"{self.program.name} ended:\n{self.read_tail()}")

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self._process.pid if self._process and self.is_running else None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def read_tail(self) -> str:
        """Return the last lines of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-30:])

    def stop(self) -> None:
        """Stop it in the regular way; kill it if that takes longer than 10 s."""
        if self._process is not None:
            self._process.send_signal(self.program.stop)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self, *, number: signal.Signals = signal.SIGKILL) -> None:
        """Kill it, with SIGKILL also all its children, and wait until it has ended."""
        if self._process is None:
            return
        for pid in (self._process.pid, *(descendants(self._process.pid) if number == signal.SIGKILL else ())):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
        self._process.wait(30)


class Stack:
    """All parts, and the network they serve."""

    def __init__(self, places: StatePaths, lab: Lab) -> None:
        self.places, self.lab = places, lab
        logs = places.var / "log"
        logs.mkdir(parents=True, exist_ok=True)
        self.postgres = StackPart(postgres.build_program(places), logs / "postgres.log", lambda: postgres.is_answering(places))
        self.redis = StackPart(redis.build_program(places), logs / "redis.log", lambda: redis.is_answering(places))
        self.agents = {name: self._build_agent(name, logs) for name in commands.GATEWAYS}
        self.sshds = {name: self._build_sshd(name, logs) for name in commands.GATEWAYS}
        worker_log = logs / "worker.log"
        self.worker = StackPart(
            commands.wrap_program_in_lab(places, commands.build_changes_worker()), worker_log, lambda: _is_ready_again(worker_log, self)
        )
        self.collector = StackPart(commands.wrap_program_in_lab(places, commands.build_collector()), logs / "collector.log", lambda: True)
        self.beat = StackPart(commands.build_ticker(places), logs / "beat.log", lambda: True)
        self.watchers = [StackPart(program, logs / f"{program.name}.log", lambda: True) for program in _list_watchers(places)]
        self.worker_begins = 0

    def _build_agent(self, name: str, logs: Path) -> StackPart:
        socket = commands.get_gateway_socket(self.places, name)
        return StackPart(commands.build_gateway(self.places, name, "--group", lab_sshd.GROUP), logs / f"{name}.log", socket.exists)

    def _build_sshd(self, name: str, logs: Path) -> StackPart:
        return StackPart(sshd.build_program(self.places, name), logs / f"{name}.sshd.log", lambda: sshd.is_answering(self.places, name))

    def start_agent(self, name: str) -> None:
        """Start an agent as systemd does, with a socket of its own."""
        commands.get_gateway_socket(self.places, name).unlink(missing_ok=True)
        self.agents[name].start()

    def start_worker(self) -> None:
        """Start the worker and wait until it takes tasks."""
        self.worker_begins = self.worker.log.stat().st_size if self.worker.log.exists() else 0
        self.worker.start()

    @property
    def parts(self) -> list[StackPart]:
        """All parts in the order in which they are stopped."""
        return [
            self.beat,
            *self.watchers,
            self.collector,
            self.worker,
            *self.sshds.values(),
            *self.agents.values(),
            self.redis,
            self.postgres,
        ]


def _list_watchers(places: StatePaths) -> list[Program]:
    """Return the programs that bring nothing to the gateways, but whose absence is a fault that the portal tells: probers and the rest."""
    beside = (commands.build_mailer(), commands.build_feed_worker(), commands.build_events(find_free_port(EVENTS_PORT)))
    return [*(commands.build_prober(places, name) for name in commands.GATEWAYS), *beside]


def _is_ready_again(log: Path, stack: Stack) -> bool:
    with log.open("rb") as file:
        file.seek(stack.worker_begins)
        return b" ready." in file.read()


@contextmanager
def run_stack(places: StatePaths, *, members: int, watched: bool = False) -> Iterator[Stack]:
    """Start everything for the block; the gateways have no ruleset yet. Everything is stopped at its end. watched: also the watchers."""
    postgres.prepare(places)
    places.gateway_sockets.mkdir(parents=True, exist_ok=True)
    places.beat_schedule.parent.mkdir(parents=True, exist_ok=True)
    sshd.prepare(places)
    with Lab.start(parse_topology(TOPOLOGY.read_text())) as lab:
        LabRegisterEntry(places.lab, places.lab_name).directory.mkdir(parents=True, exist_ok=True)
        LabRegisterEntry(places.lab, places.lab_name).write(lab, TOPOLOGY.read_text())
        stack = Stack(places, lab)
        try:
            _start(stack, members, probed=watched)
            for each in stack.watchers if watched else ():
                each.start()
            yield stack
        finally:
            connection.close()
            for part in stack.parts:
                part.stop()


def _start(stack: Stack, members: int, *, probed: bool) -> None:
    stack.postgres.start()
    stack.redis.start()
    say(f"Filling a database with {members} members …")
    call_command("migrate", verbosity=0)
    seed(stack.places, members, probed=probed)
    for name in commands.GATEWAYS:
        stack.start_agent(name)
        stack.sshds[name].start()
    stack.start_worker()
    stack.collector.start()
    stack.beat.start()


def seed(places: StatePaths, members: int, *, probed: bool) -> None:
    """Write a network of this many members and its administrators; the first members live on the lab's hosts. probed: with probes."""
    host_keys = {name: lab_sshd.ensure_host_key(places.sshd / name) for name in commands.GATEWAYS}
    link = "lab" if probed else "ssh"
    today = date.today()  # noqa: DTZ011 - any day will do
    network_plan.write_plan(
        network_plan.make_plan(1, members, lab_network.read_lab_network(members), today, demo.RESIDENTS, demo.FORWARDS), link, host_keys
    )
    admin = User.objects.create(username="mara", roles=["network_admin", "approver"])
    User.objects.create(username="jakob", roles=["network_admin", "approver"])
    demo.seed_bans(admin)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def get_group() -> GatewayGroup:
    """Return the seeded group."""
    return GatewayGroup.objects.get()

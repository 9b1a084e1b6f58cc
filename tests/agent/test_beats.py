"""Beats: a client that waits long for an answer receives signs of life from the agent, with its progress."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from ipaddress import IPv4Network
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Event, RLock
from time import monotonic
from types import MethodType
from typing import Any

import pytest

from firewall import wire
from firewall.diff import Delta
from firewall.live_trace import Look, Watch
from gateway.memory_table import FakeKernel
from gateway.operations import Agent
from gateway.persistent_state import StateDirectory
from gateway.server import AgentServer
from gateway.table import approve_all
from tests.agent.client import PATIENCE, Client
from tests.agent.gateways import clock
from tests.agent.rulesets import network, text_of, whole

OFTEN = 0.01  # seconds between beats


class Waiting(FakeKernel):
    """A table that does not load until `may` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.may = Event()

    def commit(self, delta: Delta, now: float, approve: Callable[[], object] = approve_all) -> None:
        self.progress.begin("loading", 70)
        self.progress.add(30)
        assert self.may.wait(PATIENCE)
        super().commit(delta, now, approve)


class Busy:
    """An agent behind its socket, with a table that waits in its first load."""

    def __init__(self, table: Waiting) -> None:
        self.table, self._directory = table, Path(mkdtemp(prefix="nw"))  # a socket's path must be short
        self.socket, self._listens = self._directory / "agent", Event()
        self._thread = ThreadPoolExecutor(1)
        self._served = self._thread.submit(self._run)
        assert self._listens.wait(PATIENCE), self._served.result()

    def _run(self) -> None:
        with closing(StateDirectory(self._directory / "state")) as state:
            agent = Agent(self.table, state, name="gw1", boot="boot", clock=clock)
            agent.changes.restore()
            asyncio.run(self._serve(AgentServer(agent, beat=OFTEN)))

    async def _serve(self, server: AgentServer) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        served = await asyncio.start_unix_server(server.handle_peer, self.socket, limit=wire.MAX_LINE)
        self._listens.set()
        await self._end.wait()
        served.close()
        await server.end()

    def send_and_wait(self, request: wire.Request) -> Client:
        """Return a client that has sent the request and waits for the answer."""
        client = Client(self.socket)
        client.send(b"".join(wire.iter_lines(7, request)))
        return client

    def stop(self) -> None:
        """Stop the agent as SIGTERM does."""
        self._loop.call_soon_threadsafe(self._end.set)

    def close(self) -> None:
        self.table.may.set()
        self.stop()
        self._served.result(PATIENCE)
        self._thread.shutdown()
        rmtree(self._directory)


@pytest.fixture
def busy() -> Iterator[Busy]:
    made = Busy(Waiting())
    yield made
    made.close()


SHARED = {"tally", "occupied", "tuned", "connections"}  # methods of the table that may be called beside all others


class Alone(Waiting):
    """Notes methods that are called on one thread while another thread is inside the table."""

    def __init__(self) -> None:
        super().__init__()
        self._inside, self.clashes = RLock(), set[str]()

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or name in SHARED or not isinstance(found, MethodType):
            return found

        def watched(*args: Any, **kwargs: Any) -> Any:
            if not self._inside.acquire(blocking=False):
                self.clashes.add(name)
                return found(*args, **kwargs)
            try:
                return found(*args, **kwargs)
            finally:
                self._inside.release()

        return watched


ASKED: tuple[wire.Request, ...] = (
    wire.Hello(0),
    wire.Plan(0, network(1)),
    wire.Revert(2),
    wire.Digest(0),
    wire.Drift(0),
    wire.Counters("", 0),
    wire.Gauges(),
    Watch(IPv4Network("192.0.2.1/32"), None, 0, 0, "", 10, 10),
    Look(1, 0, False),
)


def test_whatever_is_asked_meanwhile_the_table_does_one_thing_at_a_time() -> None:
    busy = Busy(table := Alone())
    first = busy.send_and_wait(whole(network(3), token=1, now=clock()))
    beats(first, 1)
    others = [busy.send_and_wait(each) for each in ASKED]
    for client in others:
        beats(client, 3)
    table.may.set()
    for client in (first, *others):
        assert not isinstance(client.answer()[1], wire.Beat)
        client.close()
    busy.close()
    assert table.clashes == set()


def beats(client: Client, number: int) -> list[wire.Reply]:
    return [client.receive()[1] for _ in range(number)]


def test_whoever_waits_hears_what_is_done_and_how_much_of_it(busy: Busy) -> None:
    with closing(busy.send_and_wait(whole(network(3), token=1, now=clock()))) as portal:
        assert any(portal.receive()[1] == wire.Beat("loading", 30, 70) for _ in range(3_000))
        busy.table.may.set()
        assert isinstance(portal.answer()[1], wire.Applied)


def test_who_waits_behind_another_hears_it_too_and_gets_the_answer_in_turn(busy: Busy) -> None:
    first = busy.send_and_wait(whole(network(3), token=1, now=clock()))
    beats(first, 1)
    with (
        closing(first),
        closing(busy.send_and_wait(wire.Hello(clock()))) as second,
        closing(busy.send_and_wait(wire.Counters("", 0))) as collector,
    ):
        assert all(isinstance(each, wire.Beat) for client in (second, collector) for each in beats(client, 5))
        busy.table.may.set()
        welcome = second.answer()[1]
        assert isinstance(welcome, wire.Welcome)
        assert welcome.trial == text_of(network(3))
        assert isinstance(collector.answer()[1], wire.Reading)
        assert isinstance(first.answer()[1], wire.Applied)


def test_an_agent_that_is_stopped_brings_what_it_does_to_its_end(busy: Busy) -> None:
    first = busy.send_and_wait(whole(network(3), token=1, now=clock()))
    beats(first, 1)
    busy.stop()
    with closing(first):
        beats(first, 5)
    busy.table.may.set()


def test_a_quick_answer_comes_alone(busy: Busy) -> None:
    with closing(Client(busy.socket)) as portal:
        begun = monotonic()
        assert isinstance(portal.ask(wire.Hello(clock())), wire.Welcome)
        assert len(portal.beats) <= (monotonic() - begun) / OFTEN

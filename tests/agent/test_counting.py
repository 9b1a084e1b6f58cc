"""Reading all counters: exact while elements come and go, and without delay for other clients."""

import asyncio
import dataclasses
import logging
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Event

import pytest

from firewall import wire
from firewall.diff import Delta, ElementChange, diff
from firewall.ruleset import EMPTY, PLAIN, Element, Ruleset, Set, Type
from gateway.counter_reading import CounterReader
from gateway.operations import Agent
from gateway.persistent_state import StateDirectory
from gateway.server import AgentServer
from gateway.table import ElementCounts, TableError
from tests.agent.client import PATIENCE, Client
from tests.agent.conftest import Bench, make_gateway_param
from tests.agent.counter_tables import GatedFakeKernel, GatedKernel, ReadingGate, count, name_counts, read
from tests.agent.gateways import clock
from tests.agent.rulesets import key, network, step, text_of, whole

UP = Set("up4", (Type.IPV4,), 1 << 14, counter=True)
BANS = Set("bans4_32", (Type.IPV4,), 1 << 14, counter=True, timeout=True)
KEYS = [key(f"10.{high}.{low}.1") for high in range(15) for low in range(200)]  # a dump of them has several parts


def commit(bench: Bench, delta: Delta) -> None:
    bench.do(bench.table.commit, delta, clock())


def holding(of: Set, keys: list[bytes]) -> Ruleset:
    return Ruleset(sets={of.name: of}, elements={of.name: dict.fromkeys(keys, PLAIN)})


@pytest.mark.parametrize("of", [UP, BANS])
def test_whatever_comes_and_goes_between_its_parts_a_reading_names_each_once_and_forgets_none(bench: Bench, of: Set) -> None:
    commit(bench, diff(EMPTY, holding(of, KEYS)))
    counts = {each: (at + 1, 100 * (at + 1)) for at, each in enumerate(KEYS)}
    count(bench, of.name, counts)
    leaving, returning, staying = KEYS[::3], KEYS[1::3], KEYS[2::3]
    coming = [key(f"10.{each[1]}.{each[2]}.2") for each in leaving]
    tally: ElementCounts = {}
    parts = bench.table.read_counts(of.name, KEYS, tally)
    for at in range(0, len(leaving), 200):
        assert bench.do(next, parts, True) is None, "there is more to read than there are changes"
        old, new, again = (dict.fromkeys(each[at : at + 200], PLAIN) for each in (leaving, coming, returning))
        commit(bench, Delta(elements={of.name: ElementChange(of, old | again, new | again)}))
    bench.do(list, parts)
    assert {each: tally[each] for each in staying} == {each: counts[each] for each in staying}
    assert {each for each in returning if tally[each] not in (counts[each], (0, 0))} == set()
    assert {each for each in leaving if tally.get(each, counts[each]) != counts[each]} == set()
    assert tally.keys() <= {*KEYS, *coming}


def test_those_that_counted_nothing_are_left_out_and_yet_told_how_many_there_are(bench: Bench) -> None:
    commit(bench, diff(EMPTY, holding(UP, KEYS)))
    counts = {KEYS[7]: (3, 300), KEYS[2000]: (1, (1 << 63) - 1)}
    count(bench, "up4", counts)
    reading = read(bench).sets["up4"]
    assert (reading.elements, name_counts(reading)) == (len(KEYS), counts)


def test_texts_and_ends_of_any_length_are_no_obstacle(bench: Bench) -> None:
    elements = {each: Element(b"", "x" * (at % 40), clock() + 3600 if at % 3 else 0) for at, each in enumerate(KEYS)}
    commit(bench, diff(EMPTY, dataclasses.replace(holding(BANS, []), elements={"bans4_32": elements})))
    counts = {each: (at + 1, 50) for at, each in enumerate(KEYS[::100])}
    count(bench, "bans4_32", counts)
    reading = read(bench).sets["bans4_32"]
    assert (reading.elements, name_counts(reading)) == (len(KEYS), counts)


def test_a_set_that_vanishes_meanwhile_has_counted_nothing(bench: Bench) -> None:
    commit(bench, diff(EMPTY, holding(UP, KEYS)))
    tally: ElementCounts = {}
    parts = bench.table.read_counts("up4", KEYS, tally)
    bench.do(next, parts)
    commit(bench, diff(holding(UP, KEYS), EMPTY))
    bench.do(list, parts)
    assert not tally


@pytest.mark.parametrize("bench", [make_gateway_param("kernel")], indirect=True)
def test_a_table_that_is_made_anew_meanwhile_is_told_and_not_read_as_a_mixture(bench: Bench) -> None:
    commit(bench, diff(EMPTY, holding(UP, KEYS)))
    counting = bench.do(CounterReader, bench.table, {"up4": dict.fromkeys(KEYS, PLAIN)})
    bench.do(counting.read, "up4")
    bench.do(lambda: subprocess.run(["nft", "delete", "table", "inet", "netzwart"], check=True))
    with pytest.raises(TableError, match="created again while its counters were read"):
        bench.do(lambda: counting.build_reading(boot="boot", sequence=1, at=0))


def test_a_reading_that_is_stopped_ends_with_its_next_part(bench: Bench) -> None:
    commit(bench, diff(EMPTY, holding(UP, KEYS)))
    counting = bench.do(CounterReader, bench.table, {})
    counting.stop()
    with pytest.raises(TableError, match="was stopped"):
        bench.do(counting.read, "up4")


class TakeBackListener(logging.Handler):
    """Sets an event when the agent has logged that it took something back."""

    def __init__(self, took_back: Event) -> None:
        super().__init__()
        self._told = took_back

    def emit(self, record: logging.LogRecord) -> None:
        if "was taken back at" in record.getMessage():
            self._told.set()


class Behind:
    """An agent behind its socket, on a thread of this process; its readings wait at a gate."""

    def __init__(self, *, on_kernel: bool) -> None:
        self.gate = ReadingGate()
        self._on_kernel, self._directory = on_kernel, Path(mkdtemp(prefix="nw"))  # a socket's path must be short
        self.socket = self._directory / "agent"
        self._listens, self.took_back = Event(), Event()
        self._listener = TakeBackListener(self.took_back)
        logging.getLogger("gateway").addHandler(self._listener)
        self._thread = ThreadPoolExecutor(1)
        self._served = self._thread.submit(self._run)
        assert self._listens.wait(PATIENCE), self._served.result()

    def _run(self) -> None:
        if self._on_kernel:
            os.unshare(os.CLONE_NEWNET)
        table: GatedFakeKernel | GatedKernel = GatedKernel(self.gate) if self._on_kernel else GatedFakeKernel(self.gate)
        with closing(StateDirectory(self._directory / "state")) as state, closing(table):
            agent = Agent(table, state, name="gw1", boot="boot", clock=clock)
            agent.changes.restore()
            asyncio.run(self._serve(AgentServer(agent)))

    async def _serve(self, server: AgentServer) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        served = await asyncio.start_unix_server(server.handle_peer, self.socket, limit=wire.MAX_LINE)
        self._listens.set()
        await self._end.wait()
        served.close()

    def client(self) -> Client:
        return Client(self.socket)

    def end(self) -> None:
        """Stop the agent as SIGTERM does."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._served.result(PATIENCE)

    def close(self) -> None:
        self.gate.opened.set()
        if not self._served.done():
            self.end()
        self._thread.shutdown()
        logging.getLogger("gateway").removeHandler(self._listener)
        rmtree(self._directory)


@pytest.fixture(params=["in memory", make_gateway_param("kernel")])
def behind(request: pytest.FixtureRequest, kernel_is_there: str) -> Iterator[Behind]:
    if request.param == "kernel" and kernel_is_there:
        pytest.skip(f"no kernel to test on: {kernel_is_there}")
    made = Behind(on_kernel=request.param == "kernel")
    yield made
    made.close()


def change(behind: Behind, request: wire.Apply) -> None:
    """Apply, and confirm over a new connection."""
    for asked, expected in ((request, wire.Applied), (wire.Confirm(request.token, request.target), wire.Confirmed)):
        with closing(behind.client()) as portal:
            answer = portal.ask(asked)
        assert isinstance(answer, expected), answer


def ask_for_counters(behind: Behind) -> Client:
    """Return a client that has asked for the counters and not yet received the answer."""
    client = behind.client()
    client.send(b"".join(wire.iter_lines(7, wire.Counters("", 0))))
    return client


def reading_of(client: Client) -> wire.Reading:
    with closing(client):
        number, answer = client.answer()
    assert number == 7
    assert isinstance(answer, wire.Reading), answer
    return answer


def test_a_change_is_applied_and_confirmed_while_the_counters_are_being_read(behind: Behind) -> None:
    change(behind, whole(network(3), token=1, now=clock()))
    collector = ask_for_counters(behind)
    assert behind.gate.begun.wait(PATIENCE)
    change(behind, step(network(3), network(4), token=2, now=clock()))
    behind.gate.opened.set()
    reading = reading_of(collector)
    assert (reading.sequence, {3, 4} >= {counts.elements for counts in reading.sets.values()}) == (1, True)
    with closing(behind.client()) as portal:
        assert isinstance(there := portal.ask(wire.Digest(clock())), wire.DigestIs)
        assert (there.digest, there.rules_as_committed) == (text_of(network(4)), True)


def test_what_nobody_confirms_is_taken_back_while_the_counters_are_being_read(behind: Behind) -> None:
    change(behind, whole(network(3), token=1, now=clock()))
    with closing(behind.client()) as portal:
        assert isinstance(portal.ask(step(network(3), network(4), token=2, now=clock(), within=1)), wire.Applied)
        collector = ask_for_counters(behind)
        assert behind.gate.begun.wait(PATIENCE)
        assert behind.took_back.wait(PATIENCE)
        assert isinstance(there := portal.ask(wire.Digest(clock())), wire.DigestIs)
        assert there.digest == text_of(network(3))
    behind.gate.opened.set()
    assert reading_of(collector).sequence == 1


def test_who_asks_while_others_read_gets_a_reading_of_his_own(behind: Behind) -> None:
    change(behind, whole(network(3), token=1, now=clock()))
    collectors = [ask_for_counters(behind) for _ in range(3)]
    assert behind.gate.begun.wait(PATIENCE)
    behind.gate.opened.set()
    assert sorted(reading_of(each).sequence for each in collectors) == [1, 2, 3]


def test_a_collector_that_leaves_before_its_answer_holds_up_nobody(behind: Behind) -> None:
    change(behind, whole(network(3), token=1, now=clock()))
    gone = ask_for_counters(behind)
    assert behind.gate.begun.wait(PATIENCE)
    gone.close()
    behind.gate.opened.set()
    assert reading_of(ask_for_counters(behind)).sequence == 2


def test_a_reading_that_fails_is_refused_and_the_next_one_is_answered(behind: Behind) -> None:
    change(behind, whole(network(3), token=1, now=clock()))
    behind.gate.fault = TableError("the kernel has no memory left")
    behind.gate.opened.set()
    with closing(ask_for_counters(behind)) as collector:
        assert collector.receive() == (7, wire.Refused("state", "the kernel has no memory left"))
    behind.gate.fault = None
    assert reading_of(ask_for_counters(behind)).sequence == 1


def test_the_agent_ends_while_the_counters_are_being_read(behind: Behind) -> None:
    change(behind, whole(network(3), token=1, now=clock()))
    collector = ask_for_counters(behind)
    assert behind.gate.begun.wait(PATIENCE)
    behind.end()
    with closing(collector), pytest.raises(EOFError):
        collector.receive()

"""The agent and its prober: results, error messages, and time limits."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic

import pytest

from firewall import wire
from firewall.probe_messages import Connected, InwardSeen, Probe, Probed, ProbeRound, ProbesRead, ReadProbes, Target, TargetSeen
from gateway import prober as prober_module
from gateway.memory_table import FakeKernel
from gateway.operations import Agent
from gateway.persistent_state import StateDirectory
from gateway.prober import MOST_TARGETS
from gateway.probes.responder_protocol import LONGEST_REASON
from gateway.probes.standing import KEPT
from tests.agent.client import Client
from tests.agent.gateways import ROOT, clock


@pytest.fixture
def place() -> Iterator[Path]:
    """Yield the path of a prober's socket. It must be short."""
    with TemporaryDirectory(prefix="nw-") as directory:
        yield Path(directory) / "prober"


@pytest.fixture
def prober(place: Path) -> Iterator[Path]:
    """Run a prober here, as a process; yield the path of its socket."""
    command = [sys.executable, "-m", "gateway", "prober", "--socket", str(place)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert "listens at" in process.stderr.readline()
        yield place
        process.terminate()
        assert process.wait(60) == 0
    assert not place.exists()


@pytest.fixture
def server() -> Iterator[int]:
    """Yield the port of a server on loopback, for both IP versions."""
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
        yield listener.getsockname()[1]


@contextmanager
def silent() -> Iterator[int]:
    """Yield the port of a server with a full queue: connecting to it is neither refused nor answered."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def find_unused_port() -> int:
    """Return a port without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def ask(directory: Path, request: Probe, prober: Path | None) -> wire.Reply:
    """Return the answer of an agent with this prober."""
    state = StateDirectory(directory / "state")
    try:
        return Agent(FakeKernel(), state, name="gw1", boot="", clock=clock, probes=prober).answer(request)
    finally:
        state.close()


def target(address: str, port: int) -> Target:
    return Target(ip_address(address), port)


def probe(*targets: Target, limit_ms: int = 500) -> Probe:
    return Probe(targets, limit_ms)


def test_both_families_are_reached_and_timed(tmp_path: Path, prober: Path, server: int) -> None:
    answer = ask(tmp_path, probe(target("127.0.0.1", server), target("::1", server)), prober)
    assert isinstance(answer, Probed), answer
    assert all(each.microseconds is not None and 0 < each.microseconds < 500_000 for each in answer.answers)
    assert [each.error for each in answer.answers] == ["", ""]


def test_one_family_fails_for_itself_alone(tmp_path: Path, prober: Path, server: int) -> None:
    answer = ask(tmp_path, probe(target("127.0.0.1", find_unused_port()), target("::1", server)), prober)
    assert isinstance(answer, Probed), answer
    assert answer.answers[0] == Connected(None, "refused")
    assert answer.answers[1].microseconds is not None


def test_a_target_that_is_silent_costs_the_limit_and_no_more_for_all_together(tmp_path: Path, prober: Path) -> None:
    with silent() as port:
        begun = monotonic()
        answer = ask(tmp_path, probe(*[target("127.0.0.1", port)] * MOST_TARGETS, limit_ms=800), prober)
        spent = monotonic() - begun
    assert isinstance(answer, Probed), answer
    assert [each.error for each in answer.answers] == ["no answer within 800 ms"] * MOST_TARGETS
    assert 0.8 <= spent < MOST_TARGETS * 0.8


def test_an_address_without_a_way_to_it_is_said_so(tmp_path: Path, prober: Path) -> None:
    answer = ask(tmp_path, probe(target("255.255.255.255", 80)), prober)
    assert isinstance(answer, Probed), answer
    assert answer.answers[0].microseconds is None
    assert answer.answers[0].error in ("network is unreachable", "permission denied")


def test_a_prober_that_is_gone_is_named(tmp_path: Path, place: Path, server: int) -> None:
    answer = ask(tmp_path, probe(target("127.0.0.1", server)), place)
    assert isinstance(answer, wire.Refused), answer
    assert answer.reason == "state"
    assert answer.text == f"the prober at {place} gave no answer: No such file or directory. Is it running (netzwart-prober.service)?"


def test_a_prober_that_hangs_holds_the_agent_up_for_the_limit_and_its_grace(
    tmp_path: Path, place: Path, server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prober_module, "_GRACE", 0.25)
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(place))
        deaf.listen()
        begun = monotonic()
        answer = ask(tmp_path, probe(target("127.0.0.1", server), limit_ms=100), place)
        spent = monotonic() - begun
    assert isinstance(answer, wire.Refused), answer
    assert "gave no answer: timed out" in answer.text
    assert spent >= 0.35


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", "it closed the connection"),
        (b"hello\n", "not JSON"),
        (b"".join(wire.iter_lines(1, wire.Refused("malformed", "no"))), "gave an unexpected answer: no"),
        (b"".join(wire.iter_lines(1, Probed((), {}))), "gave an unexpected answer: Probed"),
    ],
)
def test_a_prober_that_talks_nonsense_is_refused(tmp_path: Path, place: Path, said: bytes, words: str) -> None:
    with socket.socket(socket.AF_UNIX) as odd:
        odd.bind(str(place))
        odd.listen()
        speaker = Thread(target=_say, args=(odd, said))
        speaker.start()
        answer = ask(tmp_path, probe(target("127.0.0.1", 1)), place)
        speaker.join()
    assert isinstance(answer, wire.Refused), answer
    assert words in answer.text


def _say(listener: socket.socket, said: bytes) -> None:
    peer, _ = listener.accept()
    with peer:
        peer.recv(1 << 16)
        peer.sendall(said)


def test_a_gateway_without_a_prober_says_so(tmp_path: Path) -> None:
    answer = ask(tmp_path, probe(target("127.0.0.1", 1)), None)
    assert answer == wire.Refused("state", "this gateway has no prober: its agent was started without --prober")


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        (probe(target("127.0.0.1", 80), limit_ms=1001), "1001 is not between 1 and 1000"),
        (probe(target("127.0.0.1", 80), limit_ms=0), "0 is not between"),
        (probe(), "request.targets: 0 is not between"),
        (probe(target("127.0.0.1", 65536)), "port 65536"),
    ],
)
def test_what_would_hold_up_the_agent_is_refused(tmp_path: Path, place: Path, request_: Probe, fault: str) -> None:
    answer = ask(tmp_path, request_, place)
    assert isinstance(answer, wire.Refused), answer
    assert (answer.reason, fault in answer.text) == ("malformed", True)


def test_a_prober_does_nothing_but_probe(prober: Path) -> None:
    peer = Client(prober)
    answer = peer.ask(wire.Hello(1))
    peer.close()
    assert answer == wire.Refused("malformed", "a prober answers only Probe and ReadProbes, not Hello")


def test_a_silent_peer_does_not_keep_a_prober_from_the_next(tmp_path: Path, prober: Path, server: int) -> None:
    with socket.socket(socket.AF_UNIX) as idle:
        idle.connect(str(prober))
        answer = ask(tmp_path, probe(target("127.0.0.1", server)), prober)
    assert isinstance(answer, Probed), answer


def read_until(agent: Agent, request: ReadProbes, done: Callable[[ProbesRead], bool], within: float = 60.0) -> ProbesRead:
    """Ask until the answer is so."""
    give_up = monotonic() + within
    while monotonic() < give_up:
        answer = agent.answer(request)
        assert isinstance(answer, ProbesRead), answer
        if done(answer):
            return answer
    raise AssertionError("not in time")


@pytest.fixture
def agent(tmp_path: Path, prober: Path) -> Iterator[Agent]:
    """Yield an agent with a prober."""
    state = StateDirectory(tmp_path / "state")
    yield Agent(FakeKernel(), state, name="gw1", boot="", clock=clock, probes=prober)
    state.close()


def read(*targets: Target, series: str = "", after: int = 0, every_ms: int = 100) -> ReadProbes:
    return ReadProbes(targets, every_ms, 1000, series, after)


def test_standing_probes_go_on_while_nobody_waits_for_them(agent: Agent, server: int) -> None:
    answer = read_until(agent, read(target("127.0.0.1", server), target("::1", server)), lambda answer: len(answer.rounds) >= 3)
    assert [each.number for each in answer.rounds][:3] == [1, 2, 3]
    assert answer.rounds[0].ago_ms >= answer.rounds[1].ago_ms + 90 >= answer.rounds[2].ago_ms + 180
    for each in answer.rounds:
        assert len(each.seen) == 2 and all(seen.handshake.microseconds is not None for seen in each.seen)
        assert all((seen.echoes, seen.full_size) in ((None, None), (4, True)) for seen in each.seen)


def test_a_round_is_told_until_the_asker_has_it(agent: Agent, server: int) -> None:
    asked = read(target("127.0.0.1", server))
    first = read_until(agent, asked, lambda answer: len(answer.rounds) >= 2)
    again = agent.answer(asked)
    assert isinstance(again, ProbesRead) and again.rounds[0].number == 1
    later = agent.answer(replace(asked, series=first.series, after=2))
    assert isinstance(later, ProbesRead) and all(each.number > 2 for each in later.rounds)


def test_another_target_begins_another_series(agent: Agent, server: int) -> None:
    first = read_until(agent, read(target("127.0.0.1", server)), lambda answer: len(answer.rounds) >= 2)
    other = agent.answer(read(target("::1", server), series=first.series, after=2))
    assert isinstance(other, ProbesRead) and other.series != first.series and other.rounds == ()
    begun = read_until(agent, read(target("::1", server), series=first.series, after=2), lambda answer: bool(answer.rounds))
    assert begun.rounds[0].number == 1


def test_what_is_lost_is_lost_in_each_round(agent: Agent) -> None:
    with silent() as port:
        asked = replace(read(target("127.0.0.1", port)), limit_ms=100)
        answer = read_until(agent, asked, lambda answer: len(answer.rounds) >= 2)
    assert {each.seen[0].handshake for each in answer.rounds} == {Connected(None, "no answer within 100 ms")}


def test_answers_tell_what_was_counted_since_before_their_rounds_as_soon_as_that_is_known(agent: Agent, server: int) -> None:
    asked = read(target("127.0.0.1", server))
    first = agent.answer(asked)
    assert isinstance(first, ProbesRead) and first.counted is None
    assert read_until(agent, asked, lambda answer: answer.counted is not None).counted == {}


@pytest.mark.parametrize("every_ms", [0, 99, 60_001])
def test_standing_probes_are_neither_a_flood_nor_asleep(agent: Agent, every_ms: int) -> None:
    answer = agent.answer(read(target("127.0.0.1", 80), every_ms=every_ms))
    assert answer == wire.Refused("malformed", f"request.every_ms: {every_ms} is not between 100 and 60000")


def test_the_longest_answer_of_the_prober_is_one_line() -> None:
    """All rounds that it keeps, of both families, each with the longest reasons."""
    failed = Connected(None, "network is unreachable, or another reason that is as long")
    seen = TargetSeen(failed, None, None, 65_535, InwardSeen(Connected(None, "x" * LONGEST_REASON), asked=False))
    rounds = tuple(ProbeRound(2**40 + number, 300_000, (seen, seen)) for number in range(KEPT))
    assert len(list(wire.iter_lines(1, ProbesRead("f" * 16, rounds, {})))) == 1

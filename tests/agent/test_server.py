"""The socket: every client is answered or disconnected, whatever it sends, the log has the reason, and the service goes on."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firewall import wire
from firewall.codec import WireError
from tests.agent.client import Client
from tests.agent.gateways import ROOT, Served, clock
from tests.agent.requests import deploy, runs, welcome
from tests.agent.rulesets import network, text_of, whole
from tests.example_counts import count_examples


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Run one service for all tests here: none of them may damage it."""
    made = Served(tmp_path_factory.mktemp("served") / "state", on_kernel=False)
    try:
        yield made
        assert welcome(made).name == "gw1"
    finally:
        made.close()


def frame(part: str, *, version: object = wire.VERSION, number: object = 1, last: object = True) -> bytes:
    return json.dumps({"v": version, "id": number, "last": last, "part": part}).encode() + b"\n"


def read_refusal(served: Served, octets: bytes) -> wire.Refused:
    """Return the refusal for a client that sends this and then nothing."""
    client = Client(served.socket)
    client.send(octets)
    client.finish()
    _, reply = client.receive()
    client.close()
    assert isinstance(reply, wire.Refused), reply
    return reply


@pytest.mark.parametrize(
    ("octets", "reason", "words"),
    [
        (b"\x00\xff\x17garbage\n", "malformed", "not JSON"),
        (b"GET / HTTP/1.1\r\n\r\n", "malformed", "not JSON"),
        (b"[]\n", "version", "version"),
        (frame("{}", version=1), "version", "bring both to the same release"),
        (frame("{}", number="one"), "malformed", "line.id"),
        (frame("{}", last=0), "malformed", "line.last"),
        (frame("{}").replace(b"}\n", b',"more":1}\n'), "malformed", "expected the fields"),
        (frame("{"), "malformed", "not JSON"),
        (b"[" * 100_000 + b"\n", "malformed", "not JSON"),
        (frame('{"is":"Hello","now":1,"more":2}'), "malformed", "unknown field 'more'"),
        (frame('{"is":"Hello"}'), "malformed", "missing field 'now'"),
        (frame('{"is":"Hello","now":1.5,"token":0}'), "malformed", "request.now"),
        (frame('{"is":"Welcome"}'), "malformed", "expected one of"),
        (frame('{"is":"Rm"}'), "malformed", "expected one of"),
        (frame("[1]"), "malformed", "request"),
        (frame('{"is":"Confirm","token":-1,"target":""}'), "malformed", "token"),
        (b"x" * (wire.MAX_LINE + 2), "malformed", "longer than"),
        (b'{"v":3,', "malformed", "middle of a line"),
        (frame("{", last=False), "malformed", "middle of a message"),
        (frame("{", last=False) + frame("}", number=2), "malformed", "within message 1"),
    ],
)
def test_what_breaks_the_rules_is_refused_with_its_reason(service: Served, octets: bytes, reason: str, words: str) -> None:
    reply = read_refusal(service, octets)
    assert reply.reason == reason
    assert words in reply.text


@settings(max_examples=count_examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(octets=st.binary(min_size=1, max_size=300))
def test_garbage_does_not_hurt(service: Served, octets: bytes) -> None:
    client = Client(service.socket)
    client.send(octets + b"\n")
    client.close()
    assert welcome(service).name == "gw1"


def test_a_peer_that_says_nothing_holds_nobody_up(service: Served) -> None:
    silent = [Client(service.socket) for _ in range(5)]
    assert welcome(service).name == "gw1"
    for each in silent:
        each.close()


def test_a_peer_that_leaves_without_its_answer_does_not_hurt(service: Served) -> None:
    client = Client(service.socket)
    client.send(b"".join(wire.iter_lines(1, wire.Plan(clock(), network(50)))))
    client.close()
    assert welcome(service).name == "gw1"


def test_too_many_peers_cut_off_the_one_that_was_silent_longest(service: Served) -> None:
    crowd = [Client(service.socket) for _ in range(60)]
    crowd[-1].ask(wire.Hello(clock()))
    with pytest.raises((EOFError, ConnectionError)):
        crowd[0].ask(wire.Hello(clock()))
    for each in crowd:
        each.close()
    service.client = Client(service.socket)


def test_a_ruleset_in_many_lines_is_put_together(service: Served) -> None:
    wanted = network(3000)
    request = whole(wanted, token=1, now=clock())
    assert len(list(wire.iter_lines(1, request))) > 1
    deploy(service, request)
    assert runs(service) == text_of(wanted)


def test_two_peers_can_take_turns(service: Served) -> None:
    one, other = Client(service.socket), Client(service.socket)
    for _ in range(3):
        assert isinstance(one.ask(wire.Hello(clock())), wire.Welcome)
        assert isinstance(other.ask(wire.Hello(clock())), wire.Welcome)
    one.close()
    other.close()


def test_a_message_has_an_end_to_its_length() -> None:
    assembler = wire.Assembler(wire.MessageLimits(1000, 1000))
    with pytest.raises(WireError, match="longer than 1000"):
        for _ in range(11):
            assembler.feed(frame("x" * 100, last=False))
    assert wire.MAX_MESSAGE == 512 << 20


def test_only_the_owner_may_connect(service: Served) -> None:
    assert service.socket.stat().st_mode & 0o777 == 0o600


def test_a_live_socket_is_not_taken_over(service: Served, tmp_path: Path) -> None:
    arguments = ["serve", "--fake", "--name", "gw2", "--socket", str(service.socket), "--state", str(tmp_path / "other")]
    done = agent(*arguments)
    assert done.returncode == 1
    assert "another agent listens there" in done.stderr
    assert welcome(service).name == "gw1"


def test_a_state_directory_has_one_agent(service: Served, tmp_path: Path) -> None:
    done = agent("serve", "--fake", "--name", "gw2", "--socket", str(tmp_path / "s"), "--state", str(service.state))
    assert done.returncode == 1
    assert "another agent is using" in done.stderr


def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    done = agent("serve", "--fake", "--name", "gw2", "--socket", str(tmp_path / "file"), "--state", str(tmp_path / "state"))
    assert done.returncode == 1
    assert "is not a socket" in done.stderr
    assert (tmp_path / "file").read_text() == "precious"


def test_sigterm_ends_it_cleanly(tmp_path: Path) -> None:
    gateway = Served(tmp_path, on_kernel=False)
    gateway.process.terminate()
    assert gateway.process.wait() == 0
    assert not gateway.socket.exists()
    gateway.client.close()
    gateway.close()


def agent(*arguments: str, given: bytes | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of the agent to its end."""
    text = given.decode() if given is not None else None
    command = [sys.executable, "-m", "gateway", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, input=text, timeout=30)


def test_the_relay_carries_requests_and_replies(service: Served) -> None:
    done = agent("relay", "--socket", str(service.socket), given=b"".join(wire.iter_lines(9, wire.Hello(clock()))))
    assert done.returncode == 0
    whole_message = wire.Assembler().feed(done.stdout.encode())
    assert whole_message
    assert whole_message[0] == 9
    assert isinstance(wire.parse_reply(whole_message[1]), wire.Welcome)


def test_the_relay_says_when_no_agent_is_there(tmp_path: Path) -> None:
    done = agent("relay", "--socket", str(tmp_path / "nothing"), given=b"")
    assert done.returncode == 1
    assert "is the agent running?" in done.stderr


def test_the_relay_ends_when_the_agent_does(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "s"))
    listener.listen()
    command = [sys.executable, "-m", "gateway", "relay", "--socket", str(tmp_path / "s")]
    relay = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    peer, _ = listener.accept()
    peer.close()
    assert relay.wait(timeout=30) == 0
    relay.communicate()
    listener.close()


@pytest.mark.kernel
def test_check_tells_what_is_there(kernel_is_there: str) -> None:
    if kernel_is_there:
        pytest.skip(kernel_is_there)
    command = ["unshare", "-n", sys.executable, "-m", "gateway", "check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "our table has 0 chains and 0 elements" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give its privileges away")
def test_without_privileges_the_reason_is_named() -> None:
    command = ["unshare", "-n", "setpriv", "--bounding-set", "-all", "--inh-caps", "-all", sys.executable]
    done = subprocess.run([*command, "-m", "gateway", "check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "missing: no CAP_NET_ADMIN" in done.stdout

"""A new forward works at once even for a sender who has sent to its port all the time, and cuts no other connection."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryDirectory
from threading import Thread
from typing import IO

import pytest

from firewall.policy import ForwardSpec, NatMappingSpec, Policy, TransportProtocol
from lab.lab import Lab
from lab.topology import load_topology as topology
from tests.agent.client import Client
from tests.whole.lab_gateway import GatewayInLab
from tests.whole.loaded_policy import M1, M2, MEMBERS, PUBLIC
from tests.whole.system import INTERNET, agent, must_reach, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

POLICY = replace(MEMBERS, mappings=(NatMappingSpec(M1, PUBLIC), NatMappingSpec(M2, PUBLIC)))
FROM = 4000
TRACKING = """
table inet other {
  chain seen {
    type filter hook prerouting priority 0
    ct state established counter
  }
}
"""  # another table with connection tracking, before Netzwart's exists
# Sends from one port, fifty times a second, forever; without a given port, to the sender of the first packet that arrives.
UDP = """
import select, socket, sys
own, host, port = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
plain.bind(("", own))
print("ready", flush=True)
if not port:
    _, (host, port) = plain.recvfrom(65535)
    print(port, flush=True)
while True:
    plain.sendto(b"?", (host, port))
    if select.select([plain], [], [], 0.02)[0]:
        print(plain.recv(65535).decode().strip(), flush=True)
"""
SAY = """
import socket, sys
plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
plain.bind(("", int(sys.argv[1])))
plain.sendto(b"hello", (sys.argv[2], int(sys.argv[3])))
print("said", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab.start(topology()) as running:
        yield running


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def socket() -> Iterator[Path]:
    with TemporaryDirectory(prefix="nw-") as directory:
        yield Path(directory) / "nat-1.sock"


@contextmanager
def gate(lab: Lab, socket: Path, stack: ExitStack) -> Iterator[GatewayInLab]:
    """Run nat-1 with its agent and without forwards."""
    with agent(lab, "nat-1", socket.parent):
        wait_for(lambda: "listening at" in (socket.parent / "nat-1.log").read_text())
        made = GatewayInLab(lab, Client(socket), stack)
        made.apply(POLICY)
        made.confirm(socket)
        yield made
        made.client.close()


def sender(lab: Lab, stack: ExitStack, port: int = 0) -> list[str]:
    """Start a sender on the internet to a port of the public address; return the list of lines that it receives, which grows."""
    process = stack.enter_context(lab.popen("internet", [sys.executable, "-c", UDP, str(FROM), str(PUBLIC), str(port)]))
    stack.callback(process.terminate)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    heard: list[str] = []
    Thread(target=_listen, args=(process.stdout, heard), daemon=True).start()
    return heard


def _listen(stdout: IO[str], heard: list[str]) -> None:
    with suppress(ValueError):  # closed at the end of the test
        heard.extend(iter(stdout.readline, ""))


def has_flow(lab: Lab, *wanted: str) -> Callable[[], bool]:
    """Return a function that returns whether a UDP flow has all these words."""
    return lambda: any(
        all(word in line for word in wanted) for line in lab.run("nat-1", ["conntrack", "-L", "-p", "udp"]).stdout.splitlines()
    )


def with_forward(port: int, private: IPv4Address = M1) -> Policy:
    return replace(POLICY, forwards=(ForwardSpec(1, TransportProtocol.UDP, PUBLIC, port, private, 6000),))


def test_what_was_refused_leaves_nothing_that_has_to_be_cut(lab: Lab, stack: ExitStack, socket: Path) -> None:
    with gate(lab, socket, stack) as gateway:
        heard = sender(lab, stack, 6000)
        gateway.apply(with_forward(6000))
        wait_for(lambda: heard)
        assert json.loads(heard[0])["node"] == "m1"
        assert gateway.confirm(socket) == 0


def test_a_sender_that_the_gateway_itself_answered_to_gets_through_once_it_is_confirmed(lab: Lab, stack: ExitStack, socket: Path) -> None:
    lab.run("nat-1", ["nft", "-f", "-"], text=TRACKING)
    own = ["ip", "address", "add", f"{PUBLIC}/32", "dev", "lo"]
    lab.run("nat-1", own)
    heard = sender(lab, stack, 6000)
    stale = has_flow(lab, f"src={INTERNET}", f"dst={PUBLIC}", "dport=6000", f"src={PUBLIC} dst={INTERNET}")
    wait_for(stale)
    lab.run("nat-1", ["ip", "address", "del", f"{PUBLIC}/32", "dev", "lo"])
    with gate(lab, socket, stack) as gateway:
        talk = gateway.talk("m2", INTERNET, 80)
        gateway.apply(with_forward(6000))
        assert stale()
        assert not heard
        assert gateway.confirm(socket) == 1
        wait_for(lambda: heard)
        assert json.loads(heard[0])["node"] == "m1"
        assert talk() == "alive"


def test_a_sender_that_another_member_talked_to_by_that_port_gets_through_once_it_is_confirmed(
    lab: Lab, stack: ExitStack, socket: Path
) -> None:
    with gate(lab, socket, stack) as gateway:
        heard = sender(lab, stack)
        for port, to in ((5000, FROM), (5001, 9)):
            said = stack.enter_context(lab.popen("m2", [sys.executable, "-c", SAY, str(port), INTERNET, str(to)], stdin=PIPE))
            stack.callback(said.terminate)
            assert said.stdout is not None
            assert said.stdout.readline() == "said\n"
        wait_for(lambda: heard)
        port = int(heard.pop(0))
        stale, other = has_flow(lab, f"src={M2}", f"dport={FROM}", f"dport={port}"), has_flow(lab, f"src={M2}", "dport=9")
        wait_for(lambda: stale() and other())
        talk = gateway.talk("m2", INTERNET, 80)
        gateway.apply(with_forward(port))
        assert stale()
        assert not heard
        assert gateway.confirm(socket) == 1
        wait_for(lambda: heard)
        assert json.loads(heard[0])["node"] == "m1"
        assert other()
        assert talk() == "alive"


def test_a_forward_to_the_very_host_that_left_by_its_port_cuts_nothing(lab: Lab, stack: ExitStack, socket: Path) -> None:
    with gate(lab, socket, stack) as gateway:
        answer = must_reach(lab, "m1", INTERNET, 80, "udp", source_port=6000)
        gateway.apply(with_forward(answer.peer_port))
        assert gateway.confirm(socket) == 0

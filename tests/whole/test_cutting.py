"""Open TCP connections through a gateway while its ruleset changes: who is cut off, when, and who is not."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, ip_network
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory
from time import time

import pytest

from firewall import digest, wire
from firewall.compile import compile_policy
from firewall.diff import diff
from firewall.policy import Ban, Forward, Gateway, Interfaces, Management, NatMapping, Policy, Protocol
from firewall.ruleset import EMPTY, Ruleset
from lab.lab import Lab
from lab.topology import load
from tests.agent.client import Client
from tests.whole.system import INTERNET, agent, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

PUBLIC, ANOTHER = IPv4Address("198.51.100.7"), IPv4Address("198.51.100.8")
ELSEWHERE = "203.0.113.11"
M1, M2 = IPv4Address("10.16.0.10"), IPv4Address("10.16.0.11")
POLICY = Policy(
    Gateway("nat-1", Interfaces("lan0", "wan0", "mgmt0", "sync0"), Management((IPv4Network("172.31.0.0/24"),))),
    addresses=(M1, M2),
    mappings=(NatMapping(M1, PUBLIC), NatMapping(M2, PUBLIC)),
    forwards=(Forward(1, Protocol.TCP, PUBLIC, 8443, M1, 443), Forward(2, Protocol.TCP, PUBLIC, 8022, M2, 22)),
)
TALK = """
import socket, sys
stream = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=1).makefile("rwb")
print("open" if stream.readline() else "closed", flush=True)
for line in sys.stdin:
    try:
        stream.write(line.encode())
        stream.flush()
        print("alive" if stream.readline() else "closed", flush=True)
    except OSError:
        print("cut", flush=True)
"""


@dataclass
class Gate:
    """nat-1 with its agent, and connections through it."""

    lab: Lab
    client: Client
    stack: ExitStack
    ruleset: Ruleset = EMPTY
    token: int = 0

    def apply(self, wanted: Policy) -> int:
        """Apply it, and say how many flows were cut."""
        self.token += 1
        before, after = self.ruleset, compile_policy(wanted)
        base, target = (digest.text(digest.digest(each)) for each in (before, after))
        applied = self.client.ask(wire.Apply(self.token, int(time()), base, target, diff(before, after), None, 60))
        assert isinstance(applied, wire.Applied), applied
        self.ruleset = after
        return applied.flows_cut

    def confirm(self, socket: Path) -> int:
        self.client.close()
        self.client = Client(socket)
        confirmed = self.client.ask(wire.Confirm(self.token, digest.text(digest.digest(self.ruleset))))
        assert isinstance(confirmed, wire.Confirmed), confirmed
        return confirmed.flows_cut

    def talk(self, node: str, host: str, port: int) -> Callable[[], str]:
        """An open connection; calling it says a line and tells what became of it."""
        inside = [sys.executable, "-c", TALK, host, str(port)]
        process: Popen[str] = self.stack.enter_context(self.lab.popen(node, inside, stdin=PIPE, stdout=PIPE))
        assert process.stdin
        assert process.stdout
        self.stack.callback(process.terminate)
        said, heard = process.stdin, process.stdout
        assert heard.readline() == "open\n"

        def say() -> str:
            said.write("still there?\n")
            said.flush()
            return heard.readline().strip()

        return say


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab.start(load()) as running:
        yield running


@pytest.fixture
def socket() -> Iterator[Path]:
    with TemporaryDirectory(prefix="nw-") as directory:
        yield Path(directory) / "nat-1.sock"


@pytest.fixture
def gate(lab: Lab, socket: Path) -> Iterator[Gate]:
    lab.run("nat-1", ["nft", "flush", "ruleset"])
    lab.run("nat-1", ["conntrack", "-F"])
    with agent(lab, "nat-1", socket.parent), ExitStack() as stack:
        wait_for(lambda: "listening at" in (socket.parent / "nat-1.log").read_text())
        made = Gate(lab, Client(socket), stack)
        made.apply(POLICY)
        made.confirm(socket)
        yield made
        made.client.close()


def test_a_ban_ends_the_connections_of_whom_it_bans_at_once_and_no_others(gate: Gate, socket: Path) -> None:
    with_banned, into_forward = gate.talk("m1", INTERNET, 80), gate.talk("internet", str(PUBLIC), 8443)
    same_member, other_member = gate.talk("m1", ELSEWHERE, 80), gate.talk("m2", ELSEWHERE, 80)
    assert gate.apply(replace(POLICY, bans=(Ban(1, ip_network(f"{INTERNET}/32")),))) == 2
    assert (with_banned(), into_forward()) == ("cut", "cut")
    assert (same_member(), other_member()) == ("alive", "alive")
    assert gate.confirm(socket) == 0
    assert (same_member(), other_member()) == ("alive", "alive")


def test_a_forward_that_goes_takes_its_connections_with_it_once_that_is_confirmed(gate: Gate, socket: Path) -> None:
    through, other, out = gate.talk("internet", str(PUBLIC), 8443), gate.talk("internet", str(PUBLIC), 8022), gate.talk("m1", INTERNET, 80)
    assert gate.apply(replace(POLICY, forwards=POLICY.forwards[1:])) == 0
    assert through() == "alive"
    assert gate.confirm(socket) == 1
    assert through() == "cut"
    assert (other(), out()) == ("alive", "alive")


def test_a_member_who_gets_another_address_loses_connections_from_the_old_one_once_that_is_confirmed(gate: Gate, socket: Path) -> None:
    moved, other, into_forward = gate.talk("m1", INTERNET, 80), gate.talk("m2", INTERNET, 80), gate.talk("internet", str(PUBLIC), 8443)
    assert gate.apply(replace(POLICY, mappings=(NatMapping(M1, ANOTHER), POLICY.mappings[1]))) == 0
    assert moved() == "alive"
    assert gate.confirm(socket) == 1
    assert moved() == "cut"
    assert (other(), into_forward()) == ("alive", "alive")
    assert gate.lab.connect("m1", "tcp", INTERNET, 80).peer_address == str(ANOTHER)


def test_what_is_taken_back_leaves_all_connections_of_what_was_withdrawn(gate: Gate) -> None:
    out, through = gate.talk("m1", INTERNET, 80), gate.talk("internet", str(PUBLIC), 8443)
    assert gate.apply(replace(POLICY, mappings=(), forwards=())) == 0
    assert isinstance(gate.client.ask(wire.Revert(gate.token)), wire.Reverted)
    assert (out(), through()) == ("alive", "alive")

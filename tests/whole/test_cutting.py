"""Open TCP connections through a gateway while its ruleset changes: which are cut, when, and which are not."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, ip_network
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from firewall import wire
from firewall.policy import BanSpec, ForwardSpec, GatewaySpec, Interfaces, Management, NatMappingSpec, Policy, TransportProtocol
from lab.lab import Lab
from lab.topology import load_topology
from tests.agent.client import Client
from tests.whole.lab_gateway import GatewayInLab
from tests.whole.system import INTERNET, agent, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

PUBLIC, ANOTHER = IPv4Address("198.51.100.7"), IPv4Address("198.51.100.8")
ELSEWHERE = "203.0.113.11"
M1, M2 = IPv4Address("10.16.0.10"), IPv4Address("10.16.0.11")
POLICY = Policy(
    GatewaySpec("nat-1", Interfaces("lan0", "wan0", "mgmt0", "sync0"), Management((IPv4Network("172.31.0.0/24"),))),
    addresses=(M1, M2),
    mappings=(NatMappingSpec(M1, PUBLIC), NatMappingSpec(M2, PUBLIC)),
    forwards=(ForwardSpec(1, TransportProtocol.TCP, PUBLIC, 8443, M1, 443), ForwardSpec(2, TransportProtocol.TCP, PUBLIC, 8022, M2, 22)),
)


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab.start(load_topology()) as running:
        yield running


@pytest.fixture
def socket() -> Iterator[Path]:
    with TemporaryDirectory(prefix="nw-") as directory:
        yield Path(directory) / "nat-1.sock"


@pytest.fixture
def gate(lab: Lab, socket: Path) -> Iterator[GatewayInLab]:
    lab.run("nat-1", ["nft", "flush", "ruleset"])
    lab.run("nat-1", ["conntrack", "-F"])
    with agent(lab, "nat-1", socket.parent), ExitStack() as stack:
        wait_for(lambda: "listening at" in (socket.parent / "nat-1.log").read_text())
        made = GatewayInLab(lab, Client(socket), stack)
        made.apply(POLICY)
        made.confirm(socket)
        yield made
        made.client.close()


def test_a_ban_ends_the_connections_of_whom_it_bans_at_once_and_no_others(gate: GatewayInLab, socket: Path) -> None:
    with_banned, into_forward = gate.talk("m1", INTERNET, 80), gate.talk("internet", str(PUBLIC), 8443)
    same_member, other_member = gate.talk("m1", ELSEWHERE, 80), gate.talk("m2", ELSEWHERE, 80)
    assert gate.apply(replace(POLICY, bans=(BanSpec(1, ip_network(f"{INTERNET}/32")),))) == 2
    assert (with_banned(), into_forward()) == ("cut", "cut")
    assert (same_member(), other_member()) == ("alive", "alive")
    assert gate.confirm(socket) == 0
    assert (same_member(), other_member()) == ("alive", "alive")


def test_a_forward_that_goes_takes_its_connections_with_it_once_that_is_confirmed(gate: GatewayInLab, socket: Path) -> None:
    through, other, out = gate.talk("internet", str(PUBLIC), 8443), gate.talk("internet", str(PUBLIC), 8022), gate.talk("m1", INTERNET, 80)
    assert gate.apply(replace(POLICY, forwards=POLICY.forwards[1:])) == 0
    assert through() == "alive"
    assert gate.confirm(socket) == 1
    assert through() == "cut"
    assert (other(), out()) == ("alive", "alive")


def test_a_member_who_gets_another_address_loses_connections_from_the_old_one_once_that_is_confirmed(
    gate: GatewayInLab, socket: Path
) -> None:
    moved, other, into_forward = gate.talk("m1", INTERNET, 80), gate.talk("m2", INTERNET, 80), gate.talk("internet", str(PUBLIC), 8443)
    assert gate.apply(replace(POLICY, mappings=(NatMappingSpec(M1, ANOTHER), POLICY.mappings[1]))) == 0
    assert moved() == "alive"
    assert gate.confirm(socket) == 1
    assert moved() == "cut"
    assert (other(), into_forward()) == ("alive", "alive")
    assert gate.lab.connect("m1", "tcp", INTERNET, 80).peer_address == str(ANOTHER)


def test_what_is_taken_back_leaves_all_connections_of_what_was_withdrawn(gate: GatewayInLab) -> None:
    out, through = gate.talk("m1", INTERNET, 80), gate.talk("internet", str(PUBLIC), 8443)
    assert gate.apply(replace(POLICY, mappings=(), forwards=())) == 0
    assert isinstance(gate.client.ask(wire.Revert(gate.token)), wire.Reverted)
    assert (out(), through()) == ("alive", "alive")

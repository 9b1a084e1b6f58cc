"""UDP hole punching between two members behind different gateways, as games and calls use it (RFC 5128, section 3.3)."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network

import pytest

from firewall.compile import compile_policy
from firewall.policy import GatewaySpec, Interfaces, Management, NatMappingSpec, Policy, SharingMode
from firewall.render import render
from lab.answer import parse_answer
from lab.lab import Lab
from lab.topology import load_topology
from tests.whole.system import INTERNET, inside

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

HOSTS = {"m1": IPv4Address("10.16.0.10"), "m2": IPv4Address("10.16.0.11")}
PUBLIC = {"m1": IPv4Address("198.51.100.7"), "m2": IPv4Address("198.51.100.8")}
BEHIND = {"m1": ("nat-1", "10.0.0.1", "192.0.2.3"), "m2": ("nat-2", "10.0.0.2", "192.0.2.4")}


@pytest.fixture
def lab() -> Iterator[Lab]:
    """A lab with two members, each behind their own gateway, to which their public address is routed."""
    with Lab.start(load_topology()) as running:
        for node, (gateway, inner, outer) in BEHIND.items():
            running.run(node, ["ip", "route", "replace", "default", "via", inner])
            running.run("uplink", ["ip", "route", "replace", f"{PUBLIC[node]}/32", "via", outer])
            other = next(each for name, each in PUBLIC.items() if name != node)
            running.run(gateway, ["ip", "route", "replace", f"{other}/32", "via", "192.0.2.1"])
        yield running


def load_ruleset(lab: Lab, node: str, *mappings: NatMappingSpec) -> None:
    gateway = GatewaySpec(BEHIND[node][0], Interfaces("lan0", "wan0", "mgmt0"), Management((IPv4Network("172.31.0.0/24"),)))
    text = render(compile_policy(Policy(gateway, addresses=tuple(HOSTS.values()), mappings=mappings)), now=1)
    lab.run(gateway.name, ["nft", "-f", "-"], text=text)


def punch_hole(lab: Lab) -> list[str]:
    """Punch a hole between both members, each at the address and port that a server on the internet saw; return what each received."""
    sockets = []
    for node in HOSTS:
        with inside(lab, node):
            sockets.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    with closing(sockets[0]), closing(sockets[1]):
        seen = []
        for each in sockets:
            each.settimeout(2)
            each.sendto(b"who am I?\n", (INTERNET, 3478))
            answer = parse_answer(each.recv(4096))
            seen.append((answer.peer_address, answer.peer_port))
        for _ in range(3):
            for each, other in zip(sockets, reversed(seen), strict=True):
                each.sendto(f"hello from {seen[sockets.index(each)][0]}".encode(), other)
        return [_receive_text(each) for each in sockets]


def _receive_text(one: socket.socket) -> str:
    one.settimeout(1)
    try:
        return one.recv(4096).decode()
    except (TimeoutError, ConnectionError):
        return ""


PORTS = NatMappingSpec(HOSTS["m1"], PUBLIC["m1"], first_port=40_000, last_port=41_023)


def leaving(node: str, sharing: SharingMode, public: IPv4Address | None = None) -> NatMappingSpec:
    """Return the mapping of a member who has the address alone, or the first or second block of its ports."""
    moved = replace(PORTS, private=HOSTS[node], public=public or PUBLIC[node], sharing=sharing)
    if sharing is not SharingMode.BLOCKS:
        return replace(moved, first_port=0, last_port=0)
    return moved if node == "m1" else replace(moved, first_port=41_024, last_port=42_047)


every_sharing = pytest.mark.parametrize("sharing", list(SharingMode))


@every_sharing
def test_two_behind_different_gateways_reach_each_other_however_they_leave(lab: Lab, sharing: SharingMode) -> None:
    for node in HOSTS:
        load_ruleset(lab, node, leaving(node, sharing))
    assert punch_hole(lab) == [f"hello from {PUBLIC['m2']}", f"hello from {PUBLIC['m1']}"]


def neighbour(lab: Lab, sharing: SharingMode) -> None:
    """Route m2 through m1's gateway, with the same public address as m1."""
    lab.run("m2", ["ip", "route", "replace", "default", "via", BEHIND["m1"][1]])
    load_ruleset(lab, "m1", leaving("m1", sharing), leaving("m2", sharing, PUBLIC["m1"]))


def list_seen_ports(lab: Lab, node: str, protocol: str, targets: tuple[int, ...], port: int) -> set[int]:
    """Return the source ports that the internet sees for this port, over all targets."""
    found = set()
    with inside(lab, node), ExitStack() as stack:
        for target in targets:
            kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
            each = stack.enter_context(socket.socket(socket.AF_INET, kind))
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            each.settimeout(5)
            each.bind(("", port))
            each.connect((INTERNET, target))
            if protocol == "udp":
                each.send(b"who am I?\n")
            found.add(parse_answer(each.recv(4096)).peer_port)
            if protocol == "udp":
                stack.pop_all().close()
    return found


@every_sharing
@pytest.mark.parametrize("port", [3074, 50_000])
@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_a_port_is_seen_as_one_by_everybody_though_a_neighbour_has_the_same(
    lab: Lab, sharing: SharingMode, protocol: str, port: int
) -> None:
    """Endpoint-independent mapping: RFC 4787, REQ-1; RFC 5382, REQ-1."""
    if sharing is SharingMode.OWN:
        load_ruleset(lab, "m1", leaving("m1", sharing))
    else:
        neighbour(lab, sharing)
        assert len(list_seen_ports(lab, "m2", protocol, (3478, 3479, 80), port)) == 1
    assert len(list_seen_ports(lab, "m1", protocol, (80, 3478, 3479, 5000), port)) == 1


@pytest.mark.parametrize("sharing", [SharingMode.SHARED, SharingMode.BLOCKS])
def test_two_who_share_an_address_each_reach_somebody_outside_from_the_same_port(lab: Lab, sharing: SharingMode) -> None:
    """For example two consoles in one house, which all use UDP 3074."""
    neighbour(lab, sharing)
    with inside(lab, "internet"):
        friend = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        friend.bind((INTERNET, 3075))
        friend.settimeout(5)
    with closing(friend):
        for node in HOSTS:
            [port] = list_seen_ports(lab, node, "udp", (3478, 3479), 3074)
            with inside(lab, node):
                console = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                console.bind(("", 3074))
                console.settimeout(5)
            with closing(console):
                console.sendto(b"punch", (INTERNET, 3075))
                assert friend.recvfrom(4096) == (b"punch", (str(PUBLIC["m1"]), port))
                friend.sendto(f"for {node}".encode(), (str(PUBLIC["m1"]), port))
                assert console.recv(4096) == f"for {node}".encode()

"""UDP hole punching between two members behind different gateways, as games and calls do it (RFC 5128, section 3.3)."""

import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network

import pytest

from firewall.compile import compile_policy
from firewall.policy import Gateway, Interfaces, Management, NatMapping, Policy, Sharing
from firewall.render import render
from lab.answer import parse
from lab.lab import Lab
from lab.topology import load
from tests.whole.system import INTERNET, inside

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

HOSTS = {"m1": IPv4Address("10.16.0.10"), "m2": IPv4Address("10.16.0.11")}
PUBLIC = {"m1": IPv4Address("198.51.100.7"), "m2": IPv4Address("198.51.100.8")}
BEHIND = {"m1": ("nat-1", "10.0.0.1", "192.0.2.3"), "m2": ("nat-2", "10.0.0.2", "192.0.2.4")}


@pytest.fixture
def lab() -> Iterator[Lab]:
    """Each of two members behind a gateway of their own, whose public address is routed to it."""
    with Lab.start(load()) as running:
        for node, (gateway, inner, outer) in BEHIND.items():
            running.run(node, ["ip", "route", "replace", "default", "via", inner])
            running.run("uplink", ["ip", "route", "replace", f"{PUBLIC[node]}/32", "via", outer])
            other = next(each for name, each in PUBLIC.items() if name != node)
            running.run(gateway, ["ip", "route", "replace", f"{other}/32", "via", "192.0.2.1"])
        yield running


def load_ruleset(lab: Lab, node: str, mapping: NatMapping) -> None:
    gateway = Gateway(BEHIND[node][0], Interfaces("lan0", "wan0", "mgmt0"), Management((IPv4Network("172.31.0.0/24"),)))
    text = render(compile_policy(Policy(gateway, addresses=tuple(HOSTS.values()), mappings=(mapping,))), now=1)
    lab.run(gateway.name, ["nft", "-f", "-"], text=text)


def punched(lab: Lab) -> list[str]:
    """What both hear who were told by a server on the internet as whom it sees the other, and then talk to that."""
    sockets = []
    for node in HOSTS:
        with inside(lab, node):
            sockets.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    with closing(sockets[0]), closing(sockets[1]):
        seen = []
        for each in sockets:
            each.settimeout(2)
            each.sendto(b"who am I?\n", (INTERNET, 3478))
            answer = parse(each.recv(4096))
            seen.append((answer.peer_address, answer.peer_port))
        for _ in range(3):
            for each, other in zip(sockets, reversed(seen), strict=True):
                each.sendto(f"hello from {seen[sockets.index(each)][0]}".encode(), other)
        return [_heard(each) for each in sockets]


def _heard(one: socket.socket) -> str:
    one.settimeout(1)
    try:
        return one.recv(4096).decode()
    except (TimeoutError, ConnectionError):
        return ""


PORTS = NatMapping(HOSTS["m1"], PUBLIC["m1"], Sharing.BLOCKS, 40_000, 41_023)


@pytest.mark.parametrize("sharing", [Sharing.OWN, Sharing.BLOCKS])
def test_two_who_keep_their_udp_ports_reach_each_other(lab: Lab, sharing: Sharing) -> None:
    for node, host in HOSTS.items():
        load_ruleset(lab, node, replace(PORTS, private=host, public=PUBLIC[node], sharing=sharing))
    assert punched(lab) == [f"hello from {PUBLIC['m2']}", f"hello from {PUBLIC['m1']}"]


def test_who_shares_an_address_by_drawn_ports_is_not_reached_so(lab: Lab) -> None:
    for node, host in HOSTS.items():
        load_ruleset(lab, node, NatMapping(host, PUBLIC[node]))
    assert punched(lab) == ["", ""]

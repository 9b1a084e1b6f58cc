"""Timeouts of connection tracking, read from the gateways' kernels. RFC 4787, 5382 and 5508 set the minimums."""

import re
import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from firewall.policy import ForwardSpec, Profile, TransportProtocol
from lab.lab import Lab
from lab.topology import load_topology as load_topology
from tests.whole.loaded_policy import GATEWAY, M1, MEMBERS, PUBLIC, load
from tests.whole.system import INTERNET, inside

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

SHORT = replace(GATEWAY.settings, profile=Profile(udp=30, udp_stream=60, tcp_established=300))
LONG = replace(GATEWAY.settings, profile=Profile(udp=200, udp_stream=500))
SETTINGS = {"no profile": GATEWAY.settings, "a short profile": SHORT, "a long profile": LONG}
FORWARD = ForwardSpec(1, TransportProtocol.UDP, PUBLIC, 5000, M1, 5000)
SLACK = 5  # seconds between a packet and the look at its connection, and twice that on a busy machine


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab.start(load_topology()) as running:
        yield running


def read_seconds_left(lab: Lab, gateway: str, protocol: str, port: int) -> int:
    """Return the remaining timeout of the connection to this port, in seconds."""
    family = ["-f", "ipv6"] if gateway == "nat-2" else []
    lines = lab.run(gateway, ["conntrack", "-L", *family, "-p", protocol]).stdout.splitlines()
    [found] = [line for line in lines if f"dport={port} " in line.split("src=")[1]]
    seconds = re.search(r"^\S+\s+\d+\s+(\d+) ", found)
    assert seconds
    return int(seconds[1])


def send(lab: Lab, node: str, host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with inside(lab, node), closing(socket.socket(family, socket.SOCK_DGRAM)) as one:
        one.connect((host, port))
        one.send(b"?\n")
        one.settimeout(5)
        one.recv(4096)


@pytest.mark.parametrize(("profile", "least"), [("no profile", 120), ("a short profile", 120), ("a long profile", 200)])
def test_a_udp_mapping_lives_two_minutes_from_its_first_packets_and_a_look_up_does_not(lab: Lab, profile: str, least: int) -> None:
    load(lab, replace(MEMBERS, gateway=replace(GATEWAY, settings=SETTINGS[profile]), forwards=(FORWARD,)))
    send(lab, "m1", INTERNET, 3478)
    send(lab, "m1", INTERNET, 443)
    send(lab, "internet", str(PUBLIC), 5000)
    send(lab, "m1", "2001:db8:cafe::10", 3478)
    for gateway, port in (("nat-1", 3478), ("nat-1", 443), ("nat-1", 5000), ("nat-2", 3478)):
        assert least - 2 * SLACK <= read_seconds_left(lab, gateway, "udp", port) <= least
    for port in (53, 123):
        send(lab, "m1", INTERNET, port)
        assert read_seconds_left(lab, "nat-1", "udp", port) <= 30


def test_without_a_profile_an_open_tcp_connection_lives_two_hours_and_not_five_days(lab: Lab) -> None:
    load(lab, MEMBERS)
    with inside(lab, "m1"), closing(socket.create_connection((INTERNET, 80), timeout=5)) as one:
        one.recv(4096)
        assert 7_440 - 2 * SLACK <= read_seconds_left(lab, "nat-1", "tcp", 80) <= 7_440


def test_the_recommended_profile_keeps_a_ping_for_a_minute() -> None:
    """As RFC 5508, REQ-2, requires."""
    assert Profile().icmp >= 60

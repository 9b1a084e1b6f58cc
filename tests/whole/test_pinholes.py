"""Packets that reach members over IPv6, from the internet and from each other, and ICMPv6 messages that pass a gateway (RFC 4890)."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from firewall.policy import Hole, PinholeSpec, TransportProtocol
from lab.lab import Lab
from lab.topology import load_topology as topology
from tests.whole.loaded_policy import MEMBERS, load, why_not
from tests.whole.system import conversation, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

M1, M2, M3 = (f"2001:db8:a0:{host}::10" for host in (10, 11, 12))
FOREIGN = "2001:db8:cafe::10"
HOLES = (
    Hole(IPv6Address(M1), TransportProtocol.TCP, 443),
    Hole(IPv6Address(M1), TransportProtocol.UDP, 6000, 10),
    Hole(IPv6Address(M2), TransportProtocol.UDP),
    Hole(IPv6Address(M3)),
)
OPEN = [(M1, "tcp", 443), (M1, "udp", 6000), (M1, "udp", 6009), (M2, "udp", 1), (M2, "udp", 65535), (M3, "tcp", 5), (M3, "udp", 5)]
SENDERS = {"internet": FOREIGN, "m1": M1, "m2": M2, "m3": M3}
SHUT = [(M1, "tcp", 444), (M1, "udp", 443), (M1, "udp", 5999), (M1, "udp", 6010), (M1, "tcp", 6000), (M2, "tcp", 443)]
SEEN = """
import socket, struct, sys, select, time
wanted, seconds, sender = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
print("ready", flush=True)
until = time.monotonic() + seconds
while (left := until - time.monotonic()) > 0 and select.select([raw], [], [], left)[0]:
    octets, peer = raw.recvfrom(65535)
    if octets[0] == wanted and peer[0] == sender:  # gateways solicit neighbours too
        print(peer[0], len(octets), flush=True)
        break
"""
SENT = """
import socket, struct, sys
to, kind, hops, body = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), bytes.fromhex(sys.argv[4])
raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, hops)
raw.sendto(struct.pack("!BBH", kind, 0, 0) + body, (to, 0))
"""
ECHO, NODE_INFORMATION, SOLICIT, LISTENER_QUERY, MOBILE_PREFIX = 128, 139, 135, 130, 146


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab.start(topology()) as running:
        load(running, replace(MEMBERS, pinholes=tuple(PinholeSpec(number, hole) for number, hole in enumerate(HOLES, 1))))
        yield running


@pytest.mark.parametrize(("host", "protocol", "port"), OPEN)
def test_a_pinhole_lets_the_internet_in(lab: Lab, host: str, protocol: str, port: int) -> None:
    answer = lab.connect("internet", protocol, host, port)
    assert (answer.address, answer.port, answer.peer_address) == (host, port, FOREIGN)


@pytest.mark.parametrize(("host", "protocol", "port"), SHUT)
def test_beside_the_pinholes_everything_is_refused(lab: Lab, host: str, protocol: str, port: int) -> None:
    assert why_not(lab, "internet", protocol, host, port) == {"tcp": "refused", "udp": "permission denied"}[protocol]


def test_members_reach_each_others_pinholes_and_nothing_else(lab: Lab) -> None:
    assert lab.connect("m2", "tcp", M1, 443).peer_address == M2
    assert why_not(lab, "m2", "tcp", M1, 444) == "refused"


def test_a_pinhole_opens_nothing_for_whoever_is_no_member(lab: Lab) -> None:
    assert why_not(lab, "m4", "tcp", M1, 443, timeout=0.5) == "timed out"


def arrives(lab: Lab, source: str, node: str, to: str, kind: int, *, hops: int = 64, body: str = "00" * 20, seconds: float = 0.5) -> str:
    """Send an ICMPv6 message; return sender and length of what the node received of this type, "" if nothing came."""
    with lab.popen(node, [sys.executable, "-c", SEEN, str(kind), str(seconds), SENDERS[source]]) as seen:
        assert seen.stdout is not None
        assert seen.stdout.readline() == "ready\n"
        lab.run(source, [sys.executable, "-c", SENT, to, str(kind), str(hops), body])
        return seen.stdout.readline().strip()


def test_echo_requests_pass_in_both_directions(lab: Lab) -> None:
    for source, node, to in (("internet", "m1", M1), ("m1", "internet", FOREIGN), ("m2", "m1", M1)):
        assert arrives(lab, source, node, to, ECHO, seconds=5)


@pytest.mark.parametrize("kind", [NODE_INFORMATION, SOLICIT, LISTENER_QUERY, MOBILE_PREFIX, 4 + 96, 200])
def test_what_belongs_to_one_link_or_to_nobody_passes_not_even_where_everything_is_open(lab: Lab, kind: int) -> None:
    for hops in (64, 255):
        assert not arrives(lab, "internet", "m3", M3, kind, hops=hops)
    assert not arrives(lab, "m3", "internet", FOREIGN, kind)


def test_an_error_that_belongs_to_no_connection_does_not_pass(lab: Lab) -> None:
    quoted = "6000000000003aff" + IPv6Address(M3).packed.hex() + IPv6Address(FOREIGN).packed.hex() + "8000000012345678"
    assert not arrives(lab, "internet", "m3", M3, 2, body="000004d8" + quoted)


@pytest.mark.parametrize(("kind", "passes"), [(1, True), (2, True), (3, True), (4, True), (5, False), (100, False), (127, False)])
def test_an_error_passes_with_the_connection_that_it_quotes_if_it_is_a_defined_one(lab: Lab, kind: int, passes: bool) -> None:
    lab.connect("m3", "udp", FOREIGN, 9000, source_port=5555)
    header = f"60000000000c1140{IPv6Address(M3).packed.hex()}{IPv6Address(FOREIGN).packed.hex()}"
    quoted = f"00000500{header}{5555:04x}{9000:04x}000c0000" + "00" * 4
    assert bool(arrives(lab, "internet", "m3", M3, kind, body=quoted, seconds=5 if passes else 0.5)) is passes


HEARD = "Icmp6InGroupMembQueries"
QUERY = """
import socket, sys
raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, int(sys.argv[1]))
raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_HOPOPTS, bytes.fromhex("0000050200000100"))  # router alert (RFC 2711)
raw.sendto(bytes.fromhex("82000000" + "00" * 20), ("ff02::1%eth0", 0))
"""


def test_a_gateway_hears_a_switch_that_asks_who_listens(lab: Lab) -> None:
    def heard() -> int:
        lines = lab.run("nat-2", ["cat", "/proc/net/snmp6"]).stdout.splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(HEARD))

    before = heard()
    lab.run("m1", [sys.executable, "-c", QUERY, "64"])  # not from this link
    lab.run("m1", [sys.executable, "-c", QUERY, "1"])
    wait_for(lambda: heard() > before)
    assert heard() == before + 1


def test_a_gateway_answers_neighbours_whatever_its_members_have_open(lab: Lab) -> None:
    lab.run("m1", ["ip", "-6", "neigh", "flush", "dev", "eth0"])
    lab.run("nat-2", ["ip", "-6", "neigh", "flush", "dev", "lan0"])
    assert lab.connect("m1", "tcp", FOREIGN, 80).peer_address == M1


def mtu(lab: Lab, *octets: str) -> None:
    """Set the MTU of the uplink's route to the internet."""
    way = ["2001:db8:cafe::/64", "dev", "world0", "proto", "kernel", "metric", "256"]
    lab.run("uplink", ["ip", "-6", "route", "replace", *way, *octets])


def test_a_connection_through_a_pinhole_learns_that_its_packets_are_too_big(lab: Lab) -> None:
    mtu(lab, "mtu", "1280")
    try:
        with conversation(lab, "internet", M1, 443) as goes_on:
            assert goes_on()
            assert count_echoed(lab, 20_000) == 20_000
        assert "mtu 1280" in lab.run("m1", ["ip", "-6", "route", "get", FOREIGN]).stdout
    finally:
        mtu(lab)


def count_echoed(lab: Lab, octets: int) -> int:
    """Return how many octets of one line come back through the pinhole."""
    code = (
        "import socket, sys; s = socket.create_connection((sys.argv[1], 443), timeout=5); f = s.makefile('rwb'); f.readline();"
        "f.write(b'x' * (int(sys.argv[2]) - 1) + b'\\n'); f.flush(); print(len(f.readline()))"
    )
    return int(lab.run("internet", [sys.executable, "-c", code, M1, str(octets)]).stdout)

"""An attacker who can put any packet on the uplink: gets nothing, and triggers no alarm with another meaning."""

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from firewall.policy import ForwardSpec, TransportProtocol
from lab.lab import Lab
from lab.topology import load_topology as topology
from tests.whole.loaded_policy import ANOTHER, M1, MEMBERS, PUBLIC, load, why_not
from tests.whole.packets import counter, send, watching
from tests.whole.system import INTERNET, inside

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

FORWARD = ForwardSpec(1, TransportProtocol.UDP, PUBLIC, 5000, M1, 5000)
ECHO_REPLY, REDIRECT = 129, 137  # RFC 4443, section 4.2; RFC 4861, section 4.5


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab.start(topology()) as running:
        running.run("uplink", ["ip", "route", "add", "10.16.0.0/12", "via", "192.0.2.3"])
        yield running


@pytest.mark.parametrize("own", [PUBLIC, ANOTHER])
def test_our_own_public_address_as_a_source_from_outside_reaches_no_forward(lab: Lab, own: object) -> None:
    load(lab, replace(MEMBERS, forwards=(FORWARD,)))
    with watching(lab, "m1", 5000) as until:
        send(lab, "internet", (str(own), 4000), (str(PUBLIC), 5000), b"forged")
        send(lab, "internet", (INTERNET, 4001), (str(PUBLIC), 5000), b"honest")
        assert not [each for each in until(b"honest") if b"forged" in each.packet]
    assert counter(lab, "nat-1", "spoofed") == 1


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_who_sends_to_private_addresses_from_outside_raises_no_alarm_of_missing_nat(lab: Lab, protocol: str) -> None:
    load(lab, MEMBERS)
    assert "timed out" in why_not(lab, "internet", protocol, str(M1), 8080, timeout=1)
    assert (counter(lab, "nat-1", "leaked"), counter(lab, "nat-1", "refused")) == (0, 0)
    assert counter(lab, "nat-1", "misdirected") >= 1


def test_a_forward_leads_to_a_private_address_all_the_same(lab: Lab) -> None:
    load(lab, replace(MEMBERS, forwards=(FORWARD,)))
    assert lab.connect("internet", "udp", str(PUBLIC), 5000).node == "m1"
    assert counter(lab, "nat-1", "misdirected") == 0


def test_no_redirect_sends_a_member_past_the_gateway(lab: Lab) -> None:
    """The packet is forwarded back to where it came from, and nothing else happens."""
    load(lab, MEMBERS)
    with inside(lab, "m1"):
        tap = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    with tap:
        lab.run("m1", ["ping", "-6", "-c", "1", "-W", "5", "2001:db8:a0:11::10"])
        tap.setblocking(False)
        kinds = set(_kinds(tap))
    assert ECHO_REPLY in kinds  # otherwise it went another way, and this proves nothing
    assert REDIRECT not in kinds


def _kinds(tap: socket.socket) -> Iterator[int]:
    """Yield the types of all messages that have arrived."""
    while True:
        try:
            yield tap.recv(65535)[0]
        except BlockingIOError:
            return

"""Members who connect to public addresses of their own network from inside."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from firewall.policy import ForwardSpec, TransportProtocol
from lab.lab import Lab
from lab.topology import load_topology as topology
from tests.whole.loaded_policy import ANOTHER, M1, M2, MEMBERS, PUBLIC, load, why_not
from tests.whole.system import conversation

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

FORWARDS = (
    ForwardSpec(1, TransportProtocol.TCP, PUBLIC, 8443, M1, 443),
    ForwardSpec(2, TransportProtocol.UDP, PUBLIC, 6000, M1, 16000, 10),
    ForwardSpec(3, TransportProtocol.TCP, ANOTHER, 8022, M2, 22),
)
SEEN_AS = {"m1": str(PUBLIC), "m2": str(ANOTHER), "m3": "10.0.0.1"}  # m3 has no public address, and is seen as the gateway
NO_ANSWER = {"tcp": "refused", "udp": "no route to host"}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab.start(topology()) as running:
        load(running, replace(MEMBERS, forwards=FORWARDS))
        yield running


@pytest.mark.parametrize("caller", SEEN_AS)
def test_a_member_reaches_his_own_forward_and_those_of_others(lab: Lab, caller: str) -> None:
    tcp, udp = lab.connect(caller, "tcp", str(PUBLIC), 8443), lab.connect(caller, "udp", str(PUBLIC), 6004)
    other = lab.connect(caller, "tcp", str(ANOTHER), 8022)
    assert (tcp.node, tcp.port, tcp.peer_address) == ("m1", 443, SEEN_AS[caller])
    assert (udp.node, udp.port, udp.peer_address) == ("m1", 16004, SEEN_AS[caller])
    assert (other.node, other.port, other.peer_address) == ("m2", 22, SEEN_AS[caller])


@pytest.mark.parametrize("caller", SEEN_AS)
def test_a_connection_by_way_of_the_public_address_goes_on(lab: Lab, caller: str) -> None:
    with conversation(lab, caller, str(PUBLIC), 8443) as goes_on:
        assert all(goes_on() for _ in range(20))


@pytest.mark.parametrize("caller", SEEN_AS)
@pytest.mark.parametrize("public", [PUBLIC, ANOTHER, PUBLIC + 50])
@pytest.mark.parametrize("protocol", NO_ANSWER)
def test_a_port_without_a_forward_is_refused_and_not_silent(lab: Lab, caller: str, public: object, protocol: str) -> None:
    assert why_not(lab, caller, protocol, str(public), 9) == NO_ANSWER[protocol]


@pytest.mark.parametrize(("public_port", "led"), [(5999, ""), (6000, 16000), (6009, 16009), (6010, "")])
def test_a_range_begins_and_ends_where_it_says(lab: Lab, public_port: int, led: int | str) -> None:
    for caller in ("internet", "m2"):
        if led:
            assert lab.connect(caller, "udp", str(PUBLIC), public_port).port == led
        else:
            assert why_not(lab, caller, "udp", str(PUBLIC), public_port, timeout=0.5)


def test_whoever_is_no_member_hears_nothing(lab: Lab) -> None:
    assert why_not(lab, "m4", "tcp", str(PUBLIC), 9, timeout=0.5) == "timed out"
    assert why_not(lab, "m4", "tcp", str(PUBLIC), 8443, timeout=0.5) == "timed out"


def test_the_internet_beyond_the_pool_is_reached_as_before(lab: Lab) -> None:
    assert lab.connect("m1", "tcp", "203.0.113.10", 80).peer_address == str(PUBLIC)

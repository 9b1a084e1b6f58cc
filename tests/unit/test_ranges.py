"""Counting of forwards and pinholes: a range of ports counts once, however many elements it has."""

from ipaddress import IPv4Address, IPv6Address

import pytest

from firewall.compile import compile_policy
from firewall.policy import ForwardSpec, Hole, PinholeSpec, Policy, TransportProtocol
from firewall.port_span_elements import count_element_objects
from tests.policies import NAT_1, network

HOST, OTHER, PUBLIC = IPv4Address("10.16.0.10"), IPv4Address("10.16.0.11"), IPv4Address("198.51.100.7")
UDP, TCP = TransportProtocol.UDP, TransportProtocol.TCP


@pytest.mark.parametrize(
    ("forwards", "things"),
    [
        ([(UDP, 6000, HOST, 16000, 10)], 1),
        ([(UDP, 6000, HOST, 16000, 10), (TCP, 6000, HOST, 16000, 10)], 2),
        ([(UDP, 6000, HOST, 16000, 10), (UDP, 6010, OTHER, 16010, 10)], 2),
        ([(UDP, 6000, HOST, 16000, 10), (UDP, 6010, HOST, 17010, 10)], 2),
        ([(UDP, 6000, HOST, 16000, 10), (UDP, 6011, HOST, 16011, 10)], 2),
        ([(UDP, 1, HOST, 1, 1), (UDP, 3, HOST, 3, 1), (UDP, 65535, HOST, 1, 1)], 3),
    ],
)
def test_ranges_are_counted_once(forwards: list[tuple[TransportProtocol, int, IPv4Address, int, int]], things: int) -> None:
    policy = Policy(
        NAT_1, forwards=tuple(ForwardSpec(1, protocol, PUBLIC, first, host, to, ports) for protocol, first, host, to, ports in forwards)
    )
    assert count_element_objects(compile_policy(policy).elements) == things


def test_pinholes_are_counted_by_what_they_open() -> None:
    address = IPv6Address("2001:db8::1")
    holes = (Hole(address, TCP, 80, 20), Hole(address, UDP), Hole(address + 1), Hole(address + 2, TCP, 80, 20))
    ruleset = compile_policy(Policy(NAT_1, pinholes=tuple(PinholeSpec(1, hole) for hole in holes)))
    assert count_element_objects(ruleset.elements) == 4


def test_members_count_once_though_they_stand_in_two_sets() -> None:
    ruleset = compile_policy(network(9))
    assert count_element_objects({name: ruleset.elements[name] for name in ("up4", "down4")}) == 9

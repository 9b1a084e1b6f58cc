"""Pinholes as elements in the kernel, and open connections that end with them."""

from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest

from firewall.compile import compile_change, compile_policy
from firewall.diff import apply, diff
from firewall.flows import CutMoment, Flow, FlowChanges
from firewall.policy import Hole, PinholeSpec, Policy, PolicyError, TouchedKeys, TransportProtocol
from tests.policies import NAT_1

HOST = IPv6Address("2001:db8:a0:10::10")
FOREIGN = IPv6Address("2001:db8:cafe::10")
BARE = Policy(NAT_1, prefixes=(IPv6Network("2001:db8:a0:10::/64"),))
TCP, UDP = TransportProtocol.TCP, TransportProtocol.UDP


def with_holes(*holes: Hole) -> Policy:
    return replace(BARE, pinholes=tuple(PinholeSpec(number, hole) for number, hole in enumerate(holes, 1)))


def test_pinholes_are_elements_and_no_rules() -> None:
    few, many = (
        compile_policy(BARE),
        compile_policy(with_holes(Hole(HOST, TCP, 443), Hole(HOST, UDP, 6000, 10), Hole(HOST + 1, UDP), Hole(HOST + 2))),
    )
    assert few.chains == many.chains
    assert [len(many.elements[name]) for name in ("pinhole6", "pinhole_protocol6", "pinhole_host6")] == [11, 1, 1]


@pytest.mark.parametrize(
    ("holes", "said"),
    [
        ([Hole(HOST, TCP, 443), Hole(HOST, TCP, 440, 5)], r"pinhole 2: 2001:db8:a0:10::10 tcp 440 is already open by pinhole 1"),
        ([Hole(HOST), Hole(HOST)], r"pinhole 2: 2001:db8:a0:10::10 everything is already open by pinhole 1"),
        ([Hole(HOST, None, 80)], "pinhole 1: a port needs a protocol"),
        ([Hole(HOST, TCP, 65535, 2)], "ports 65535 to 65536 are not between"),
        ([Hole(HOST, TCP, 1, 1001)], "1001 ports; a pinhole has 1 to 1000, or all"),
    ],
)
def test_impossible_pinholes_are_refused_and_named(holes: list[Hole], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        compile_policy(with_holes(*holes))


@pytest.mark.parametrize("after", [Hole(HOST, TCP, 80), Hole(HOST, TCP, 445, 10), Hole(HOST, TCP), Hole(HOST), Hole(HOST, UDP, 443, 5)])
def test_a_changed_pinhole_compiles_alone_to_what_all_would(after: Hole) -> None:
    before = Hole(HOST, TCP, 440, 10)
    running, wanted = compile_policy(with_holes(before)), with_holes(after)
    change = compile_change(running, touched=TouchedKeys(holes={before, after}), come=Policy(NAT_1, pinholes=wanted.pinholes))
    assert apply(running, change) == compile_policy(wanted)


def flow(to: IPv6Address, protocol: int = 6, port: int = 443, *, source: IPv6Address = FOREIGN) -> Flow:
    return Flow(source.packed, to.packed, protocol, 999, port, to.packed, source.packed, port, 999)


def changes_of(before: Policy, after: Policy) -> FlowChanges:
    running, wanted = compile_policy(before), compile_policy(after)
    return FlowChanges(diff(running, wanted), after=wanted.elements)


@pytest.mark.parametrize(
    ("gone", "one", "cut"),
    [
        (Hole(HOST, TCP, 440, 10), flow(HOST), True),
        (Hole(HOST, TCP), flow(HOST), True),
        (Hole(HOST), flow(HOST), True),
        (Hole(HOST), flow(HOST, 47, 0), True),
        (Hole(HOST, UDP), flow(HOST), False),
        (Hole(HOST, TCP, 444), flow(HOST), False),
        (Hole(HOST + 1), flow(HOST), False),
        (Hole(HOST, TCP, 443), flow(FOREIGN, source=HOST), False),
    ],
)
def test_a_pinhole_that_goes_ends_what_came_in_through_it(gone: Hole, one: Flow, cut: bool) -> None:
    changes = changes_of(with_holes(gone), BARE)
    assert changes.find_moment(one) is (CutMoment.CONFIRM if cut else None)
    assert not changes_of(BARE, with_holes(gone))


@pytest.mark.parametrize("wider", [Hole(HOST, TCP), Hole(HOST), Hole(HOST, TCP, 400, 100)])
def test_a_pinhole_that_makes_way_for_a_wider_one_ends_nothing(wider: Hole) -> None:
    changes = changes_of(with_holes(Hole(HOST, TCP, 443)), with_holes(wider))
    assert changes.find_moment(flow(HOST)) is None

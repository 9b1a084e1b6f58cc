"""Flows that end when a change on trial is taken back: what it had let in, and nothing from before it."""

from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest

from firewall.compile import compile_policy
from firewall.diff import Delta, ElementChange, diff
from firewall.flow_endings import reduce_way_back
from firewall.flows import Flow, FlowChanges
from firewall.policy import Hole, PinholeSpec, Policy, PrefixOwner, TransportProtocol
from firewall.ruleset import PLAIN, Set
from tests.policies import NAT_1

HOST, ELSEWHERE, FOREIGN = IPv6Address("2001:db8:a0:10::10"), IPv6Address("2001:db8:a1::10"), IPv6Address("2001:db8:cafe::10")
WIDE, NARROW, BESIDE = (IPv6Network(each) for each in ("2001:db8:a0::/56", "2001:db8:a0:10::/64", "2001:db8:a1::/64"))
TCP, UDP = TransportProtocol.TCP, TransportProtocol.UDP


HOLE = HOST.packed + bytes((6, 0, 0, 0)) + (443).to_bytes(2) + bytes(2)  # key of the pinhole of tcp/443, and of its guard


def flow(to: IPv6Address, port: int = 443) -> Flow:
    return Flow(FOREIGN.packed, to.packed, 6, 999, port, to.packed, FOREIGN.packed, port, 999)


def ends_when_taken_back(one: Flow, confirmed: Policy, tried: Policy) -> bool:
    """Return whether the flow ends when the trial is taken back."""
    before = compile_policy(confirmed)
    ending = reduce_way_back(diff(compile_policy(tried), before), before)
    return FlowChanges(ending, after=before.elements).find_moment(one) is not None


def hold(*prefixes: IPv6Network) -> Policy:
    return Policy(NAT_1, prefixes=prefixes, owners=tuple(PrefixOwner(each, 1) for each in prefixes))


@pytest.mark.parametrize(("confirmed", "tried"), [(NARROW, WIDE), (WIDE, NARROW)], ids=["widened", "narrowed"])
def test_a_prefix_that_gets_its_length_back_keeps_its_flows(confirmed: IPv6Network, tried: IPv6Network) -> None:
    assert not ends_when_taken_back(flow(HOST), hold(confirmed), hold(tried))
    assert ends_when_taken_back(flow(ELSEWHERE), hold(confirmed), hold(tried, BESIDE))


def open_holes(*holes: Hole) -> Policy:
    return replace(hold(WIDE), pinholes=tuple(PinholeSpec(number, hole) for number, hole in enumerate(holes, 1)))


@pytest.mark.parametrize(
    ("stays", "tried", "cut"),
    [
        (Hole(HOST), Hole(HOST, TCP, 443), False),
        (Hole(HOST, TCP), Hole(HOST, TCP, 443), False),
        (Hole(HOST, TCP, 443), Hole(HOST), False),
        (Hole(HOST, TCP, 443), Hole(HOST, TCP), False),
        (Hole(HOST, UDP), Hole(HOST, TCP, 443), True),
        (Hole(HOST, TCP, 444), Hole(HOST), True),
        (Hole(HOST + 1), Hole(HOST, TCP, 443), True),
    ],
)
def test_a_pinhole_of_a_trial_takes_along_no_flow_that_another_lets_in(stays: Hole, tried: Hole, cut: bool) -> None:
    assert ends_when_taken_back(flow(HOST), open_holes(stays), open_holes(stays, tried)) is cut


def test_a_flow_through_a_guard_of_a_trial_ends_though_a_pinhole_stays() -> None:
    after = compile_policy(open_holes(Hole(HOST)))
    closed = ElementChange(Set("pinhole6", (), 1), {HOLE: PLAIN}, {})
    for elements, ends in (
        ({"pinhole6": closed}, False),
        ({"pinhole6": closed, "guard6_128": closed}, True),
        ({"guard6_128": closed}, True),
    ):
        ending = reduce_way_back(Delta(elements=elements), after)
        assert (FlowChanges(ending, after=after.elements).find_moment(flow(HOST)) is not None) is ends

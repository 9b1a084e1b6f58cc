"""Connections that were cut and are back: found by the ruleset that runs and by what was withdrawn, and no others."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import pairwise

import pytest
from hypothesis import given, settings

from firewall.compile import compile_policy
from firewall.diff import Delta, ElementChange, diff
from firewall.flows import Flow, FlowChanges
from firewall.policy import (
    AllowEntrySpec,
    BanDirection,
    BanSpec,
    BlockedMemberSpec,
    ForwardSpec,
    GatewayGroupSettings,
    GatewaySpec,
    Hole,
    Interfaces,
    Management,
    NatMappingSpec,
    NoticeSpec,
    PinholeSpec,
    Policy,
    ReachableService,
    TransportProtocol,
)
from firewall.returned_flows import MOST_WITHDRAWN, ForbiddenFlows, WithdrawnObjects
from firewall.ruleset import Element
from firewall.sets import declare
from tests.example_counts import count_examples
from tests.unit.test_flows import flows, make_flow, policies

NOW = 1_800_000_000
MEMBER, OTHER, PUBLIC, ANOTHER = (IPv4Address(each) for each in ("10.0.0.1", "10.0.0.2", "198.51.100.1", "198.51.100.2"))
MEMBER6, FOREIGN6 = IPv6Address("2001:db8:0:1::5"), "2001:db8:ffff::1"
FOREIGN, PORTAL, OWN = "203.0.113.1", "192.0.2.40", "10.0.0.254"
NOTICE = NoticeSpec(reachable=(ReachableService(ip_address(PORTAL), TransportProtocol.TCP, 443),))
POLICY = Policy(
    GatewaySpec(
        "gw1", Interfaces("lan", "wan", "mgmt"), Management((IPv4Network("192.0.2.0/24"),)), settings=GatewayGroupSettings(notice=NOTICE)
    ),
    addresses=(MEMBER, OTHER),
    prefixes=(IPv6Network("2001:db8:0:1::/64"),),
    mappings=(NatMappingSpec(MEMBER, PUBLIC), NatMappingSpec(OTHER, PUBLIC)),
    forwards=(ForwardSpec(1, TransportProtocol.TCP, PUBLIC, 8443, MEMBER, 443),),
    pinholes=(PinholeSpec(1, Hole(MEMBER6, TransportProtocol.TCP, 22)),),
)
OUT = make_flow(6, str(MEMBER), 1000, FOREIGN, 443, snat=str(PUBLIC))
THROUGH_FORWARD = make_flow(6, FOREIGN, 5000, str(PUBLIC), 8443, dnat=(str(MEMBER), 443))
THROUGH_PINHOLE = make_flow(6, FOREIGN6, 5000, str(MEMBER6), 22)
TO_PORTAL = make_flow(6, str(MEMBER), 1001, PORTAL, 443)
INSIDE = make_flow(6, str(MEMBER), 1002, str(OTHER), 80)
TO_GATEWAY = make_flow(17, str(MEMBER), 1003, OWN, 53)
ALL = {
    "out": OUT,
    "forward": THROUGH_FORWARD,
    "pinhole": THROUGH_PINHOLE,
    "portal": TO_PORTAL,
    "inside": INSIDE,
    "gateway": TO_GATEWAY,
}


def find_returned(policy: Policy, *earlier: Policy) -> set[str]:
    """Return the names of the connections that may not be open while this policy runs, after the earlier ones, the oldest first."""
    withdrawn = WithdrawnObjects()
    rulesets = [compile_policy(each) for each in (*earlier, policy)]
    for before, after in pairwise(rulesets):
        withdrawn.note(diff(before, after))
    returned = ForbiddenFlows(rulesets[-1].elements, rulesets[-1].chains, withdrawn, [ip_address(OWN).packed], NOW)
    found = {name for name, flow in ALL.items() if flow in returned}
    assert bool(returned) or not found
    return found


def ban(prefix: str, direction: BanDirection = BanDirection.BOTH, expires: int = 0) -> BanSpec:
    return BanSpec(1, ip_network(prefix), expires=expires, direction=direction)


def test_none_returned_where_nothing_is_banned_and_nothing_was_withdrawn() -> None:
    assert find_returned(POLICY) == set()


@pytest.mark.parametrize(
    ("bans", "names"),
    [
        ((ban("203.0.113.0/24"),), {"out", "forward"}),
        ((ban("203.0.113.0/24", BanDirection.IN),), {"forward"}),
        ((ban("203.0.113.0/24", BanDirection.OUT),), {"out"}),
        ((ban("2001:db8:ffff::/48"),), {"pinhole"}),
        ((ban("203.0.113.0/24", expires=NOW + 60),), {"out", "forward"}),
        ((ban("203.0.113.0/24", expires=NOW + 1),), set()),
        ((ban("10.0.0.0/8"),), set()),  # a ban concerns nothing inside, whatever it covers
    ],
)
def test_a_connection_of_a_member_with_a_banned_host_is_returned(bans: tuple[BanSpec, ...], names: set[str]) -> None:
    assert find_returned(replace(POLICY, bans=bans)) == names


def test_a_ban_that_is_overruled_returns_none() -> None:
    allowed = (AllowEntrySpec(1, ip_network(FOREIGN)),)
    assert find_returned(replace(POLICY, bans=(ban("203.0.113.0/24"),), allowed=allowed)) == set()


def test_a_blocked_member_keeps_what_blocked_members_reach_and_the_gateway_itself() -> None:
    blocks = (BlockedMemberSpec(1, ip_network(MEMBER)),)
    assert find_returned(replace(POLICY, blocks=blocks)) == {"out", "forward", "inside"}


@pytest.mark.parametrize(
    ("later", "names"),
    [
        (replace(POLICY, forwards=()), {"forward"}),
        (replace(POLICY, forwards=(ForwardSpec(2, TransportProtocol.TCP, PUBLIC, 8443, OTHER, 443),)), {"forward"}),
        (replace(POLICY, pinholes=()), {"pinhole"}),
        (replace(POLICY, pinholes=(PinholeSpec(2, Hole(MEMBER6, TransportProtocol.TCP)),)), set()),  # a wider one
        (replace(POLICY, mappings=(NatMappingSpec(MEMBER, ANOTHER), POLICY.mappings[1])), {"out"}),
        (replace(POLICY, mappings=POLICY.mappings[1:]), {"out"}),
    ],
)
def test_a_connection_through_what_was_withdrawn_is_returned_until_it_is_granted_again(later: Policy, names: set[str]) -> None:
    assert find_returned(later, POLICY) == names
    assert find_returned(replace(later, addresses=(MEMBER,)), POLICY, later) == names
    assert find_returned(POLICY, POLICY, later) == set()


@settings(max_examples=count_examples(300))
@given(policies(), policies(), flows())
def test_what_a_withdrawal_cuts_is_what_is_returned_after_it(before: Policy, after: Policy, flow: Flow) -> None:
    base = replace(before, bans=(), allowed=(), blocks=())
    left = replace(base, mappings=after.mappings, forwards=before.forwards[::2])
    change, ruleset = diff(compile_policy(base), compile_policy(left)), compile_policy(left)
    withdrawn = WithdrawnObjects()
    withdrawn.note(change)
    cut = FlowChanges(change, after=ruleset.elements).find_moment(flow) is not None
    assert (flow in ForbiddenFlows(ruleset.elements, ruleset.chains, withdrawn, (), NOW)) == cut


def test_of_very_many_withdrawn_objects_the_oldest_are_forgotten() -> None:
    withdrawn, of = WithdrawnObjects(), declare("pinhole_host6", 1)
    keys = [number.to_bytes(16) for number in range(MOST_WITHDRAWN + 1)]
    for removed in (keys[:1], keys[1:]):
        withdrawn.note(Delta(elements={of.name: ElementChange(of, dict.fromkeys(removed, Element()), {})}))
    assert keys[0] not in withdrawn.services
    assert keys[1] in withdrawn.services

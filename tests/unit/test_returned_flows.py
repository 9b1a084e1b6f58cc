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
    PrefixOwner,
    ReachableService,
    SharingMode,
    TransportProtocol,
)
from firewall.returned_flows import MOST_RETURNS, MOST_WITHDRAWN, ForbiddenFlows, WithdrawnObjects
from firewall.ruleset import Element
from firewall.sets import declare
from tests.example_counts import count_examples
from tests.unit.test_flows import find_holding, flows, make_flow, policies

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


PING = make_flow(1, str(MEMBER), 0, FOREIGN, 0, snat=str(PUBLIC))
TUNNEL = PING._replace(protocol=47)  # GRE, which leaves from no block


@pytest.mark.parametrize(
    ("later", "returned"),
    [
        (NatMappingSpec(MEMBER, PUBLIC, SharingMode.BLOCKS, 1024, 2047), {TUNNEL}),
        (NatMappingSpec(MEMBER, PUBLIC, SharingMode.BLOCKS, 2048, 4095), {TUNNEL}),
        (NatMappingSpec(MEMBER, PUBLIC), set()),
        (NatMappingSpec(MEMBER, ANOTHER, SharingMode.BLOCKS, 1024, 2047), {PING, TUNNEL}),
    ],
)
@pytest.mark.parametrize("between", [(), (replace(POLICY, mappings=()),)])
def test_a_ping_is_left_alone_while_a_block_of_the_same_public_address_is_held(
    between: tuple[Policy, ...], later: NatMappingSpec, returned: set[Flow]
) -> None:
    """Which identifier it left with is not known, so the kernel would let it begin again."""
    first = replace(POLICY, mappings=(NatMappingSpec(MEMBER, PUBLIC, SharingMode.BLOCKS, 1024, 2047),))
    rulesets, withdrawn = [compile_policy(each) for each in (first, *between, replace(POLICY, mappings=(later,)))], WithdrawnObjects()
    for before, after in pairwise(rulesets):
        withdrawn.note(diff(before, after))
    forbidden = ForbiddenFlows(rulesets[-1].elements, rulesets[-1].chains, withdrawn, (), NOW)
    assert {flow for flow in (PING, TUNNEL) if flow in forbidden} == (returned if withdrawn else set())


@settings(max_examples=count_examples(300))
@given(policies(), policies(), flows())
def test_what_a_withdrawal_cuts_is_what_is_returned_after_it(before: Policy, after: Policy, flow: Flow) -> None:
    base = replace(before, bans=(), allowed=(), blocks=())
    left = replace(base, mappings=after.mappings, forwards=before.forwards[::2])
    change, ruleset = diff(compile_policy(base), compile_policy(left)), compile_policy(left)
    withdrawn = WithdrawnObjects()
    withdrawn.note(change)
    cut = FlowChanges(change, after=ruleset.elements).find_moment(flow) is not None
    made_again = flow.protocol == 1 and any(
        (each.private.packed, each.public.packed) == (flow.source, flow.reply_destination) for each in left.mappings
    )
    assert (flow in ForbiddenFlows(ruleset.elements, ruleset.chains, withdrawn, (), NOW)) == (cut and not made_again)


class Handover:
    """Changes of holders, one after the other, each with the connections that it cuts, and looks afterwards."""

    def __init__(self, *policies: Policy) -> None:
        self.withdrawn = WithdrawnObjects()
        self.ruleset = compile_policy(policies[0])
        for policy in policies[1:]:
            self.change(policy)

    def change(self, policy: Policy) -> None:
        """Confirm the policy while all connections are open."""
        before, self.ruleset = self.ruleset, compile_policy(policy)
        changes = FlowChanges(diff(before, self.ruleset), after=self.ruleset.elements)
        self.withdrawn.note_cut((flow, changes.list_former_holders(flow)) for flow in ALL.values() if changes.find_moment(flow))

    def is_returned(self, flow: Flow) -> bool:
        return flow in ForbiddenFlows(self.ruleset.elements, self.ruleset.chains, self.withdrawn, (), NOW)

    def look(self) -> set[str]:
        """Return which of the connections are back, as all were, and note that they were cut."""
        found = {name: flow for name, flow in ALL.items() if self.is_returned(flow)}
        self.withdrawn.note_returned(found.values())
        return set(found)


def hold(*owners: tuple[IPv4Address | IPv6Network, int]) -> Policy:
    """Return the policy with these holdings; what has none is held by nobody."""
    held = [prefix for prefix, _holding in owners]
    return replace(
        POLICY,
        addresses=tuple(each for each in POLICY.addresses if each in held),
        prefixes=tuple(each for each in POLICY.prefixes if each in held),
        owners=tuple(PrefixOwner(*each) for each in owners),
    )


PREFIX6 = POLICY.prefixes[0]
FIRST, SECOND = (hold((MEMBER, each), (OTHER, 9), (PREFIX6, each)) for each in (1, 2))
GONE = hold((OTHER, 9))


@pytest.mark.parametrize("between", [(), (GONE,), (SECOND, FIRST)])
def test_a_connection_of_a_former_holder_is_returned_while_another_one_has_the_address(between: tuple[Policy, ...]) -> None:
    assert Handover(FIRST, *between, SECOND).look() == set(ALL)
    assert Handover(FIRST, *between, SECOND, FIRST, GONE).look() == set()


def test_a_connection_of_the_present_holder_is_never_returned() -> None:
    after = Handover(FIRST, SECOND)
    assert not after.is_returned(OUT._replace(source_port=1009, reply_destination_port=1009))
    assert not after.is_returned(THROUGH_FORWARD._replace(source=ip_address("203.0.113.2").packed))
    assert Handover(FIRST, SECOND, FIRST).look() == set(ALL)  # those of the second, which were cut last
    assert Handover(FIRST, GONE, FIRST).look() == set()
    assert Handover(GONE, SECOND).look() == set()


def test_the_same_connection_of_the_present_holder_is_cut_some_times_and_then_left_alone() -> None:
    after = Handover(FIRST, SECOND)
    assert [after.look() for _ in range(MOST_RETURNS)] == [set(ALL)] * MOST_RETURNS
    assert after.look() == set()


def test_a_ping_of_the_present_holder_is_never_returned_because_no_gateway_sends_pings_to_the_other() -> None:
    ping = make_flow(1, str(MEMBER), 0, FOREIGN, 0, snat=str(PUBLIC))
    handover = Handover(FIRST, SECOND)
    changes = FlowChanges(diff(compile_policy(FIRST), compile_policy(SECOND)), after={})
    handover.withdrawn.note_cut([(ping, changes.list_former_holders(ping))])
    assert changes.list_former_holders(ping)
    assert not handover.is_returned(ping)


@settings(max_examples=count_examples(300))
@given(policies(), policies(), flows())
def test_what_is_cut_with_its_holder_is_returned_if_an_end_has_another_one_and_nothing_else(
    before: Policy, after: Policy, flow: Flow
) -> None:
    was, now = (replace(each, mappings=(), forwards=(), bans=(), allowed=(), blocks=()) for each in (before, after))
    ruleset, withdrawn = compile_policy(now), WithdrawnObjects()
    changes = FlowChanges(diff(compile_policy(was), ruleset), after=ruleset.elements)
    withdrawn.note_cut([(flow, changes.list_former_holders(flow))] if changes.find_moment(flow) else [])
    ends = [ip_address(flow.source), ip_address(flow.reply_source)]
    holdings = [(find_holding(was, end), find_holding(now, end)) for end in ends]
    returned = flow.protocol != 1 and any(old and new is not None and new != old for old, new in holdings)
    assert (flow in ForbiddenFlows(ruleset.elements, ruleset.chains, withdrawn, (), NOW)) == returned


def test_of_very_many_withdrawn_objects_the_oldest_are_forgotten() -> None:
    withdrawn, of = WithdrawnObjects(), declare("pinhole_host6", 1)
    keys = [number.to_bytes(16) for number in range(MOST_WITHDRAWN + 1)]
    for removed in (keys[:1], keys[1:]):
        withdrawn.note(Delta(elements={of.name: ElementChange(of, dict.fromkeys(removed, Element()), {})}))
    assert keys[0] not in withdrawn.services
    assert keys[1] in withdrawn.services

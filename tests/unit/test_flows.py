"""Flows that a change cuts, and when, compared with a plain definition for random changes and flows."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firewall.compile import compile_policy
from firewall.diff import Delta, diff
from firewall.flow_endings import reduce_to_endings
from firewall.flows import CutMoment, Flow, FlowChanges, FlowFilter
from firewall.policy import (
    AllowEntrySpec,
    BanDirection,
    BanSpec,
    BlockedMemberSpec,
    ForwardSpec,
    GatewaySpec,
    Interfaces,
    Management,
    NatMappingSpec,
    Policy,
    PrefixOwner,
    SharingMode,
    TransportProtocol,
)
from firewall.ruleset import EMPTY
from tests.example_counts import count_examples
from tests.policies import mappings_of

GATEWAY = GatewaySpec("gw1", Interfaces("lan", "wan", "mgmt"), Management((IPv4Network("192.0.2.0/24"),)))
PRIVATE = [IPv4Address(f"10.0.0.{at}") for at in range(1, 4)]
PUBLIC = [IPv4Address("198.51.100.1"), IPv4Address("198.51.100.2")]
FOREIGN = [IPv4Address("203.0.113.1"), IPv4Address("203.0.113.130")]
PREFIXES = [IPv6Network("2001:db8:0:1::/64"), IPv6Network("2001:db8:100::/56")]
INSIDE6 = [IPv6Address("2001:db8:0:1::5"), IPv6Address("2001:db8:100:ab::5")]
FOREIGN6 = [IPv6Address("2001:db8:ffff::1"), IPv6Address("2001:db8:ffff:1::1")]
BANS = ["203.0.113.1/32", "203.0.113.0/25", "203.0.113.0/24", "2001:db8:ffff::/48", "2001:db8:ffff:1::/64", "2001:db8:ffff::1/128"]
PORTS = [80, 443, 1024, 2047]


def some[T](of: list[T]) -> st.SearchStrategy[list[T]]:
    return st.lists(st.sampled_from(of), unique=True)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    keys = draw(some([(protocol, public, port) for protocol in TransportProtocol for public in PUBLIC for port in PORTS]))
    blocked: list[IPv4Network | IPv6Network] = draw(some([IPv4Network(PRIVATE[0]), IPv4Network(PRIVATE[1]), *PREFIXES]))
    owned: list[IPv4Address | IPv6Network] = draw(some([*PRIVATE, *PREFIXES]))
    return Policy(
        GATEWAY,
        addresses=tuple(draw(some(PRIVATE))),
        prefixes=tuple(draw(some(PREFIXES))),
        mappings=tuple(draw(mappings_of(each, st.sampled_from(PUBLIC))) for each in draw(some(PRIVATE))),
        forwards=tuple(ForwardSpec(1, *key, draw(st.sampled_from(PRIVATE)), draw(st.sampled_from(PORTS))) for key in keys),
        bans=tuple(BanSpec(1, ip_network(each), direction=draw(st.sampled_from(BanDirection))) for each in draw(some(BANS))),
        allowed=tuple(AllowEntrySpec(1, ip_network(each)) for each in draw(some(BANS))),
        blocks=tuple(BlockedMemberSpec(draw(st.integers(1, 2)), each) for each in blocked),
        owners=tuple(PrefixOwner(each, draw(st.integers(1, 2))) for each in owned),
    )


def make_flow(protocol: int, source: str, sport: int, to: str, dport: int, *, snat: str = "", dnat: tuple[str, int] | None = None) -> Flow:
    """Return a connection from `source` to `to`; snat and dnat: its rewritten source and destination."""
    there, there_port = dnat or (to, dport)
    first = (ip_address(source).packed, ip_address(to).packed, protocol, sport, dport)
    return Flow(*first, ip_address(there).packed, ip_address(snat or source).packed, there_port, sport)


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    protocol = draw(st.sampled_from([1, 6, 17]))
    ports = [draw(st.sampled_from(PORTS)) if protocol != 1 else 0 for _ in range(3)]
    if draw(st.booleans()):
        ends = st.sampled_from([*INSIDE6, *FOREIGN6])
        return make_flow(protocol, str(draw(ends)), ports[0], str(draw(ends)), ports[1])
    source, to = str(draw(st.sampled_from([*PRIVATE, *FOREIGN]))), str(draw(st.sampled_from([*PRIVATE, *FOREIGN, *PUBLIC])))
    snat = str(draw(st.sampled_from(["", *PUBLIC])))
    return make_flow(protocol, source, ports[0], to, ports[1], snat=snat, dnat=draw(st.sampled_from([None, (str(PRIVATE[0]), ports[2])])))


def concerns(mapping: NatMappingSpec, flow: Flow) -> bool:
    return (mapping.private, mapping.public) == (ip_address(flow.source), ip_address(flow.reply_destination))


def allows(mapping: NatMappingSpec, flow: Flow) -> bool:
    if not concerns(mapping, flow):
        return False
    within = mapping.first_port <= flow.reply_destination_port <= mapping.last_port
    return mapping.sharing is not SharingMode.BLOCKS or (flow.protocol != 1 and within)


def newly_banned(end: IPv4Address | IPv6Address, way: BanDirection, before: Policy, after: Policy) -> bool:
    """Return whether the address is newly banned in this direction: by a new ban, or by one that an allow entry overruled before."""
    old, new = ({ban.prefix for ban in each.bans if ban.direction in (way, BanDirection.BOTH)} for each in (before, after))
    was, is_now = ({each.prefix for each in policy.allowed if end in each.prefix} for policy in (before, after))
    by = {prefix for prefix in new if end in prefix}
    return not is_now and bool(by - old or (by and was))


def find_holding(policy: Policy, end: IPv4Address | IPv6Address) -> int | None:
    """Return the holding that has the address; 0: it is not written down, None: no member has it."""
    if end not in policy.addresses and not any(end in each for each in policy.prefixes):
        return None
    owned = (each.holding for each in policy.owners if end == each.prefix or (isinstance(each.prefix, IPv6Network) and end in each.prefix))
    return next(owned, 0)


def moment(before: Policy, after: Policy, flow: Flow) -> CutMoment | None:
    """Return when a change cuts the flow. This is the plain definition, without hash tables."""
    ends = [ip_address(flow.source), ip_address(flow.reply_source)]
    if any(newly_banned(end, way, before, after) for end, way in zip(ends, (BanDirection.IN, BanDirection.OUT), strict=True)):
        return CutMoment.COMMIT
    old_blocks, new_blocks = {each.prefix for each in before.blocks}, {each.prefix for each in after.blocks}
    if any(end in prefix for end in ends for prefix in new_blocks - old_blocks):
        return CutMoment.COMMIT
    if flow.destination != flow.reply_source and any(ends[0] in prefix for prefix in old_blocks - new_blocks):
        return CutMoment.CONFIRM
    holdings = [(find_holding(before, end), find_holding(after, end)) for end in ends]
    if any((old is not None and new is None) or (old and new != old) for old, new in holdings):
        return CutMoment.CONFIRM
    changed = any(concerns(each, flow) for each in set(before.mappings) - set(after.mappings))
    if changed and not any(allows(each, flow) for each in after.mappings):
        return CutMoment.CONFIRM
    for each in set(before.forwards) - set(after.forwards):
        number = {TransportProtocol.TCP: 6, TransportProtocol.UDP: 17}[each.protocol]
        key = (number, each.public.packed, each.public_port, each.private.packed, each.private_port)
        if key == (flow.protocol, flow.destination, flow.destination_port, flow.reply_source, flow.reply_source_port):
            return CutMoment.CONFIRM
    for each in set(after.forwards) - set(before.forwards):
        number = {TransportProtocol.TCP: 6, TransportProtocol.UDP: 17}[each.protocol]
        public, private = (each.public.packed, each.public_port), (each.private.packed, each.private_port)
        to_it, leads = (flow.destination, flow.destination_port) == public, (flow.reply_source, flow.reply_source_port) == private
        left_as, there = (flow.reply_destination, flow.reply_destination_port) == public, (flow.source, flow.source_port) == private
        if flow.protocol == number and ((to_it and not leads) or (number == 17 and left_as and not there)):
            return CutMoment.CONFIRM
    return None


def leads(flow: Flow, toward: FlowFilter) -> bool:
    end = flow.reply_destination if toward.reply else flow.destination
    port = flow.reply_destination_port if toward.reply else flow.destination_port
    return end == toward.address and toward.protocol in (0, flow.protocol) and toward.port in (0, port)


def compute_changes(*policies: Policy) -> FlowChanges:
    """Return the changes of flows from one policy to the next."""
    steps = [compile_policy(policy) for policy in policies]
    return FlowChanges(*(diff(before, after) for before, after in pairwise(steps)), after=steps[-1].elements)


@given(before=policies(), after=policies(), open_flows=st.lists(flows(), max_size=12))
@settings(max_examples=count_examples(300), deadline=None)
def test_a_change_cuts_what_the_definition_says_and_nothing_else(before: Policy, after: Policy, open_flows: list[Flow]) -> None:
    changes = compute_changes(before, after)
    wanted = [moment(before, after, flow) for flow in open_flows]
    assert [changes.find_moment(flow) for flow in open_flows] == wanted
    assert changes or not any(wanted)
    if changes.flow_filters is not None:
        there = [flow for flow, cut in zip(open_flows, wanted, strict=True) if cut]
        assert all(any(leads(flow, each) for each in changes.flow_filters) for flow in there)
    at_commit, later = changes.split_by_moment(open_flows)
    assert (len(at_commit), len(later)) == (wanted.count(CutMoment.COMMIT), wanted.count(CutMoment.CONFIRM))


@given(steps=st.lists(policies(), min_size=2, max_size=4), open_flows=st.lists(flows(), max_size=12))
@settings(max_examples=count_examples(150), deadline=None)
def test_reduced_deltas_end_the_same_flows_after_the_confirmation(steps: list[Policy], open_flows: list[Flow]) -> None:
    rulesets = [compile_policy(each) for each in steps]
    deltas = [diff(before, after) for before, after in pairwise(rulesets)]
    whole, reduced = FlowChanges(*deltas, after=rulesets[-1].elements), FlowChanges(*reduce_to_endings(deltas), after={})
    not_cut_yet = [flow for flow in open_flows if whole.find_moment(flow) is not CutMoment.COMMIT]
    assert [reduced.find_moment(flow) for flow in not_cut_yet] == [whole.find_moment(flow) for flow in not_cut_yet]


@given(policy=policies().map(lambda policy: replace(policy, forwards=())))
def test_of_members_and_mappings_that_only_come_nothing_is_left_in_reduced_deltas(policy: Policy) -> None:
    assert reduce_to_endings([diff(EMPTY, compile_policy(policy))]) == (Delta(),)


@given(policy=policies(), open_flows=st.lists(flows(), max_size=12))
@settings(max_examples=count_examples(100), deadline=None)
def test_a_change_that_is_undone_before_it_is_confirmed_cuts_nothing(policy: Policy, open_flows: list[Flow]) -> None:
    changes = compute_changes(policy, Policy(GATEWAY), policy)
    assert CutMoment.CONFIRM not in {changes.find_moment(flow) for flow in open_flows}


@given(policy=policies().map(lambda policy: replace(policy, bans=(), forwards=(), blocks=())))
@settings(max_examples=count_examples(50), deadline=None)
def test_what_only_comes_concerns_no_flow(policy: Policy) -> None:
    after = compile_policy(policy)
    assert not FlowChanges(diff(EMPTY, after), after=after.elements)


@given(bans=some(BANS))
def test_a_ban_that_goes_or_is_worded_anew_concerns_no_flow(bans: list[str]) -> None:
    said, anew = (tuple(BanSpec(1, ip_network(each), text, 2_000_000_000 + len(text)) for each in bans) for text in ("scans", "spam"))
    assert not compute_changes(Policy(GATEWAY, bans=said), Policy(GATEWAY))
    assert not compute_changes(Policy(GATEWAY, bans=said), Policy(GATEWAY, bans=anew))


@pytest.mark.parametrize(
    ("holdings", "cut"),
    [
        ((1, 2), True),
        ((1, None, 2), True),
        ((1, None, 1), False),
        ((1, 2, 1), False),
        ((1, 2, None, 1), False),
        ((1, None, 2, None, 3), True),
        ((None, 1, None, 2), True),
        ((0, None, 2), False),  # whose it was is not written down
        ((0, None), True),
    ],
)
@pytest.mark.parametrize("held", [PRIVATE[0], PREFIXES[0]])
def test_an_address_that_comes_again_before_the_confirmation_keeps_its_connections_only_with_the_same_holder(
    held: IPv4Address | IPv6Network, holdings: tuple[int | None, ...], cut: bool
) -> None:
    policies = [_hold(held, each) for each in holdings]
    flow = make_flow(6, "10.0.0.1", 80, "203.0.113.1", 443)
    if isinstance(held, IPv6Network):
        flow = make_flow(6, str(FOREIGN6[0]), 80, str(INSIDE6[0]), 443)
    assert compute_changes(*policies).find_moment(flow) is (CutMoment.CONFIRM if cut else None)


def _hold(held: IPv4Address | IPv6Network, holding: int | None) -> Policy:
    """Return a policy in which this holding has the address or prefix; 0: it is not written down, None: no member has it."""
    if holding is None:
        return Policy(GATEWAY)
    owners = (PrefixOwner(held, holding),) if holding else ()
    if isinstance(held, IPv6Network):
        return Policy(GATEWAY, prefixes=(held,), owners=owners)
    return Policy(GATEWAY, addresses=(held,), owners=owners)


def test_nothing_changed_concerns_no_flow() -> None:
    assert not FlowChanges(Delta(), after={})


GAME = ForwardSpec(1, TransportProtocol.UDP, PUBLIC[0], 80, PRIVATE[0], 443)


@pytest.mark.parametrize(
    ("flow", "cut"),
    [
        (make_flow(17, "203.0.113.1", 999, "198.51.100.1", 80), True),  # to the gateway itself, or from before the table existed
        (make_flow(17, "203.0.113.1", 999, "198.51.100.1", 80, dnat=("10.0.0.2", 443)), True),  # rewritten by another table
        (make_flow(17, "10.0.0.2", 80, "203.0.113.1", 999, snat="198.51.100.1"), True),  # another member left with that port
        (make_flow(17, "203.0.113.1", 999, "198.51.100.1", 80, dnat=("10.0.0.1", 443)), False),  # already leads there
        (make_flow(17, "10.0.0.1", 443, "203.0.113.1", 999, snat="198.51.100.1")._replace(reply_destination_port=80), False),
        (make_flow(17, "10.0.0.2", 81, "203.0.113.1", 999, snat="198.51.100.1"), False),
        (make_flow(17, "10.0.0.2", 80, "203.0.113.1", 999, snat="198.51.100.2"), False),
        (make_flow(17, "203.0.113.1", 999, "198.51.100.2", 80), False),
        (make_flow(17, "203.0.113.1", 999, "198.51.100.1", 81), False),
        (make_flow(6, "203.0.113.1", 999, "198.51.100.1", 80), False),
        (make_flow(17, "10.0.0.2", 999, "203.0.113.1", 80, snat="198.51.100.1"), False),
    ],
)
def test_a_forward_that_comes_cuts_what_stands_in_its_way_and_nothing_else(flow: Flow, cut: bool) -> None:
    changes = compute_changes(Policy(GATEWAY), Policy(GATEWAY, forwards=(GAME,)))
    assert changes.find_moment(flow) is (CutMoment.CONFIRM if cut else None)


def test_a_tcp_forward_that_comes_leaves_the_connections_of_members() -> None:
    web = ForwardSpec(1, TransportProtocol.TCP, PUBLIC[0], 80, PRIVATE[0], 443)
    changes = compute_changes(Policy(GATEWAY), Policy(GATEWAY, forwards=(web,)))
    assert changes.find_moment(make_flow(6, "10.0.0.2", 80, "203.0.113.1", 443, snat="198.51.100.1")) is None
    assert changes.find_moment(make_flow(6, "203.0.113.1", 999, "198.51.100.1", 80)) is CutMoment.CONFIRM


WEB = make_flow(6, "203.0.113.1", 999, "198.51.100.1", 80, dnat=("10.0.0.1", 443))


@pytest.mark.parametrize(
    "flow",
    [
        make_flow(17, "203.0.113.1", 999, "198.51.100.1", 80, dnat=("10.0.0.1", 443)),
        make_flow(6, "203.0.113.1", 999, "198.51.100.1", 81, dnat=("10.0.0.1", 443)),
        make_flow(6, "203.0.113.1", 999, "198.51.100.1", 80, dnat=("10.0.0.2", 443)),
        make_flow(6, "203.0.113.1", 999, "198.51.100.1", 80),
        make_flow(6, "10.0.0.1", 443, "203.0.113.1", 80, snat="198.51.100.1"),
    ],
)
def test_a_forward_that_goes_leaves_all_others_alone(flow: Flow) -> None:
    forward = ForwardSpec(1, TransportProtocol.TCP, PUBLIC[0], 80, PRIVATE[0], 443)
    changes = compute_changes(Policy(GATEWAY, forwards=(forward,)), Policy(GATEWAY))
    assert changes.find_moment(WEB) is CutMoment.CONFIRM
    assert changes.find_moment(flow) is None


MOVING = [
    (SharingMode.SHARED, 0, 0, 6, 80, True),
    (SharingMode.OWN, 0, 0, 6, 80, True),
    (SharingMode.OWN, 0, 0, 1, 0, True),
    (SharingMode.BLOCKS, 1024, 2047, 6, 1024, True),
    (SharingMode.BLOCKS, 1024, 2047, 17, 2047, True),
    (SharingMode.BLOCKS, 1024, 2047, 17, 2048, False),
    (SharingMode.BLOCKS, 1024, 2047, 6, 1023, False),
    (SharingMode.BLOCKS, 1024, 2047, 1, 0, False),
]


@pytest.mark.parametrize(("sharing", "first", "last", "protocol", "port", "goes_on"), MOVING)
def test_who_shares_his_address_otherwise_keeps_the_flows_that_still_fit(
    sharing: SharingMode, first: int, last: int, protocol: int, port: int, goes_on: bool
) -> None:
    before = NatMappingSpec(PRIVATE[0], PUBLIC[0], SharingMode.BLOCKS, 40_000, 40_255)
    after = NatMappingSpec(PRIVATE[0], PUBLIC[0], sharing, first, last)
    changes = compute_changes(*(Policy(GATEWAY, mappings=(each,)) for each in (before, after)))
    flow = make_flow(protocol, "10.0.0.1", port, "203.0.113.1", 80 if port else 0, snat="198.51.100.1")
    assert changes.find_moment(flow) == (None if goes_on else CutMoment.CONFIRM)

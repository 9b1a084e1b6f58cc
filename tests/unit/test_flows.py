"""Which flows a change cuts, and when: against the plain definition, for random changes and flows."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firewall.compile import compile_policy
from firewall.diff import Delta, diff
from firewall.flows import Changes, Flow, Moment
from firewall.policy import Ban, Block, Forward, Gateway, Interfaces, Management, NatMapping, Policy, Protocol
from firewall.ruleset import EMPTY

GATEWAY = Gateway("gw1", Interfaces("lan", "wan", "mgmt"), Management((IPv4Network("192.0.2.0/24"),)))
PRIVATE = [IPv4Address(f"10.0.0.{at}") for at in range(1, 4)]
PUBLIC = [IPv4Address("198.51.100.1"), IPv4Address("198.51.100.2")]
FOREIGN = [IPv4Address("203.0.113.1"), IPv4Address("203.0.113.130")]
PREFIXES = [IPv6Network("2001:db8:0:1::/64"), IPv6Network("2001:db8:100::/56")]
INSIDE6 = [IPv6Address("2001:db8:0:1::5"), IPv6Address("2001:db8:100:ab::5")]
FOREIGN6 = [IPv6Address("2001:db8:ffff::1"), IPv6Address("2001:db8:ffff:1::1")]
BANS = ["203.0.113.1/32", "203.0.113.0/25", "203.0.113.0/24", "2001:db8:ffff::/48", "2001:db8:ffff:1::/64", "2001:db8:ffff::1/128"]
PORTS = [80, 443]


def some[T](of: list[T]) -> st.SearchStrategy[list[T]]:
    return st.lists(st.sampled_from(of), unique=True)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    keys = draw(some([(protocol, public, port) for protocol in Protocol for public in PUBLIC for port in PORTS]))
    blocked: list[IPv4Network | IPv6Network] = draw(some([IPv4Network(PRIVATE[0]), IPv4Network(PRIVATE[1]), *PREFIXES]))
    return Policy(
        GATEWAY,
        addresses=tuple(draw(some(PRIVATE))),
        prefixes=tuple(draw(some(PREFIXES))),
        mappings=tuple(NatMapping(each, draw(st.sampled_from(PUBLIC))) for each in draw(some(PRIVATE))),
        forwards=tuple(Forward(1, *key, draw(st.sampled_from(PRIVATE)), draw(st.sampled_from(PORTS))) for key in keys),
        bans=tuple(Ban(1, ip_network(each), draw(st.sampled_from(["", "scans"]))) for each in draw(some(BANS))),
        blocks=tuple(Block(draw(st.integers(1, 2)), each) for each in blocked),
    )


def tracked(protocol: int, source: str, sport: int, to: str, dport: int, *, snat: str = "", dnat: tuple[str, int] | None = None) -> Flow:
    """A connection from `source` to `to`, whose source or destination was rewritten."""
    there, there_port = dnat or (to, dport)
    first = (ip_address(source).packed, ip_address(to).packed, protocol, sport, dport)
    return Flow(*first, ip_address(there).packed, ip_address(snat or source).packed, there_port, sport)


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    protocol = draw(st.sampled_from([1, 6, 17]))
    ports = [draw(st.sampled_from(PORTS)) if protocol != 1 else 0 for _ in range(3)]
    if draw(st.booleans()):
        ends = st.sampled_from([*INSIDE6, *FOREIGN6])
        return tracked(protocol, str(draw(ends)), ports[0], str(draw(ends)), ports[1])
    source, to = str(draw(st.sampled_from([*PRIVATE, *FOREIGN]))), str(draw(st.sampled_from([*PRIVATE, *FOREIGN, *PUBLIC])))
    snat = str(draw(st.sampled_from(["", *PUBLIC])))
    return tracked(protocol, source, ports[0], to, ports[1], snat=snat, dnat=draw(st.sampled_from([None, (str(PRIVATE[0]), ports[2])])))


def moment(before: Policy, after: Policy, flow: Flow) -> Moment | None:
    """The definition, without a single hash table."""
    ends = [ip_address(flow.source), ip_address(flow.reply_source)]
    old_bans, new_bans = {ban.prefix for ban in before.bans}, {ban.prefix for ban in after.bans}
    if any(end in prefix for end in ends for prefix in new_bans - old_bans):
        return Moment.COMMIT
    old_blocks, new_blocks = {each.prefix for each in before.blocks}, {each.prefix for each in after.blocks}
    if any(end in prefix for end in ends for prefix in new_blocks - old_blocks):
        return Moment.COMMIT
    if flow.destination != flow.reply_source and any(ends[0] in prefix for prefix in old_blocks - new_blocks):
        return Moment.CONFIRM
    if any(end in before.addresses and end not in after.addresses for end in ends):
        return Moment.CONFIRM
    if any(end in prefix for end in ends for prefix in set(before.prefixes) - set(after.prefixes)):
        return Moment.CONFIRM
    mapped = {(each.private, each.public) for each in before.mappings} - {(each.private, each.public) for each in after.mappings}
    if (ip_address(flow.source), ip_address(flow.reply_destination)) in mapped:
        return Moment.CONFIRM
    for each in set(before.forwards) - set(after.forwards):
        number = {Protocol.TCP: 6, Protocol.UDP: 17}[each.protocol]
        key = (number, each.public.packed, each.public_port, each.private.packed, each.private_port)
        if key == (flow.protocol, flow.destination, flow.destination_port, flow.reply_source, flow.reply_source_port):
            return Moment.CONFIRM
    return None


@given(before=policies(), after=policies(), open_flows=st.lists(flows(), max_size=12))
@settings(max_examples=300, deadline=None)
def test_a_change_cuts_what_the_definition_says_and_nothing_else(before: Policy, after: Policy, open_flows: list[Flow]) -> None:
    changes = Changes(diff(compile_policy(before), compile_policy(after)))
    wanted = [moment(before, after, flow) for flow in open_flows]
    assert [changes.moment(flow) for flow in open_flows] == wanted
    assert changes or not any(wanted)
    at_commit, later = changes.split(open_flows)
    assert (len(at_commit), len(later)) == (wanted.count(Moment.COMMIT), wanted.count(Moment.CONFIRM))


@given(policy=policies(), open_flows=st.lists(flows(), max_size=12))
@settings(max_examples=100, deadline=None)
def test_a_change_that_is_undone_before_it_is_confirmed_cuts_nothing(policy: Policy, open_flows: list[Flow]) -> None:
    steps = [compile_policy(policy), compile_policy(Policy(GATEWAY)), compile_policy(policy)]
    changes = Changes(*(diff(before, after) for before, after in pairwise(steps)))
    assert Moment.CONFIRM not in {changes.moment(flow) for flow in open_flows}


@given(policy=policies().filter(lambda policy: not policy.bans and not policy.blocks))
@settings(max_examples=50, deadline=None)
def test_what_only_comes_concerns_no_flow(policy: Policy) -> None:
    assert not Changes(diff(EMPTY, compile_policy(policy)))


@given(bans=some(BANS))
def test_a_ban_that_goes_or_is_worded_anew_concerns_no_flow(bans: list[str]) -> None:
    said, anew = (tuple(Ban(1, ip_network(each), text, 2_000_000_000 + len(text)) for each in bans) for text in ("scans", "spam"))
    some_bans, others = compile_policy(Policy(GATEWAY, bans=said)), compile_policy(Policy(GATEWAY, bans=anew))
    assert not Changes(diff(some_bans, compile_policy(Policy(GATEWAY))))
    assert not Changes(diff(some_bans, others))


def test_nothing_changed_concerns_no_flow() -> None:
    assert not Changes(Delta())


WEB = tracked(6, "203.0.113.1", 999, "198.51.100.1", 80, dnat=("10.0.0.1", 443))


@pytest.mark.parametrize(
    "flow",
    [
        tracked(17, "203.0.113.1", 999, "198.51.100.1", 80, dnat=("10.0.0.1", 443)),
        tracked(6, "203.0.113.1", 999, "198.51.100.1", 81, dnat=("10.0.0.1", 443)),
        tracked(6, "203.0.113.1", 999, "198.51.100.1", 80, dnat=("10.0.0.2", 443)),
        tracked(6, "203.0.113.1", 999, "198.51.100.1", 80),
        tracked(6, "10.0.0.1", 443, "203.0.113.1", 80, snat="198.51.100.1"),
    ],
)
def test_a_forward_that_goes_leaves_all_others_alone(flow: Flow) -> None:
    forward = Forward(1, Protocol.TCP, PUBLIC[0], 80, PRIVATE[0], 443)
    changes = Changes(diff(compile_policy(Policy(GATEWAY, forwards=(forward,))), compile_policy(Policy(GATEWAY))))
    assert changes.moment(WEB) is Moment.CONFIRM
    assert changes.moment(flow) is None

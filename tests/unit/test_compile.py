from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Network

import pytest
from hypothesis import given, settings

from firewall.compile import compile_change, compile_policy
from firewall.diff import apply, diff
from firewall.policy import (
    Ban,
    Forward,
    Interfaces,
    Keys,
    Management,
    NatMapping,
    Policy,
    PolicyError,
    Protocol,
    Settings,
    Sharing,
    keys_of,
)
from firewall.render import render_rule
from tests.policies import NAT_1, network, policies

HOST, PUBLIC = IPv4Address("10.16.0.10"), IPv4Address("198.51.100.7")


def forward(number: int, port: int = 8443) -> Forward:
    return Forward(number, Protocol.TCP, PUBLIC, port, HOST, 443)


def test_ten_and_ten_thousand_members_need_the_same_rules() -> None:
    few, many = compile_policy(network(10)), compile_policy(network(10_000))
    assert few.count_rules() == many.count_rules() < 200
    assert few.chains == many.chains


def test_bans_of_every_length_stay_below_two_hundred_rules() -> None:
    every4 = [Ban(n, IPv4Network((0xCB007100 << 0, n), strict=False)) for n in range(8, 33)]
    every6 = [Ban(n, IPv6Network(f"2a00::/{n}")) for n in (*range(16, 65), 128)]
    prefixes = tuple(IPv6Network(f"2001:db8:{n:x}::/{n}") for n in (48, 56, 60, 64))
    ruleset = compile_policy(Policy(NAT_1, bans=(*every4, *every6), prefixes=prefixes))
    assert ruleset.count_rules() < 232


def test_segments_are_clamped_only_where_the_group_says_so() -> None:
    clamping = replace(NAT_1, settings=Settings(clamp_mss=True))
    assert "mangle_forward" not in compile_policy(Policy(NAT_1)).chains
    [rule] = compile_policy(Policy(clamping)).chains["mangle_forward"].rules
    assert render_rule(rule).startswith("tcp flags syn tcp option maxseg size set rt mtu")


def test_a_forward_is_one_element() -> None:
    before, after = compile_policy(Policy(NAT_1)), compile_policy(Policy(NAT_1, forwards=(forward(1),)))
    delta = diff(before, after)
    assert not delta.touches_rules
    [(name, change)] = delta.elements.items()
    assert (name, len(change.added), len(change.removed)) == ("fwd4", 1, 0)


def test_a_member_is_counted_up_and_down() -> None:
    ruleset = compile_policy(Policy(NAT_1, addresses=(HOST,)))
    assert ruleset.elements["up4"].keys() == ruleset.elements["down4"].keys() == {HOST.packed}
    assert ruleset.sets["up4"].counter
    assert ruleset.sets["down4"].counter


def test_two_forwards_of_one_port_are_refused_by_name() -> None:
    with pytest.raises(PolicyError, match=r"tcp 198\.51\.100\.7:8443 is given twice"):
        compile_policy(Policy(NAT_1, forwards=(forward(1), forward(2))))


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_port_that_is_none_is_refused_with_its_forward(port: int) -> None:
    with pytest.raises(PolicyError, match=f"forward 17: port {port} "):
        compile_policy(Policy(NAT_1, forwards=(forward(17, port),)))


@pytest.mark.parametrize("sharing", Sharing)
def test_two_mappings_of_one_address_are_refused(sharing: Sharing) -> None:
    mappings = (NatMapping(HOST, PUBLIC), NatMapping(HOST, PUBLIC + 1, sharing, 1024, 2047))
    with pytest.raises(PolicyError, match=r"NAT mapping of 10\.16\.0\.10 is given twice"):
        compile_policy(Policy(NAT_1, mappings=mappings))


@pytest.mark.parametrize(("first", "last"), [(0, 1023), (1024, 65536), (1024, 1024), (2047, 1024)])
def test_ports_that_are_no_block_are_refused_with_their_address(first: int, last: int) -> None:
    mapping = NatMapping(HOST, PUBLIC, Sharing.BLOCKS, first, last)
    with pytest.raises(PolicyError, match=f"NAT mapping of 10.16.0.10: ports {first} to {last} are no block"):
        compile_policy(Policy(NAT_1, mappings=(mapping,)))


def test_a_gateway_without_management_is_refused() -> None:
    with pytest.raises(PolicyError, match="nat-1: no management network"):
        compile_policy(Policy(replace(NAT_1, management=Management(()))))


@pytest.mark.parametrize("name", ["", "lan 0", 'lan"', "lan*", "a" * 16, "-x", "lan;drop"])
def test_an_interface_with_an_odd_name_is_refused(name: str) -> None:
    gateway = replace(NAT_1, interfaces=Interfaces(name, "wan0", "mgmt0"))
    with pytest.raises(PolicyError, match="interface"):
        compile_policy(Policy(gateway))


@pytest.mark.parametrize("prefix", ["0.0.0.0/0", "10.0.0.0/7"])
def test_a_ban_of_half_the_internet_is_refused(prefix: str) -> None:
    with pytest.raises(PolicyError, match="wider than a ban can be"):
        compile_policy(Policy(NAT_1, bans=(Ban(1, IPv4Network(prefix, strict=False)),)))


def test_a_set_grows_in_steps_so_that_it_is_seldom_made_anew() -> None:
    small, large = compile_policy(network(10)), compile_policy(network(70_000))
    assert small.sets["up4"].size == 65_536
    assert large.sets["up4"].size == 262_144


@given(policies())
@settings(max_examples=60)
def test_compiling_twice_gives_the_same(policy: Policy) -> None:
    assert compile_policy(policy) == compile_policy(policy)


def only(these: Policy, those: Policy) -> Policy:
    """The objects that only the first has."""
    return Policy(
        NAT_1,
        addresses=tuple(each for each in these.addresses if each not in those.addresses),
        prefixes=tuple(each for each in these.prefixes if each not in those.prefixes),
        mappings=tuple(each for each in these.mappings if each not in those.mappings),
        forwards=tuple(each for each in these.forwards if each not in those.forwards),
        bans=tuple(each for each in these.bans if each not in those.bans),
    )


def within(policy: Policy, touched: Keys) -> Policy:
    """Those of the policy's objects that the keys name."""
    return Policy(
        policy.gateway,
        addresses=tuple(each for each in policy.addresses if each in touched.addresses),
        prefixes=tuple(each for each in policy.prefixes if each in touched.prefixes),
        mappings=tuple(each for each in policy.mappings if each.private in touched.addresses),
        forwards=tuple(each for each in policy.forwards if (each.protocol, each.public, each.public_port) in touched.ports),
        bans=tuple(each for each in policy.bans if each.prefix in touched.bans),
    )


def either(one: Keys, other: Keys) -> Keys:
    return Keys(one.addresses | other.addresses, one.prefixes | other.prefixes, one.ports | other.ports, one.bans | other.bans)


@given(policies(), policies())
@settings(max_examples=150)
def test_compiling_a_change_gives_what_compiling_everything_gives(before: Policy, after: Policy) -> None:
    running = compile_policy(before)
    touched = either(keys_of(only(before, after)), keys_of(only(after, before)))
    delta = compile_change(running, touched=touched, come=within(after, touched))
    assert apply(running, delta) == compile_policy(after)
    assert delta == diff(running, compile_policy(after))


def test_a_change_that_makes_a_set_larger_carries_all_its_elements() -> None:
    running = compile_policy(Policy(NAT_1, addresses=tuple(IPv4Address(0x0A100000 + n) for n in range(65_536))))
    come = Policy(NAT_1, addresses=(IPv4Address("10.32.0.1"),))
    delta = compile_change(running, touched=Keys(), come=come)
    assert len(delta.elements["up4"].added) == 65_537
    assert "up" in delta.chains


def test_one_length_too_many_of_prefixes_is_refused_by_either_way() -> None:
    lengths = [IPv6Network((0x20010DB8 << 96, length)) for length in (48, 52, 56, 60, 64)]
    running = compile_policy(Policy(NAT_1, prefixes=tuple(lengths[:4])))
    for attempt in (
        lambda: compile_policy(Policy(NAT_1, prefixes=tuple(lengths))),
        lambda: compile_change(running, touched=Keys(prefixes={lengths[4]}), come=Policy(NAT_1, prefixes=(lengths[4],))),
    ):
        with pytest.raises(PolicyError, match="5 different lengths; at most 4"):
            attempt()


def test_what_is_touched_and_exists_no_more_is_removed() -> None:
    running = compile_policy(Policy(NAT_1, addresses=(HOST,), mappings=(NatMapping(HOST, PUBLIC),), forwards=(forward(1),)))
    delta = compile_change(running, touched=Keys({HOST}, ports={(Protocol.TCP, PUBLIC, 8443)}), come=Policy(NAT_1))
    assert apply(running, delta) == compile_policy(Policy(NAT_1))

import re
from dataclasses import fields, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import pytest
from hypothesis import given, settings

from firewall.compile import compile_change, compile_policy
from firewall.diff import apply, diff
from firewall.policy import (
    Ban,
    Block,
    Forward,
    Interfaces,
    Keys,
    Listener,
    Management,
    NatMapping,
    Policy,
    PolicyError,
    Protocol,
    Settings,
    keys_of,
)
from firewall.render import render_rule
from tests.policies import NAT_1, SERVING, network, policies

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
    assert ruleset.count_rules() < 260


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


def test_two_mappings_of_one_address_are_refused() -> None:
    mappings = (NatMapping(HOST, PUBLIC), NatMapping(HOST, PUBLIC + 1))
    with pytest.raises(PolicyError, match=r"NAT mapping of 10\.16\.0\.10 is given twice"):
        compile_policy(Policy(NAT_1, mappings=mappings))


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
        these.gateway,
        addresses=tuple(each for each in these.addresses if each not in those.addresses),
        prefixes=tuple(each for each in these.prefixes if each not in those.prefixes),
        mappings=tuple(each for each in these.mappings if each not in those.mappings),
        forwards=tuple(each for each in these.forwards if each not in those.forwards),
        bans=tuple(each for each in these.bans if each not in those.bans),
        blocks=tuple(each for each in these.blocks if each not in those.blocks),
        listeners=tuple(each for each in these.listeners if each not in those.listeners),
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
        blocks=tuple(each for each in policy.blocks if each.prefix in touched.prefixes or each.prefix.network_address in touched.addresses),
        listeners=tuple(each for each in policy.listeners if each.address in {address for _protocol, address, _port in touched.listeners}),
    )


def either(one: Keys, other: Keys) -> Keys:
    return Keys(*(getattr(one, each.name) | getattr(other, each.name) for each in fields(Keys)))


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


def test_the_first_block_of_the_night_writes_no_rules() -> None:
    member = Policy(SERVING, addresses=(HOST,), prefixes=(IPv6Network("2001:db8:a0:10::/64"),))
    block = replace(member, blocks=(Block(1, IPv4Network(HOST)), Block(1, member.prefixes[0])))
    delta = diff(compile_policy(member), compile_policy(block))
    assert not delta.touches_rules
    assert {name: len(change.added) for name, change in delta.elements.items()} == {"blocked4": 1, "blocked6_64": 1}


def test_a_member_blocked_twice_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"block of 10\.16\.0\.10/32 is given twice"):
        compile_policy(Policy(NAT_1, blocks=(Block(1, IPv4Network(HOST)), Block(2, IPv4Network(HOST)))))


def test_without_a_server_interface_there_is_no_notice_page_and_servers_stand_inside() -> None:
    inside = replace(SERVING, interfaces=NAT_1.interfaces)
    ruleset = compile_policy(Policy(inside, listeners=(LISTENER,)))
    text = "\n".join(render_rule(rule) for chain in ruleset.chains.values() for rule in chain.rules)
    assert "dnat ip to 192.168.9.80" not in text
    assert 'oifname "lan0" ip daddr . meta l4proto . th dport @lst4 accept' in text


LISTENER = Listener(5, IPv4Address("192.0.2.130"), Protocol.TCP, 443, "portal")
LISTENER6 = Listener(6, IPv6Address("2001:db8:a0:10::53"), Protocol.UDP, 53)
COLLIDING = {
    "“portal” at tcp 192.0.2.130:443 is also the public side of a forward to 10.16.0.10:22": (
        (LISTENER,),
        Policy(SERVING, forwards=(Forward(1, Protocol.TCP, IPv4Address("192.0.2.130"), 443, HOST, 22),)),
    ),
    "listener on 192.0.2.130: a member holds this address": ((LISTENER,), Policy(SERVING, addresses=(LISTENER.address,))),  # type: ignore[arg-type]
    "listener on 2001:db8:a0:10::53: a member holds 2001:db8:a0:10::/60": (
        (LISTENER6,),
        Policy(SERVING, prefixes=(IPv6Network("2001:db8:a0:10::/60"),)),
    ),
}


@pytest.mark.parametrize("words", COLLIDING)
def test_a_listener_where_members_are_is_refused_by_either_way(words: str) -> None:
    listeners, members = COLLIDING[words]
    both = replace(members, listeners=listeners)
    alone = Policy(SERVING, listeners=listeners)
    for wrong in (
        lambda: compile_policy(both),
        lambda: compile_change(compile_policy(alone), touched=keys_of(members), come=members),
        lambda: compile_change(compile_policy(members), touched=keys_of(alone), come=alone),
    ):
        with pytest.raises(PolicyError, match=re.escape(words)):
            wrong()


def test_a_listener_may_take_what_a_forward_gives_up() -> None:
    listeners, forwarding = next(iter(COLLIDING.values()))
    after = Policy(SERVING, listeners=listeners)
    delta = compile_change(compile_policy(forwarding), touched=keys_of(forwarding), come=after)
    assert apply(compile_policy(forwarding), delta) == compile_policy(after)


def test_a_host_stays_while_one_of_its_listeners_does() -> None:
    other = replace(LISTENER, id=6, port=80)
    both, one = Policy(SERVING, listeners=(LISTENER, other)), Policy(SERVING, listeners=(other,))
    delta = compile_change(compile_policy(both), touched=keys_of(Policy(SERVING, listeners=(LISTENER,))), come=one)
    assert apply(compile_policy(both), delta) == compile_policy(one)
    assert list(delta.elements) == ["lst4"]

import re
from dataclasses import fields, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import pytest
from hypothesis import given, settings

from firewall.chains import build_chains
from firewall.chains.used_sets import UsedSets
from firewall.compile import compile_change, compile_policy
from firewall.diff import apply, diff
from firewall.digest import digest_ruleset
from firewall.policy import (
    AllowEntrySpec,
    BanDirection,
    BanSpec,
    BlockedMemberSpec,
    ForwardSpec,
    GatewayGroupSettings,
    Interfaces,
    Management,
    NatMappingSpec,
    Policy,
    PolicyError,
    RateLimitSpec,
    ServerListenerSpec,
    SharingMode,
    TouchedKeys,
    TransportProtocol,
    collect_keys,
)
from firewall.render import render, render_rule
from tests.example_counts import count_examples
from tests.policies import NAT_1, SERVING, network, policies

HOST, PUBLIC = IPv4Address("10.16.0.10"), IPv4Address("198.51.100.7")


def forward(number: int, port: int = 8443) -> ForwardSpec:
    return ForwardSpec(number, TransportProtocol.TCP, PUBLIC, port, HOST, 443)


def test_ten_and_ten_thousand_members_need_the_same_rules() -> None:
    few, many = compile_policy(network(10)), compile_policy(network(10_000))
    assert few.count_rules() == many.count_rules() < 200
    assert few.chains == many.chains


def test_bans_of_a_length_need_one_rule_on_each_side() -> None:
    every4 = [BanSpec(n, IPv4Network((0xCB007100 << 0, n), strict=False)) for n in range(8, 33)]
    every6 = [BanSpec(n, IPv6Network(f"2a00::/{n}")) for n in (*range(16, 65), 128)]
    prefixes = tuple(IPv6Network(f"2001:db8:{n:x}::/{n}") for n in (48, 56, 60, 64))
    one_each = Policy(NAT_1, bans=(every4[0], every6[0]), prefixes=prefixes)
    few, many = (compile_policy(each).count_rules() for each in (one_each, replace(one_each, bans=(*every4, *every6))))
    assert many - few == 2 * (len(every4) + len(every6) - 2) + 2  # IPv4's lengths fit into one more rule, which returns for the rest


def test_segments_are_clamped_only_where_the_group_says_so() -> None:
    clamping = replace(NAT_1, settings=GatewayGroupSettings(clamp_mss=True))
    plain, clamped = (compile_policy(Policy(each)).chains["forward"].rules for each in (NAT_1, clamping))
    assert clamped[1:] == plain
    assert render_rule(clamped[0]).startswith("tcp flags syn tcp option maxseg size set rt mtu")


def test_a_forward_is_one_element() -> None:
    before, after = compile_policy(Policy(NAT_1)), compile_policy(Policy(NAT_1, forwards=(forward(1),)))
    delta = diff(before, after)
    assert not delta.touches_rules
    [(name, change)] = delta.elements.items()
    assert (name, len(change.added), len(change.removed)) == ("forward4", 1, 0)


def test_a_member_is_counted_up_and_down() -> None:
    ruleset = compile_policy(Policy(NAT_1, addresses=(HOST,)))
    assert ruleset.elements["up4"].keys() == ruleset.elements["down4"].keys() == {HOST.packed}
    assert ruleset.sets["up4"].counter
    assert ruleset.sets["down4"].counter


def test_two_forwards_of_one_port_are_refused_by_name() -> None:
    with pytest.raises(PolicyError, match=r"tcp 198\.51\.100\.7:8443 is given twice"):
        compile_policy(Policy(NAT_1, forwards=(forward(1), forward(2))))


def test_a_range_of_ports_is_an_element_for_each_shifted_alike() -> None:
    policy = Policy(NAT_1, forwards=(ForwardSpec(1, TransportProtocol.UDP, PUBLIC, 6000, HOST, 16000, ports=10),))
    text = render(compile_policy(policy), now=0)
    assert "198.51.100.7 . udp . 6000 : 10.16.0.10 . 16000," in text
    assert "198.51.100.7 . udp . 6009 : 10.16.0.10 . 16009 }" in text
    assert compile_policy(policy).count_rules() == compile_policy(Policy(NAT_1)).count_rules()


@pytest.mark.parametrize(("first", "to", "ports"), [(65535, 1, 2), (1, 65535, 2), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1001)])
def test_a_range_that_leaves_the_ports_or_is_too_long_is_refused(first: int, to: int, ports: int) -> None:
    with pytest.raises(PolicyError, match=r"forward 7: (port \d+ is not between 1 and 65535|\d+ ports; a forward has 1 to 1000)"):
        compile_policy(Policy(NAT_1, forwards=(ForwardSpec(7, TransportProtocol.TCP, PUBLIC, first, HOST, to, ports),)))


def test_ranges_that_share_one_port_are_refused_with_both() -> None:
    both = (
        ForwardSpec(1, TransportProtocol.TCP, PUBLIC, 6000, HOST, 80, 10),
        ForwardSpec(2, TransportProtocol.TCP, PUBLIC, 6009, HOST, 80, 10),
    )
    with pytest.raises(PolicyError, match=r"forward of tcp 198\.51\.100\.7:6009 is given twice: by forward 1 and by forward 2"):
        compile_policy(Policy(NAT_1, forwards=both))


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_port_that_is_none_is_refused_with_its_forward(port: int) -> None:
    with pytest.raises(PolicyError, match=f"forward 17: port {port} "):
        compile_policy(Policy(NAT_1, forwards=(forward(17, port),)))


@pytest.mark.parametrize("sharing", SharingMode)
def test_two_mappings_of_one_address_are_refused(sharing: SharingMode) -> None:
    mappings = (NatMappingSpec(HOST, PUBLIC), NatMappingSpec(HOST, PUBLIC + 1, sharing, 1024, 2047))
    with pytest.raises(PolicyError, match=r"NAT mapping of 10\.16\.0\.10 is given twice"):
        compile_policy(Policy(NAT_1, mappings=mappings))


@pytest.mark.parametrize(("first", "last"), [(0, 1023), (1024, 65536), (1024, 1024), (2047, 1024)])
def test_ports_that_are_no_block_are_refused_with_their_address(first: int, last: int) -> None:
    mapping = NatMappingSpec(HOST, PUBLIC, SharingMode.BLOCKS, first, last)
    with pytest.raises(PolicyError, match=f"NAT mapping of 10.16.0.10: ports {first} to {last} are not a block"):
        compile_policy(Policy(NAT_1, mappings=(mapping,)))


def test_a_gateway_without_management_is_refused() -> None:
    with pytest.raises(PolicyError, match="nat-1: it has no management network"):
        compile_policy(Policy(replace(NAT_1, management=Management(()))))


@pytest.mark.parametrize("name", ["", "lan 0", 'lan"', "lan*", "a" * 16, "-x", "lan;drop"])
def test_an_interface_with_an_odd_name_is_refused(name: str) -> None:
    gateway = replace(NAT_1, interfaces=Interfaces(name, "wan0", "mgmt0"))
    with pytest.raises(PolicyError, match="interface"):
        compile_policy(Policy(gateway))


@pytest.mark.parametrize("prefix", ["0.0.0.0/0", "10.0.0.0/7"])
def test_a_ban_of_half_the_internet_is_refused(prefix: str) -> None:
    with pytest.raises(PolicyError, match="cannot be banned: an IPv4 prefix must be /8 to /32"):
        compile_policy(Policy(NAT_1, bans=(BanSpec(1, IPv4Network(prefix, strict=False)),)))


def test_a_set_grows_in_steps_so_that_it_is_seldom_made_anew() -> None:
    small, large = compile_policy(network(10)), compile_policy(network(70_000))
    assert small.sets["up4"].size == 65_536
    assert large.sets["up4"].size == 262_144


@given(policies())
@settings(max_examples=count_examples(60))
def test_compiling_twice_gives_the_same(policy: Policy) -> None:
    assert compile_policy(policy) == compile_policy(policy)


def only(these: Policy, those: Policy) -> Policy:
    """Return the objects that only the first policy has."""
    return Policy(
        these.gateway,
        addresses=tuple(each for each in these.addresses if each not in those.addresses),
        prefixes=tuple(each for each in these.prefixes if each not in those.prefixes),
        mappings=tuple(each for each in these.mappings if each not in those.mappings),
        forwards=tuple(each for each in these.forwards if each not in those.forwards),
        pinholes=tuple(each for each in these.pinholes if each not in those.pinholes),
        bans=tuple(each for each in these.bans if each not in those.bans),
        allowed=tuple(each for each in these.allowed if each not in those.allowed),
        blocks=tuple(each for each in these.blocks if each not in those.blocks),
        listeners=tuple(each for each in these.listeners if each not in those.listeners),
        tariff_rates=tuple(each for each in these.tariff_rates if each not in those.tariff_rates),
        rate_limits=tuple(each for each in these.rate_limits if each not in those.rate_limits),
        owners=tuple(each for each in these.owners if each not in those.owners),
    )


def within(policy: Policy, touched: TouchedKeys) -> Policy:
    """Return those objects of the policy that the keys name."""
    return Policy(
        policy.gateway,
        addresses=tuple(each for each in policy.addresses if each in touched.addresses),
        prefixes=tuple(each for each in policy.prefixes if each in touched.prefixes),
        mappings=tuple(each for each in policy.mappings if each.private in touched.addresses),
        forwards=tuple(each for each in policy.forwards if collect_keys(Policy(NAT_1, forwards=(each,))).ports & touched.ports),
        pinholes=tuple(each for each in policy.pinholes if each.hole in touched.holes),
        bans=tuple(each for each in policy.bans if each.prefix in touched.bans),
        allowed=tuple(each for each in policy.allowed if each.prefix in touched.allowed),
        blocks=tuple(each for each in policy.blocks if is_held(each, touched)),
        listeners=tuple(each for each in policy.listeners if each.address in {address for _protocol, address, _port in touched.listeners}),
        tariff_rates=tuple(each for each in policy.tariff_rates if is_held(each, touched)),
        rate_limits=tuple(each for each in policy.rate_limits if is_held(each, touched)),
        owners=tuple(each for each in policy.owners if each.prefix in touched.addresses or each.prefix in touched.prefixes),
    )


def is_held(each: BlockedMemberSpec | RateLimitSpec, touched: TouchedKeys) -> bool:
    return each.prefix in touched.prefixes or each.prefix.network_address in touched.addresses


def either(one: TouchedKeys, other: TouchedKeys) -> TouchedKeys:
    return TouchedKeys(*(getattr(one, each.name) | getattr(other, each.name) for each in fields(TouchedKeys)))


@given(policies(), policies())
@settings(max_examples=count_examples(150))
def test_compiling_a_change_gives_what_compiling_everything_gives(before: Policy, after: Policy) -> None:
    running = compile_policy(before)
    touched = either(collect_keys(only(before, after)), collect_keys(only(after, before)))
    delta = compile_change(running, touched=touched, come=within(after, touched))
    assert apply(running, delta) == compile_policy(after)
    assert delta == diff(running, compile_policy(after))


def test_a_change_that_makes_a_set_larger_carries_all_its_elements() -> None:
    running = compile_policy(Policy(NAT_1, addresses=tuple(IPv4Address(0x0A100000 + n) for n in range(65_536))))
    come = Policy(NAT_1, addresses=(IPv4Address("10.32.0.1"),))
    delta = compile_change(running, touched=TouchedKeys(), come=come)
    assert len(delta.elements["up4"].added) == 65_537
    assert "up" in delta.chains


def test_one_length_too_many_of_prefixes_is_refused_by_either_way() -> None:
    lengths = [IPv6Network((0x20010DB8 << 96, length)) for length in (48, 52, 56, 60, 64)]
    running = compile_policy(Policy(NAT_1, prefixes=tuple(lengths[:4])))
    for attempt in (
        lambda: compile_policy(Policy(NAT_1, prefixes=tuple(lengths))),
        lambda: compile_change(running, touched=TouchedKeys(prefixes={lengths[4]}), come=Policy(NAT_1, prefixes=(lengths[4],))),
    ):
        with pytest.raises(PolicyError, match="5 different lengths; at most 4"):
            attempt()


def test_what_is_touched_and_exists_no_more_is_removed() -> None:
    running = compile_policy(Policy(NAT_1, addresses=(HOST,), mappings=(NatMappingSpec(HOST, PUBLIC),), forwards=(forward(1),)))
    delta = compile_change(running, touched=TouchedKeys({HOST}, ports={(TransportProtocol.TCP, PUBLIC, 8443)}), come=Policy(NAT_1))
    assert apply(running, delta) == compile_policy(Policy(NAT_1))


HOLE, WIDE = IPv4Network("203.0.113.9/32"), IPv4Network("203.0.113.0/24")


def test_a_ban_lies_in_the_set_of_its_direction_alone() -> None:
    bans = tuple(BanSpec(1, HOLE, direction=each) for each in (BanDirection.IN, BanDirection.OUT))
    found = compile_policy(Policy(NAT_1, bans=bans)).elements
    assert {name for name, each in found.items() if each} == {"bans_in4_32", "bans_out4_32"}


def test_who_is_banned_both_ways_cannot_be_banned_one_way_besides() -> None:
    with pytest.raises(PolicyError, match="bans_in4_32: cb007109 is banned in both directions and in one"):
        compile_policy(Policy(NAT_1, bans=(BanSpec(1, HOLE), BanSpec(2, HOLE, direction=BanDirection.IN))))


def test_the_rules_of_one_side_ask_the_allow_list_for_banned_hosts_alone_and_never_the_other_side() -> None:
    ruleset = compile_policy(Policy(NAT_1, bans=(BanSpec(1, WIDE, direction=BanDirection.OUT),), allowed=(AllowEntrySpec(1, HOLE),)))
    assert "bans_from" not in ruleset.chains
    assert [render_rule(each) for each in ruleset.chains["bans_to4"].rules] == [
        'ip daddr & 255.255.255.0 != @bans_out4_24 return comment "not banned"',
        "ip daddr @allowed4_32 return",
        "ip daddr & 255.255.255.0 @bans_out4_24 drop",
    ]


def test_an_allow_list_without_bans_costs_no_rule() -> None:
    assert compile_policy(Policy(NAT_1, allowed=(AllowEntrySpec(1, HOLE),))).chains == compile_policy(Policy(NAT_1)).chains


def test_flood_mode_drops_banned_sources_on_the_uplink_behind_what_gateways_need() -> None:
    flooded = replace(NAT_1, settings=GatewayGroupSettings(flood_mode=True))
    assert compile_policy(Policy(flooded)) == compile_policy(Policy(NAT_1))
    chains = compile_policy(Policy(flooded, bans=(BanSpec(1, WIDE),))).chains
    assert list(map(render_rule, chains["raw_prerouting"].rules)) == [
        'iifname "wan0" goto raw_flood',
        'iifname "lan0" accept',
        'iifname vmap { "mgmt0" : goto raw_management, "sync0" : goto raw_sync }',
    ]
    assert [render_rule(each).split()[:2] for each in chains["raw_flood"].rules] == [
        ["meta", "l4proto"],
        ["icmpv6", "type"],
        ["jump", "bans_from"],
    ]


def test_a_ban_that_is_only_worded_anew_changes_nothing() -> None:
    one, other = (compile_policy(Policy(NAT_1, bans=(BanSpec(1, WIDE, text),))) for text in ("scans", "spam"))
    assert (one == other, not diff(one, other), digest_ruleset(one) == digest_ruleset(other)) == (True, True, True)
    assert digest_ruleset(one) != digest_ruleset(compile_policy(Policy(NAT_1, bans=(BanSpec(1, WIDE, "scans", 9),))))


def test_the_first_block_of_the_night_writes_no_rules() -> None:
    member = Policy(SERVING, addresses=(HOST,), prefixes=(IPv6Network("2001:db8:a0:10::/64"),))
    block = replace(member, blocks=(BlockedMemberSpec(1, IPv4Network(HOST)), BlockedMemberSpec(1, member.prefixes[0])))
    delta = diff(compile_policy(member), compile_policy(block))
    assert not delta.touches_rules
    assert {name: len(change.added) for name, change in delta.elements.items()} == {"blocked4": 1, "blocked6_64": 1}


def test_a_member_blocked_twice_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"block of 10\.16\.0\.10/32 is given twice"):
        compile_policy(Policy(NAT_1, blocks=(BlockedMemberSpec(1, IPv4Network(HOST)), BlockedMemberSpec(2, IPv4Network(HOST)))))


def test_without_a_server_interface_there_is_no_notice_page_and_servers_stand_inside() -> None:
    inside = replace(SERVING, interfaces=NAT_1.interfaces)
    ruleset = compile_policy(Policy(inside, listeners=(LISTENER,)))
    text = "\n".join(render_rule(rule) for chain in ruleset.chains.values() for rule in chain.rules)
    assert "dnat ip to 192.168.9.80" not in text
    assert 'oifname "lan0" ip daddr . meta l4proto . th dport @listener4 accept' in text


LISTENER = ServerListenerSpec(5, IPv4Address("192.0.2.130"), TransportProtocol.TCP, 443, "portal")
LISTENER6 = ServerListenerSpec(6, IPv6Address("2001:db8:a0:10::53"), TransportProtocol.UDP, 53)
COLLIDING = {
    "“portal” at tcp 192.0.2.130:443 is also the public side of a forward to 10.16.0.10:22": (
        (LISTENER,),
        Policy(SERVING, forwards=(ForwardSpec(1, TransportProtocol.TCP, IPv4Address("192.0.2.130"), 443, HOST, 22),)),
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
        lambda: compile_change(compile_policy(alone), touched=collect_keys(members), come=members),
        lambda: compile_change(compile_policy(members), touched=collect_keys(alone), come=alone),
    ):
        with pytest.raises(PolicyError, match=re.escape(words)):
            wrong()


def test_a_listener_may_take_what_a_forward_gives_up() -> None:
    listeners, forwarding = next(iter(COLLIDING.values()))
    after = Policy(SERVING, listeners=listeners)
    delta = compile_change(compile_policy(forwarding), touched=collect_keys(forwarding), come=after)
    assert apply(compile_policy(forwarding), delta) == compile_policy(after)


def test_a_host_stays_while_one_of_its_listeners_does() -> None:
    other = replace(LISTENER, id=6, port=80)
    both, one = Policy(SERVING, listeners=(LISTENER, other)), Policy(SERVING, listeners=(other,))
    delta = compile_change(compile_policy(both), touched=collect_keys(Policy(SERVING, listeners=(LISTENER,))), come=one)
    assert apply(compile_policy(both), delta) == compile_policy(one)
    assert list(delta.elements) == ["listener4"]


def test_a_change_of_elements_finds_the_chains_of_the_one_before_it() -> None:
    gateway, used = network(3).gateway, UsedSets(frozenset({"out4", "snat4", "up4", "down4"}))
    first, second = build_chains(gateway, used), build_chains(gateway, used)
    assert all(second[name] is chain for name, chain in first.items())
    first.clear()
    assert build_chains(gateway, used) == second
    assert build_chains(replace(gateway, settings=GatewayGroupSettings(clamp_mss=True)), used) != second


def test_the_chains_of_some_hundred_gateways_are_found_again_in_turn() -> None:
    used = UsedSets(frozenset({"out4", "snat4", "up4", "down4"}))
    gateways = [replace(network(3).gateway, name=f"nat-{number}") for number in range(200)]
    first = [build_chains(gateway, used) for gateway in gateways]
    assert all(build_chains(gateway, used)["forward"] is chains["forward"] for gateway, chains in zip(gateways, first, strict=True))

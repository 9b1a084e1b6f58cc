import os
import re
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firewall.compile import compile_policy
from firewall.diff import diff
from firewall.names import COMMENT_OCTETS, sanitize_comment
from firewall.policy import (
    AllowEntrySpec,
    BanDirection,
    BanSpec,
    BlockedMemberSpec,
    ConnectionLimits,
    ForwardSpec,
    GatewayGroupSettings,
    Hole,
    NatMappingSpec,
    PinholeSpec,
    Policy,
    PolicyError,
    Profile,
    ProtectionSpec,
    RateLimitSpec,
    RoutingPeer,
    RoutingProtocol,
    ServerListenerSpec,
    SharingMode,
    TransportProtocol,
)
from firewall.render import render, render_beginning, render_delta, render_rule
from firewall.ruleset import EMPTY, Count, Field, Match, Rule, Verdict, VerdictAction
from tests.example_counts import count_examples
from tests.policies import LIMITS, NAT_1, PROBED, PROBES_MAPPING, SERVING, network, policies, texts

GOLDEN = Path(__file__).parent.parent / "golden"
NOW = 1_800_000_000
HOST6 = IPv6Address("2001:db8:a0:10::10")
HOST, PUBLIC = IPv4Address("10.16.0.10"), IPv4Address("198.51.100.7")

CASES = {
    "empty": Policy(NAT_1),
    "member": Policy(NAT_1, addresses=(HOST,), prefixes=(IPv6Network("2001:db8:a0:10::/64"),), mappings=(NatMappingSpec(HOST, PUBLIC),)),
    "probe": Policy(
        PROBED, addresses=(HOST,), prefixes=(IPv6Network("2001:db8:a0:10::/64"),), mappings=(NatMappingSpec(HOST, PUBLIC), PROBES_MAPPING)
    ),
    "forwards": Policy(
        NAT_1,
        addresses=(HOST,),
        mappings=(NatMappingSpec(HOST, PUBLIC),),
        forwards=(
            ForwardSpec(1, TransportProtocol.TCP, PUBLIC, 8443, HOST, 443),
            ForwardSpec(2, TransportProtocol.UDP, PUBLIC, 51820, HOST, 51820),
        ),
    ),
    "sharing": Policy(
        NAT_1,
        addresses=(HOST, HOST + 1, HOST + 2, HOST + 3),
        mappings=(
            NatMappingSpec(HOST, PUBLIC),
            NatMappingSpec(HOST + 1, PUBLIC + 1, SharingMode.OWN),
            NatMappingSpec(HOST + 2, PUBLIC + 2, SharingMode.BLOCKS, 1024, 2047),
            NatMappingSpec(HOST + 3, PUBLIC + 2, SharingMode.BLOCKS, 64512, 65535),
        ),
    ),
    "protection": Policy(
        replace(
            NAT_1,
            settings=GatewayGroupSettings(
                clamp_mss=True,
                protection=ProtectionSpec(
                    bogons=True,
                    own=(IPv4Network("203.0.113.0/25"), IPv4Network("203.0.113.128/25"), IPv6Network("2001:db8::/32")),
                    peers=(
                        RoutingPeer(IPv4Address("192.0.2.1"), RoutingProtocol.BGP),
                        RoutingPeer(IPv6Address("2001:db8:b0::1"), RoutingProtocol.BGP),
                        RoutingPeer(IPv6Address("fe80::1"), RoutingProtocol.OSPF),
                    ),
                    ftp_ports=(21, 2121),
                    sip_ports=(5060,),
                ),
            ),
        ),
        addresses=(HOST,),
    ),
    "limits": Policy(
        replace(NAT_1, settings=GatewayGroupSettings(limits=LIMITS)),
        addresses=(HOST,),
        prefixes=(IPv6Network("2001:db8:a0:10::/64"), IPv6Network("2001:db8:a1::/56")),
    ),
    "sampled": Policy(
        replace(NAT_1, settings=GatewayGroupSettings(limits=ConnectionLimits(member_open=2000, source_open=200, sampled=True))),
        addresses=(HOST,),
        prefixes=(IPv6Network("2001:db8:a0:10::/64"), IPv6Network("2001:db8:a1::/56")),
    ),
    "hairpin": Policy(
        replace(NAT_1, settings=GatewayGroupSettings(publics=(IPv4Network("198.51.100.0/24"), IPv4Network("192.0.2.64/26")))),
        addresses=(HOST,),
        forwards=(ForwardSpec(1, TransportProtocol.UDP, PUBLIC, 6000, HOST, 16000, 3),),
    ),
    "pinholes": Policy(
        NAT_1,
        prefixes=(IPv6Network("2001:db8:a0:10::/64"),),
        pinholes=(
            PinholeSpec(1, Hole(HOST6, TransportProtocol.TCP, 443)),
            PinholeSpec(2, Hole(HOST6, TransportProtocol.UDP, 6000, 3)),
            PinholeSpec(3, Hole(HOST6 + 1, TransportProtocol.UDP)),
            PinholeSpec(4, Hole(HOST6 + 2)),
        ),
    ),
    "prefixes": Policy(NAT_1, prefixes=(IPv6Network("2001:db8:a0:10::/64"), IPv6Network("2001:db8:a1::/56"))),
    "blocks": Policy(
        SERVING,
        addresses=(HOST, HOST + 1),
        prefixes=(IPv6Network("2001:db8:a0:10::/64"),),
        blocks=(BlockedMemberSpec(7, IPv4Network(HOST), NOW + 3600), BlockedMemberSpec(7, IPv6Network("2001:db8:a0:10::/64"), NOW + 3600)),
    ),
    "rates": Policy(
        replace(NAT_1, settings=GatewayGroupSettings(clamp_mss=True)),
        addresses=(HOST, HOST + 1),
        prefixes=(IPv6Network("2001:db8:a0:10::/64"), IPv6Network("2001:db8:a1::/56")),
        tariff_rates=(
            RateLimitSpec(3, IPv4Network(HOST), 625_000, 2_500_000),
            RateLimitSpec(3, IPv6Network("2001:db8:a0:10::/64"), 625_000),
        ),
        rate_limits=(
            RateLimitSpec(7, IPv4Network(HOST), 0, 125_000, NOW + 3600),
            RateLimitSpec(8, IPv6Network("2001:db8:a1::/56"), 125_000, 125_000, NOW + 100_000),
            RateLimitSpec(9, IPv4Network(HOST + 1), 125_000, 125_000, NOW),
        ),
    ),
    "listeners": Policy(
        SERVING,
        addresses=(HOST,),
        prefixes=(IPv6Network("2001:db8:a0:10::/64"),),
        listeners=(
            ServerListenerSpec(1, IPv4Address("192.0.2.130"), TransportProtocol.TCP, 443, "portal"),
            ServerListenerSpec(2, IPv4Address("192.0.2.130"), TransportProtocol.UDP, 53, 'name server "a"'),
            ServerListenerSpec(3, IPv6Address("2001:db8:99::53"), TransportProtocol.UDP, 53, "name server"),
        ),
    ),
    "guarded": Policy(
        NAT_1,
        addresses=(HOST,),
        listeners=(
            ServerListenerSpec(1, IPv4Address("192.0.2.130"), TransportProtocol.TCP, 443, "portal", window_scale=7),
            ServerListenerSpec(2, IPv4Address("192.0.2.130"), TransportProtocol.TCP, 25, "mail", window_scale=10),
            ServerListenerSpec(3, IPv4Address("192.0.2.130"), TransportProtocol.UDP, 53, "name server"),
            ServerListenerSpec(4, IPv6Address("2001:db8:99::80"), TransportProtocol.TCP, 443, "portal", window_scale=7),
        ),
    ),
    "bans": Policy(
        NAT_1,
        bans=(
            BanSpec(1, IPv4Network("203.0.113.66/32"), 'scans; says "hello"', NOW + 3600),
            BanSpec(2, IPv4Network("192.0.2.0/25"), "over", NOW - 1),
            BanSpec(3, IPv4Network("192.0.2.128/25"), "for ever"),
            BanSpec(4, IPv6Network("2001:db8:bad::/48"), '"}; flush ruleset'),
        ),
    ),
    "allowed": Policy(
        replace(NAT_1, settings=GatewayGroupSettings(flood_mode=True)),
        bans=(
            BanSpec(1, IPv4Network("203.0.113.0/24")),
            BanSpec(2, IPv4Network("192.0.2.9/32"), "they call us", direction=BanDirection.IN),
            BanSpec(3, IPv6Network("2001:db8:bad::/48"), direction=BanDirection.OUT),
        ),
        allowed=(
            AllowEntrySpec(1, IPv4Network("203.0.113.9/32"), "our mirror", NOW + 60),
            AllowEntrySpec(2, IPv6Network("2001:db8:bad:1::/64")),
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_text_is_the_one_that_was_reviewed(name: str) -> None:
    golden = GOLDEN / f"{name}.nft"
    text = render(compile_policy(CASES[name]), now=NOW)
    if os.environ.get("WRITE_GOLDEN"):  # review the difference afterwards
        golden.write_text(text)
    assert text == golden.read_text()


def test_a_delta_of_one_forward_is_one_line_beside_the_table() -> None:
    before, after = compile_policy(CASES["member"]), compile_policy(CASES["forwards"])
    delta = diff(before, after)
    lines = [line for line in render_delta(delta, now=NOW).splitlines() if "forward4" in line]
    assert lines == [
        "add element inet netzwart forward4 "
        "{ 198.51.100.7 . tcp . 8443 : 10.16.0.10 . 443, 198.51.100.7 . udp . 51820 : 10.16.0.10 . 51820 }"
    ]


def test_deletes_come_before_adds_in_one_transaction() -> None:
    other = Policy(NAT_1, mappings=(NatMappingSpec(HOST, PUBLIC + 1),))
    first = Policy(NAT_1, mappings=(NatMappingSpec(HOST, PUBLIC),))
    text = render_delta(diff(compile_policy(first), compile_policy(other)), now=NOW)
    assert text.splitlines() == [
        "add table inet netzwart",
        "delete element inet netzwart snat4 { 10.16.0.10 }",
        "add element inet netzwart snat4 { 10.16.0.10 : 198.51.100.8 }",
    ]


@settings(max_examples=count_examples(50))
@given(policies(), st.integers(0, 3000))
def test_the_beginning_of_a_text_is_that_of_the_whole_text(policy: Policy, most: int) -> None:
    delta = diff(EMPTY, compile_policy(policy))
    assert render_beginning(delta, now=NOW, most=most) == render_delta(delta, now=NOW)[:most]


def test_another_block_is_one_element_that_goes_and_comes() -> None:
    blocks = [NatMappingSpec(HOST, PUBLIC, SharingMode.BLOCKS, first, first + 1023) for first in (1024, 2048)]
    before, after = (compile_policy(Policy(NAT_1, mappings=(each,))) for each in blocks)
    assert render_delta(diff(before, after), now=NOW).splitlines() == [
        "add table inet netzwart",
        "delete element inet netzwart snat4_block { 10.16.0.10 }",
        "add element inet netzwart snat4_block { 10.16.0.10 : 198.51.100.7 . 2048-3071 }",
    ]


def test_times_of_connections_come_before_the_rule_that_sets_them_and_go_after_it() -> None:
    before, after = (
        compile_policy(Policy(NAT_1)),
        compile_policy(Policy(replace(NAT_1, settings=GatewayGroupSettings(profile=Profile(udp=200))))),
    )
    lines = [line for line in render_delta(diff(before, after), now=NOW).splitlines() if "srcnat" in line or "ct timeout" in line]
    named = [line for line in lines if "ct timeout" in line]
    assert named == [
        "delete ct timeout inet netzwart tcp_7440",
        "delete ct timeout inet netzwart udp_120_300",
        "add ct timeout inet netzwart udp_200_300 { protocol udp; policy = { unreplied : 200, replied : 300 }; }",
        'add rule inet netzwart srcnat udp dport != { 53, 123 } ct timeout set "udp_200_300" comment "RFC 4787, REQ-5"',
    ]
    assert lines.index("flush chain inet netzwart srcnat") < lines.index(named[0])


def test_neighbouring_bits_of_a_connections_status_are_one_comparison() -> None:
    snat, dnat, seen = (Match(Field.CT_STATUS, (bit,)) for bit in ("snat", "dnat", "seen-reply"))
    unset = replace(dnat, negated=True)
    assert render_rule(Rule((snat, unset))) == "ct status & (snat | dnat) == snat"
    assert render_rule(Rule((unset, seen, snat))) == "ct status & (dnat | seen-reply | snat) == seen-reply | snat"
    assert render_rule(Rule((unset, replace(snat, negated=True)))) == "ct status & (dnat | snat) == 0"
    between = Match(Field.IP_SADDR, (IPv4Address("192.0.2.1"),))
    assert render_rule(Rule((snat, between, unset))) == "ct status snat ip saddr 192.0.2.1 ct status ! dnat"


def test_a_helper_comes_before_the_rule_that_assigns_it_and_goes_after_it() -> None:
    reads = compile_policy(Policy(replace(NAT_1, settings=GatewayGroupSettings(protection=ProtectionSpec(ftp_ports=(21,))))))
    plain = compile_policy(Policy(NAT_1))
    assert render_delta(diff(plain, reads), now=NOW).splitlines() == [
        "add table inet netzwart",
        "add chain inet netzwart helpers { type filter hook prerouting priority 0; policy accept; }",
        'add ct helper inet netzwart ftp { type "ftp" protocol tcp; }',
        'add rule inet netzwart helpers iifname "lan0" ct state new tcp dport 21 ct helper set "ftp"',
    ]
    assert render_delta(diff(reads, plain), now=NOW).splitlines() == [
        "add table inet netzwart",
        "flush chain inet netzwart helpers",
        "delete chain inet netzwart helpers",
        "delete ct helper inet netzwart ftp",
    ]


def test_an_expired_ban_is_neither_added_nor_deleted() -> None:
    over = Policy(NAT_1, bans=(BanSpec(2, IPv4Network("192.0.2.0/25"), "over", NOW - 1), BanSpec(3, IPv4Network("192.0.2.128/25"))))
    kept = Policy(NAT_1, bans=(BanSpec(3, IPv4Network("192.0.2.128/25")),))
    assert "192.0.2.0" not in render_delta(diff(compile_policy(over), compile_policy(kept)), now=NOW)
    assert "192.0.2.0 " not in render_delta(diff(compile_policy(kept), compile_policy(over)), now=NOW)


@given(texts)
@settings(max_examples=count_examples(300))
def test_no_comment_breaks_out_of_its_quotes(hostile: str) -> None:
    clean = sanitize_comment(hostile)
    assert not re.search(r'["\\\x00-\x1f\x7f]', clean)
    assert len(clean.encode()) <= COMMENT_OCTETS
    ruleset = compile_policy(Policy(NAT_1, bans=(BanSpec(1, IPv4Network("192.0.2.1/32"), hostile),)))
    [line] = [line for line in render(ruleset, now=NOW).splitlines() if line.startswith("add element")]
    assert re.fullmatch(r'add element inet netzwart bans4_32 \{ 192\.0\.2\.1( comment "[^"]*")? \}', line)


@pytest.mark.parametrize("hostile", ["established accept", "a;b", 'x"', "", "{", "@up4"])
def test_a_value_that_is_no_symbol_is_refused(hostile: str) -> None:
    with pytest.raises(PolicyError):
        render_rule(Rule((Match(Field.CT_STATE, (hostile,)),)))
    with pytest.raises(PolicyError):
        render_rule(Rule((Verdict(VerdictAction.JUMP, hostile or " "),)))
    with pytest.raises(PolicyError):
        render_rule(Rule((Count(hostile or " "),)))


def test_rendering_is_the_same_every_time() -> None:
    assert render(compile_policy(network(50)), now=NOW) == render(compile_policy(network(50)), now=NOW)

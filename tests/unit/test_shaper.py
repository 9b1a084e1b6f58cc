"""Shaper of an uplink: what a policy asks for, the kernel's octets, and the programs that tell members apart."""

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Network, IPv6Address, IPv6Network

import pytest

from firewall import digest, wire
from firewall.codec import TooNewError, WireError
from firewall.compile import compile_policy
from firewall.delta_composition import compose_deltas
from firewall.diff import ShaperChange, apply, diff
from firewall.policy import Framing, GatewayGroupSettings, GatewaySpec, Interfaces, Management, Policy, PolicyError, Shaping
from firewall.render import render_delta
from firewall.ruleset import Ruleset, UplinkShaper
from firewall.shaper import FRAMING_COSTS, HOSTS, Isolation, build_cakes, build_shaper_settings
from firewall.summary import summarize
from gateway.host_filter import Program, build_host_program
from gateway.ruleset_inspection import check_ruleset
from gateway.shaper import pack_cake, parse_cake

BOTH = Shaping(20_000, 100_000)
SOURCES, DESTINATIONS = Isolation.SOURCES, Isolation.DESTINATIONS
OUTSIDE = IPv6Address("2001:4860:4860::8888")


def compile_with(shaping: Shaping | None, *prefixes: str) -> Ruleset:
    gateway = GatewaySpec("gw1", Interfaces("lan", "wan", "mgmt"), Management((IPv4Network("192.0.2.0/24"),)))
    settings = GatewayGroupSettings(shaping=shaping)
    return compile_policy(Policy(replace(gateway, settings=settings), prefixes=tuple(map(IPv6Network, prefixes))))


# --- The policy


def test_a_group_without_shaping_has_no_shaper_and_the_digest_of_before() -> None:
    plain, shaped = compile_with(None), compile_with(BOTH)
    assert plain.shaper is None and shaped.shaper == UplinkShaper("wan", BOTH, 64)
    assert replace(shaped, shaper=None) == plain
    assert digest.digest_ruleset(shaped) != digest.digest_ruleset(plain)


def test_members_are_told_apart_by_the_longest_of_their_prefixes() -> None:
    shaper = compile_with(BOTH, "2001:db8::/56", "2001:db8:1::/60").shaper
    assert shaper and shaper.length == 60


def test_the_settings_read_as_tc_writes_them() -> None:
    assert build_shaper_settings(UplinkShaper("wan", replace(BOTH, framing=Framing.PPPOE_PTM), 56)) == {
        "queue of wan": "cake bandwidth 20000kbit dual-srchost besteffort nat nowash no-ack-filter split-gso egress rtt 100ms"
        " ptm overhead 30 mpu 0",
        "members in the queue of wan": "IPv4 by address, IPv6 by /56",
        "queue of netzwart-down": "cake bandwidth 100000kbit dual-dsthost besteffort nat nowash no-ack-filter split-gso ingress rtt 100ms"
        " ptm overhead 30 mpu 0",
        "members in the queue of netzwart-down": "IPv4 by address, IPv6 by /56",
        "arriving at wan": "to netzwart-down",
    }


@pytest.mark.parametrize(("shaping", "name"), [(Shaping(20_000, 0), "queue of wan"), (Shaping(0, 20_000), "queue of netzwart-down")])
def test_a_direction_without_a_rate_keeps_its_queue(shaping: Shaping, name: str) -> None:
    assert [each for each in build_shaper_settings(UplinkShaper("wan", shaping, 64)) if each.startswith("queue")] == [name]


@pytest.mark.parametrize(
    ("shaping", "fault"),
    [
        (Shaping(999, 0), r"shaping\.up: 999 kbit/s is not between 1000 and 10000000"),
        (Shaping(0, 10_000_001), r"shaping\.down: 10000001 kbit/s"),
        (Shaping(0, 0), "neither direction has a rate"),
    ],
)
def test_a_rate_that_cannot_be_is_refused_with_its_name(shaping: Shaping, fault: str) -> None:
    with pytest.raises(PolicyError, match=fault):
        compile_with(shaping)


# --- Deltas


def test_a_delta_leads_there_and_back_and_its_digest_with_it() -> None:
    plain, shaped, faster = compile_with(None), compile_with(BOTH), compile_with(Shaping(30_000, 100_000))
    first, second = diff(plain, shaped), diff(shaped, faster)
    assert first and first.touches_kernel and not first.touches_rules
    assert apply(plain, first) == shaped and apply(shaped, first.invert()) == plain
    assert digest.update_digest(digest.digest_ruleset(plain), first) == digest.digest_ruleset(shaped)
    assert compose_deltas(first, second).shaper == ShaperChange(None, faster.shaper)
    assert not compose_deltas(first, first.invert())


def test_a_change_says_beside_the_transaction_what_it_sets_and_counts_it() -> None:
    before, after = compile_with(Shaping(20_000, 0)), compile_with(Shaping(0, 20_000))
    lines = render_delta(diff(before, after), now=0).splitlines()
    assert "# queue of wan: as the kernel makes it by itself" in lines and "# arriving at wan: to netzwart-down" in lines
    (line,) = summarize(diff(before, after), after)
    assert (line.kind, line.changed) == ("profile", 5)


# --- The wire


def test_an_older_agent_cannot_be_told_of_a_shaper_and_is_sent_nothing_new_without_one() -> None:
    lines = list(wire.iter_lines(1, wire.Plan(0, compile_with(None)), version=8))
    assert lines and not any(b"shap" in line for line in lines)
    for request in (wire.Plan(0, compile_with(BOTH)), wire.Apply(1, 0, "", "", diff(compile_with(None), compile_with(BOTH)), None, 60)):
        with pytest.raises(TooNewError, match="shaper is not known there"):
            list(wire.iter_lines(1, request, version=8))


@pytest.mark.parametrize("interface", ["", "netzwart-down", "a-name-that-is-too-long"])
def test_the_agent_refuses_an_interface_that_cannot_be(interface: str) -> None:
    with pytest.raises((WireError, PolicyError), match="shap"):
        check_ruleset(Ruleset(shaper=UplinkShaper(interface, BOTH, 64)))


# --- The kernel's octets


def test_the_attributes_are_those_that_tc_sends() -> None:
    cake = build_cakes(UplinkShaper("wan", replace(BOTH, framing=Framing.ETHERNET), 64))["netzwart-down"]
    assert pack_cake(cake) == bytes.fromhex(
        "0c000200" "20bcbe0000000000"  # TCA_CAKE_BASE_RATE64: 12,500,000 octets/s
        "08000300" "03000000"  # besteffort
        "08000500" "06000000"  # dual-dsthost
        "08000700" "a0860100"  # 100,000 µs
        "08000b00" "01000000"  # nat
        "08000d00" "00000000"  # nowash
        "08001000" "00000000"  # no-ack-filter
        "08001100" "01000000"  # split-gso
        "08000f00" "01000000"  # ingress
        "08000600" "26000000"  # overhead 38
        "08000e00" "54000000"  # mpu 84
        "08000400" "00000000"  # noatm
    )  # fmt: skip


@pytest.mark.parametrize("framing", FRAMING_COSTS)
def test_what_the_kernel_lists_reads_as_what_was_set(framing: Framing) -> None:
    for cake in build_cakes(UplinkShaper("wan", replace(BOTH, framing=framing), 64)).values():
        options, octets = {}, pack_cake(cake)
        while octets:
            length = int.from_bytes(octets[:2], "little")
            options[int.from_bytes(octets[2:4], "little")] = octets[4:length]
            octets = octets[length:]
        assert parse_cake(options) == cake


# --- Members by their prefix


def run_program(program: Program, source: IPv6Address, destination: IPv6Address, protocol: int = 0x86DD) -> int:
    """Run classic BPF on the header of a packet, as the kernel does (Documentation/networking/filter.rst)."""
    header = bytes(8) + source.packed + destination.packed
    a = x = kept = at = 0
    while True:
        code, yes, no, k = program[at]
        at += 1
        match code:
            case 0x28:
                a = protocol
            case 0x20:
                a = int.from_bytes(header[k - 0xFFF0_0000 :][:4])
            case 0x15:
                at += yes if a == k else no
            case 0x06:
                return k
            case 0x16:
                return a
            case 0x07:
                x = a
            case 0x02:
                kept = a
            case 0x60:
                a = kept
            case _:
                sums = {0xAC: a ^ x, 0x4C: a | x, 0x54: a & k, 0x04: a + k, 0x64: a << k, 0x74: a >> k}
                a = sums[code] & 0xFFFF_FFFF


def number_hosts(isolation: Isolation, length: int, addresses: Sequence[IPv6Address]) -> list[int]:
    program = build_host_program(isolation, length)
    if isolation is SOURCES:
        return [run_program(program, each, OUTSIDE) for each in addresses]
    return [run_program(program, OUTSIDE, each) for each in addresses]


@pytest.mark.parametrize("isolation", Isolation)
@pytest.mark.parametrize("length", [40, 48, 56, 60, 64, 80, 96, 100, 128])
def test_a_thousand_prefixes_in_a_row_are_a_thousand_hosts(isolation: Isolation, length: int) -> None:
    first = int(IPv6Address("2001:db8::")) >> (128 - length)
    found = number_hosts(isolation, length, [IPv6Address((first + at) << (128 - length)) for at in range(HOSTS)])
    assert sorted(found) == [number << 16 for number in range(1, HOSTS + 1)]


@pytest.mark.parametrize("isolation", Isolation)
def test_all_addresses_of_a_prefix_are_one_host(isolation: Isolation) -> None:
    addresses = [IPv6Address(f"2001:db8:0:17{each:02x}:{each:x}::{each * 7:x}") for each in range(200)]
    assert len(set(number_hosts(isolation, 56, addresses))) == 1
    assert len(set(number_hosts(isolation, 64, addresses))) == 200


def test_ipv4_and_all_else_is_left_to_cake() -> None:
    assert run_program(build_host_program(SOURCES, 64), OUTSIDE, OUTSIDE, protocol=0x0800) == 0

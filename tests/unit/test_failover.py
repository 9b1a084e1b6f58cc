"""The files of failover follow from their values alone, and values that keepalived or conntrackd would refuse are named."""

import os
import re
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firewall.compile import compile_policy
from firewall.failover import (
    FailoverGateway,
    FailoverSpec,
    InterfaceSide,
    ProgramPaths,
    StateCacheMode,
    VirtualAddress,
    check_failover,
    digest_files,
    render_files,
)
from firewall.failover.on_link import count_on_link, list_on_link
from firewall.file_digest import digest_text
from firewall.policy import Interfaces, Policy, PolicyError
from gateway.restore import CLOSED
from lab.failover import PROGRAM
from tests.policies import policies

GOLDEN = Path(__file__).parent.parent / "golden/failover"
INSIDE4 = VirtualAddress(InterfaceSide.LAN, IPv4Address("10.0.0.254"), 11)
OUTSIDE4 = VirtualAddress(InterfaceSide.WAN, IPv4Address("192.0.2.2"), 28)
INSIDE6 = VirtualAddress(InterfaceSide.LAN, IPv6Address("2001:db8:b0::fe"), 64)
OUTSIDE6 = VirtualAddress(InterfaceSide.WAN, IPv6Address("2001:db8:fe::2"), 64)
SERVER4 = VirtualAddress(InterfaceSide.SERVER, IPv4Address("192.0.2.60"), 27)
SPEC = FailoverSpec((INSIDE4, OUTSIDE4, INSIDE6, OUTSIDE6), virtual_router=7)
GATEWAY = FailoverGateway(Interfaces("lan0", "wan0", "mgmt0", "sync0", "srv0"), IPv4Address("172.31.255.1"), SPEC, frozenset({4}))
PRIORITY_AND_DIGESTS = r"priority \d+|(?m:^(DIGEST|SUMS)=.*)"

POOLS = (IPv6Network("2001:db8:a0::/44"), IPv4Network("198.51.100.0/24"), IPv4Network("192.0.2.64/26"))

EXAMPLES = {
    "both": GATEWAY,
    "announced": replace(GATEWAY, spec=replace(SPEC, pools=POOLS, announce=True)),
    "on_link": replace(GATEWAY, spec=replace(SPEC, pools=(*POOLS, IPv4Network("192.0.2.8/29")))),
    "ipv4": replace(
        GATEWAY,
        spec=FailoverSpec((INSIDE4, OUTSIDE4, SERVER4), failback=300, interval=100, cache=StateCacheMode.EXTERNAL),
        prefers=frozenset({4, 6}),
        connections=1_048_576,
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_files_are_those_that_were_reviewed(name: str) -> None:
    for path, text in render_files(EXAMPLES[name]).items():
        golden = GOLDEN / name / Path(path).name
        if os.environ.get("WRITE_GOLDEN"):  # review the difference afterwards
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(text)
        assert text == golden.read_text()


FAULTS = {
    "no sync interface": replace(GATEWAY, interfaces=replace(GATEWAY.interfaces, sync="")),
    "no virtual address; members": replace(GATEWAY, spec=replace(SPEC, addresses=())),
    "virtual_router: 0 is not between 1 and 255": replace(GATEWAY, spec=replace(SPEC, virtual_router=0)),
    "interval: 4 is not between 5 and 100": replace(GATEWAY, spec=replace(SPEC, interval=4)),
    "failback: 1001 is not between 5 and 1000": replace(GATEWAY, spec=replace(SPEC, failback=1001)),
    "192.0.2.60: the gateway has no server interface": replace(
        GATEWAY, interfaces=replace(GATEWAY.interfaces, server=""), spec=replace(SPEC, addresses=(INSIDE4, SERVER4))
    ),
    "IPv6 has no virtual address on the inside": replace(GATEWAY, spec=replace(SPEC, addresses=(INSIDE4, OUTSIDE6))),
    "10.0.0.254 occurs twice": replace(GATEWAY, spec=replace(SPEC, addresses=(INSIDE4, replace(INSIDE4, length=24)))),
    "172.31.255.1 occurs twice": replace(GATEWAY, spec=replace(SPEC, addresses=(INSIDE4, replace(OUTSIDE4, address=GATEWAY.sync_address)))),
    "169.254.7.1 is used by the election on the sync interface": replace(GATEWAY, sync_address=IPv4Address("169.254.7.1")),
    "169.254.7.1 occurs twice": replace(
        GATEWAY, spec=replace(SPEC, addresses=(INSIDE4, replace(OUTSIDE4, address=IPv4Address("169.254.7.1"))))
    ),
    "10.0.0.254: a prefix of length 33 does not exist": replace(GATEWAY, spec=replace(SPEC, addresses=(replace(INSIDE4, length=33),))),
    "224.0.0.18 cannot be the address of an interface": replace(
        GATEWAY, spec=replace(SPEC, addresses=(INSIDE4, replace(OUTSIDE4, address=IPv4Address("224.0.0.18"))))
    ),
    "65 virtual addresses are more than 64": replace(
        GATEWAY, spec=replace(SPEC, addresses=tuple(replace(INSIDE4, address=INSIDE4.address + number) for number in range(65)))
    ),
    "257 pools are more than 256": replace(GATEWAY, spec=replace(SPEC, pools=tuple(IPv4Network((each << 8, 24)) for each in range(257)))),
    "pool 192.0.2.64/26 occurs twice": replace(GATEWAY, spec=replace(SPEC, pools=(*POOLS, POOLS[-1]))),
    "2048 addresses of pools are on the uplink's own link, more than 1024": replace(
        GATEWAY, spec=replace(SPEC, addresses=(INSIDE4, replace(OUTSIDE4, length=20)), pools=(IPv4Network("192.0.0.0/21"),))
    ),
    "0.0.0.0/0 is not a pool but everything": replace(GATEWAY, spec=replace(SPEC, pools=(IPv4Network("0.0.0.0/0"),))),
    "use 1 to 15 of the characters": replace(GATEWAY, interfaces=replace(GATEWAY.interfaces, lan='lan0"\n}')),
}


@pytest.mark.parametrize("reason", FAULTS)
def test_what_the_programs_would_refuse_is_named(reason: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(reason)):
        render_files(FAULTS[reason])


def test_a_link_local_address_that_is_given_is_the_one_that_is_advertised() -> None:
    local = VirtualAddress(InterfaceSide.LAN, IPv6Address("fe80::5:1"), 64)
    text = render_files(replace(GATEWAY, spec=replace(SPEC, addresses=(INSIDE6, local))))["/etc/keepalived/keepalived.conf"]
    assert "virtual_ipaddress {\n        fe80::5:1/64\n" in text
    assert "inside4" not in text


ADDRESSES = st.builds(VirtualAddress, st.sampled_from(InterfaceSide), st.ip_addresses(), st.integers(1, 32))


@given(
    st.lists(ADDRESSES, max_size=6),
    st.integers(1, 255),
    st.integers(5, 100),
    st.none() | st.integers(5, 1000),
    st.sets(st.sampled_from([4, 6])),
)
def test_each_address_that_is_accepted_stands_once_in_the_file_with_balanced_blocks(
    addresses: list[VirtualAddress], router: int, interval: int, failback: int | None, prefers: set[int]
) -> None:
    spec = FailoverSpec((INSIDE4, INSIDE6, *addresses), router, interval, failback)
    gateway = replace(GATEWAY, spec=spec, prefers=frozenset(prefers))
    try:
        check_failover(gateway)
    except PolicyError:
        return
    for path, text in render_files(gateway).items():
        assert text.count("{") == text.count("}")
        assert text.isascii()
        if path.endswith("keepalived.conf"):
            words = text.split()
            assert all(words.count(str(each)) == 1 for each in spec.addresses if not each.address.is_link_local)


def test_the_carrier_of_a_family_has_routes_to_its_pools_alone() -> None:
    spec = replace(SPEC, addresses=(INSIDE4, OUTSIDE4), pools=POOLS, announce=True)
    text = render_files(replace(GATEWAY, spec=spec))["/etc/keepalived/keepalived.conf"]
    routes = re.findall(r"blackhole (\S+)", text)
    assert routes == ["192.0.2.64/26", "198.51.100.0/24"], "IPv6 is not elected"
    assert text.index("blackhole") < text.index("vrrp_instance sync4"), "an instance of the sync link says nothing of the members"


LINKS = st.builds(
    lambda address, length: VirtualAddress(InterfaceSide.WAN, address, length), st.ip_addresses(network="192.0.2.0/26"), st.integers(24, 32)
)
LINK_POOLS = st.builds(
    lambda address, length: IPv4Network((int(address), length), strict=False), st.ip_addresses(network="192.0.2.0/25"), st.integers(26, 32)
)


@given(st.sets(LINKS, min_size=1, max_size=3), st.sets(LINK_POOLS, max_size=4))
def test_the_carrier_holds_each_address_of_a_pool_that_a_host_on_the_uplinks_link_can_have(
    links: set[VirtualAddress], pools: set[IPv4Network]
) -> None:
    spec = replace(SPEC, addresses=(INSIDE4, *links), pools=tuple(pools))
    hosts = {host for link in links for host in link.network.hosts()} - {each.address for each in links}
    expected = sorted(host for host in hosts if any(host in pool for pool in pools))
    assert list(list_on_link(spec)) == expected
    assert count_on_link(spec) >= len(expected)


def test_what_is_on_the_link_of_members_is_not_answered_for() -> None:
    spec = replace(SPEC, addresses=(replace(INSIDE4, address=IPv4Address("192.0.2.1"), length=24),), pools=POOLS)
    assert list_on_link(spec) == ()


def test_gateways_of_a_group_differ_only_in_priority_and_their_own_address() -> None:
    other = replace(GATEWAY, sync_address=IPv4Address("172.31.255.2"), prefers=frozenset({6}))
    ours, theirs = render_files(GATEWAY), render_files(other)
    for path, text in ours.items():
        expected = text.replace("172.31.255.1", "172.31.255.2")
        assert re.sub(PRIORITY_AND_DIGESTS, "", expected) == re.sub(PRIORITY_AND_DIGESTS, "", theirs[path])


def test_the_digest_follows_the_values_and_not_the_place_of_the_files() -> None:
    elsewhere = ProgramPaths(programs="/opt", keepalived="/opt/keepalived.conf", settings="/opt/failover.conf")
    for paths in (ProgramPaths(), elsewhere):
        files = render_files(GATEWAY, paths)
        assert f"DIGEST='{digest_files(GATEWAY)}'" in files[paths.settings]
        assert f"{paths.keepalived}:{digest_text(files[paths.keepalived])}" in files[paths.settings]
    others = [replace(GATEWAY, prefers=frozenset()), replace(GATEWAY, spec=replace(SPEC, interval=21)), EXAMPLES["ipv4"]]
    assert len({digest_files(each) for each in (GATEWAY, *others)}) == 4


@given(policies())
def test_a_gateway_forwards_for_failover_with_each_ruleset_and_not_while_forwarding_is_closed(policy: Policy) -> None:
    chain = re.search(r"grep -q '.*chain (\w+) ", PROGRAM.read_text())
    assert chain
    assert chain[1] in compile_policy(policy).chains
    assert chain[1] not in CLOSED.chains

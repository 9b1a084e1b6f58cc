"""Policies for tests: small ones by hand, random ones by hypothesis, large ones by number."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from hypothesis import strategies as st

from firewall.elements.bans import LENGTHS as BAN_LENGTHS
from firewall.policy import (
    Ban,
    Block,
    Forward,
    Gateway,
    Interfaces,
    Listener,
    Management,
    NatMapping,
    Notice,
    Policy,
    Probe,
    Protocol,
    Reachable,
    Settings,
)

NAT_1 = Gateway("nat-1", Interfaces("lan0", "wan0", "mgmt0", "sync0"), Management((IPv4Network("172.31.0.0/24"),)))
PROBE = Probe("probe0", IPv4Address("172.31.254.2"), IPv4Address("192.0.2.251"), IPv6Address("2001:db8:b1::2"))
PROBED = replace(NAT_1, probe=PROBE)
NOTICE = Notice(
    IPv4Address("192.168.9.80"),
    IPv6Address("2001:db8:99::80"),
    reachable=(
        Reachable(IPv4Address("192.168.9.53"), Protocol.UDP, 53),
        Reachable(IPv6Address("2001:db8:99::53"), Protocol.UDP, 53),
        Reachable(IPv4Address("203.0.113.10"), Protocol.TCP, 80),
        Reachable(IPv4Address("203.0.113.11"), Protocol.TCP, 80),
    ),
)
SERVING = replace(NAT_1, interfaces=replace(NAT_1.interfaces, server="srv0"), settings=Settings(notice=NOTICE))
PROBES_MAPPING = NatMapping(IPv4Address("172.31.254.2"), IPv4Address("192.0.2.251"))

PRIVATE = int(IPv4Address("10.16.0.0"))
PUBLIC = int(IPv4Address("198.51.100.0"))
PREFIXES = int(IPv6Address("2001:db8:a0::"))
SERVERS: list[IPv4Address | IPv6Address] = [IPv4Address("192.0.2.129"), IPv4Address("192.0.2.130"), IPv6Address("2001:db8:99::1")]


def network(members: int) -> Policy:
    """A policy with so many members: each with an address, a prefix and a mapping; every third with forwards; some bans."""
    addresses = tuple(IPv4Address(PRIVATE + n) for n in range(members))
    return Policy(
        NAT_1,
        addresses=addresses,
        prefixes=tuple(IPv6Network((PREFIXES + (n << 64), 64)) for n in range(members)),
        mappings=tuple(NatMapping(address, IPv4Address(PUBLIC + n % 256)) for n, address in enumerate(addresses)),
        forwards=tuple(
            Forward(n, Protocol.TCP, IPv4Address(PUBLIC + n % 256), 1024 + n // 256, addresses[n], 80) for n in range(0, members, 3)
        ),
        bans=tuple(Ban(n, IPv4Network((int(IPv4Address("203.0.0.0")) + n, 32))) for n in range(min(members, 1000))),
    )


ports = st.integers(1, 65535)
private_addresses = st.integers(0, 5000).map(lambda n: IPv4Address(PRIVATE + n))
public_addresses = st.integers(0, 20).map(lambda n: IPv4Address(PUBLIC + n))
texts = st.text(max_size=200) | st.sampled_from(['"}; flush ruleset', "a\nb", "\\", "ü" * 130, '" drop; add rule', "#", "$x", "@up4", "*"])


@st.composite
def prefixes6(draw: st.DrawFn) -> IPv6Network:
    length = draw(st.sampled_from([48, 56, 60, 64]))
    return IPv6Network((PREFIXES + (draw(st.integers(0, 40)) << (128 - length)), length))


@st.composite
def ban_prefixes(draw: st.DrawFn) -> IPv4Network | IPv6Network:
    family = draw(st.sampled_from([4, 6]))
    length = draw(st.sampled_from(list(BAN_LENGTHS[family])))
    if family == 4:
        return IPv4Network((draw(st.integers(0, 2**32 - 1)), length), strict=False)
    return IPv6Network((draw(st.integers(0, 2**128 - 1)), length), strict=False)


@st.composite
def bans(draw: st.DrawFn) -> Ban:
    return Ban(draw(st.integers(1, 10**6)), draw(ban_prefixes()), draw(texts), draw(st.just(0) | st.integers(1, 2**32)))


@st.composite
def forwards(draw: st.DrawFn) -> Forward:
    return Forward(
        draw(st.integers(1, 10**6)),
        draw(st.sampled_from(Protocol)),
        draw(public_addresses),
        draw(ports),
        draw(private_addresses),
        draw(ports),
    )


@st.composite
def listeners(draw: st.DrawFn) -> Listener:
    address = draw(st.sampled_from(SERVERS))
    return Listener(draw(st.integers(1, 10**6)), address, draw(st.sampled_from(Protocol)), draw(st.integers(1, 4)), draw(texts))


def blocked(draw: st.DrawFn, held: list[IPv4Address], prefixes: list[IPv6Network]) -> tuple[Block, ...]:
    """Some of what members hold."""
    own: list[IPv4Network | IPv6Network] = [*(IPv4Network(address) for address in held), *prefixes]
    picked = draw(st.lists(st.sampled_from(own), unique=True, max_size=4)) if own else []
    return tuple(Block(draw(st.integers(1, 10**6)), prefix, draw(st.just(0) | st.integers(1, 2**32))) for prefix in picked)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Any policy without contradictions."""
    addresses = draw(st.lists(private_addresses, unique=True, max_size=8))
    prefixes = draw(st.lists(prefixes6(), unique=True, max_size=5))
    return Policy(
        draw(st.sampled_from([NAT_1, SERVING])),
        addresses=tuple(addresses),
        prefixes=tuple(prefixes),
        mappings=tuple(NatMapping(address, draw(public_addresses)) for address in addresses),
        forwards=tuple(draw(st.lists(forwards(), max_size=5, unique_by=lambda each: (each.protocol, each.public, each.public_port)))),
        bans=tuple(draw(st.lists(bans(), max_size=5, unique_by=lambda each: each.prefix))),
        blocks=blocked(draw, addresses, prefixes),
        listeners=tuple(draw(st.lists(listeners(), max_size=5, unique_by=lambda each: (each.protocol, each.address, each.port)))),
    )

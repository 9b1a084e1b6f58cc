"""Packets are cut to their headers: whatever a packet says of its own lengths, no octet of its payload is kept."""

import socket
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.evidence.packet_cut import cut_packet
from tests.example_counts import count_examples

IPV4, IPV6, ARP, VLAN = 0x0800, 0x86DD, 0x0806, 0x8100
SECRET = b"PAYLOAD-THAT-NOBODY-MAY-SEE"
MSS, SCALING, SACK, STAMPS = b"\2\4\5\xb4", b"\3\3\7", b"\4\2", b"\x08\x0a" + bytes(range(8))


def build_ipv4(protocol: int, body: bytes, *, options: bytes = b"", fragment: int = 0, total: int | None = None) -> bytes:
    length = 20 + len(options)
    total = length + len(body) if total is None else total
    head = pack(">BBHHHBBH4s4s", 0x40 | length // 4, 0, total, 7, fragment, 64, protocol, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
    return head + options + body


def build_ipv6(kind: int, body: bytes, *, length: int | None = None) -> bytes:
    return pack(">IHBB16s16s", 6 << 28, len(body) if length is None else length, kind, 64, bytes(15) + b"\1", bytes(15) + b"\2") + body


def build_tcp(options: bytes = b"", *, words: int | None = None) -> bytes:
    padded = options + bytes(-len(options) % 4)
    words = 5 + len(padded) // 4 if words is None else words
    return pack(">HHIIBBHHH", 40000, 443, 1, 2, words << 4, 0x18, 512, 0, 0) + padded


UDP = pack(">HHHH", 5353, 53, 8 + len(SECRET), 0)
PING = pack(">BBHHH", 8, 0, 0, 1, 1)


@pytest.mark.parametrize(
    ("protocol", "packet", "kept"),
    [
        (IPV4, build_ipv4(6, build_tcp() + SECRET), 40),
        (IPV4, build_ipv4(6, build_tcp(MSS + SACK + STAMPS + b"\1" + SCALING) + SECRET), 60),
        (IPV4, build_ipv4(17, UDP + SECRET), 28),
        (IPV4, build_ipv4(1, PING + SECRET), 28),
        (IPV4, build_ipv4(41, SECRET), 20),
        (IPV6, build_ipv6(6, build_tcp(MSS) + SECRET), 64),
        (IPV6, build_ipv6(17, UDP + SECRET), 48),
        (IPV6, build_ipv6(0, b"\x11\0" + bytes(6) + UDP + SECRET), 56),
        (IPV6, build_ipv6(58, b"\x87\0\0\0\0\0\0\0" + bytes(16) + SECRET), 64),
        (VLAN, b"\0\x07\x08\0" + build_ipv4(17, UDP + SECRET), 32),
        (ARP, b"\0\1\x08\0\6\4\0\1" + bytes(20) + SECRET, 28),
    ],
)
def test_a_packet_keeps_exactly_its_headers(protocol: int, packet: bytes, kept: int) -> None:
    assert cut_packet(protocol, packet) == packet[:kept] and SECRET not in packet[:kept]


@pytest.mark.parametrize(
    ("protocol", "packet"),
    [
        (IPV4, build_ipv4(6, build_tcp(words=15) + SECRET)),
        (IPV4, build_ipv4(6, build_tcp(words=2) + SECRET)),
        (IPV4, build_ipv4(17, SECRET, fragment=185)),
        (IPV4, build_ipv4(6, build_tcp(words=15), total=40) + SECRET + bytes(40)),
        (IPV4, build_ipv4(17, UDP, total=28) + SECRET),
        (IPV4, b"\x4f" + build_ipv4(17, UDP + SECRET)[1:]),
        (IPV6, build_ipv6(44, b"\x11\0\1\0\0\0\0\1" + SECRET)),
        (IPV6, build_ipv6(17, UDP, length=8) + SECRET),
        (IPV6, build_ipv6(0, b"\x11\xff" + bytes(6) + UDP + SECRET)),
        (IPV6, build_ipv6(60, b"\x11\4\1\x1e" + SECRET.ljust(36) + UDP)),
        (IPV4, build_ipv4(6, build_tcp(b"\xfd" + bytes([2 + len(SECRET)]) + SECRET))),
        (IPV4, build_ipv4(6, build_tcp(b"\0" + SECRET))),
        (IPV4, build_ipv4(6, build_tcp(b"\2\x1d" + SECRET))),
        (IPV4, build_ipv4(6, build_tcp(b"\xfd\xff" + SECRET))),
        (IPV4, build_ipv4(17, UDP, options=b"\x88\x1d" + SECRET + bytes(3))),
        (0x88CC, SECRET),
        (ARP, b"\0\1\x08\0\x10\x10" + SECRET),
    ],
    ids=[
        *("tcp header longer than its packet", "tcp header too short", "later fragment", "tcp header beyond the packet's end"),
        *("padding of the link", "ip header longer than the packet", "later fragment of ipv6", "padding behind ipv6"),
        *("extension longer than the packet", "ipv6 destination option", "unknown tcp option", "behind the last tcp option"),
        *("segment size with a long value", "tcp option longer than its header", "ipv4 option", "other protocol", "odd arp"),
    ],
)
def test_octets_behind_wrong_lengths_and_in_options_are_not_kept(protocol: int, packet: bytes) -> None:
    kept = cut_packet(protocol, packet)
    assert not any(SECRET[at : at + 4] in kept for at in range(len(SECRET) - 4))


def test_options_that_slow_connections_down_are_kept() -> None:
    syn = build_ipv4(6, build_tcp(MSS + SACK + STAMPS + b"\1" + SCALING))
    assert cut_packet(IPV4, syn) == syn
    cut = cut_packet(IPV4, build_ipv4(6, build_tcp(b"\xfd\4ab" + MSS + b"\1\1" + SACK)))
    assert cut[40:] == b"\xfd\4\0\0" + MSS + b"\1\1" + SACK


@settings(max_examples=count_examples(300))
@given(st.sampled_from((IPV4, IPV6, ARP, VLAN, 0x88A8)), st.binary(max_size=256))
def test_no_packet_breaks_it_or_becomes_longer(protocol: int, packet: bytes) -> None:
    assert len(cut_packet(protocol, packet)) <= len(packet)


@settings(max_examples=count_examples(300))
@given(
    st.sampled_from((socket.IPPROTO_TCP, socket.IPPROTO_UDP, socket.IPPROTO_ICMP, 47, 132)),
    st.integers(0, 255),
    st.integers(0, 15),
)
def test_a_payload_is_never_kept_whatever_the_lengths_say(protocol: int, first: int, words: int) -> None:
    """The payload is 0xAA. A wrong length of the network's header makes the transport's fixed header consist of it, but no more."""
    headers = build_tcp(words=words) if protocol == socket.IPPROTO_TCP else bytes(12)
    packet = bytes([0x40 | first & 15]) + build_ipv4(protocol, headers + b"\xaa" * 60)[1:]
    kept = cut_packet(IPV4, packet)
    fixed = (first & 15) * 4 + 20
    assert b"\xaa" * 3 not in kept[fixed:]

from ipaddress import IPv4Address, IPv6Address

from hypothesis import example, given
from hypothesis import strategies as st

from firewall.addresses import format_ipv4, format_ipv6


@given(st.binary(min_size=4, max_size=4))
def test_ipv4_octets_read_as_the_standard_library_reads_them(octets: bytes) -> None:
    assert format_ipv4(octets) == str(IPv4Address(octets))


groups = st.lists(st.sampled_from([0, 0, 0, 1, 0x10, 0xA0, 0x100, 0xFFFF]), min_size=8, max_size=8)


@given(groups.map(lambda all_groups: b"".join(group.to_bytes(2) for group in all_groups)) | st.binary(min_size=16, max_size=16))
@example(bytes(16))
@example(bytes(15) + b"\1")
@example(bytes.fromhex("20010db8000000000001000000000001"))
@example(bytes.fromhex("00100000000000000000000000000000"))
def test_ipv6_octets_read_as_rfc_5952_says(octets: bytes) -> None:
    assert IPv6Address(format_ipv6(octets)).packed == octets
    if octets[:12] != b"\0\0\0\0\0\0\0\0\0\0\xff\xff":  # Python writes these in the mixed form
        assert format_ipv6(octets) == str(IPv6Address(octets))

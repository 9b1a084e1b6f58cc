"""Counting in the measuring tools, without a network."""

from ipaddress import ip_address

from hypothesis import given
from hypothesis import strategies as st

from lab.datagram import compute_checksum
from lab.measure.sniff import ETH_P_IP, ETH_P_IPV6, PRIVATE, LeakCounter
from lab.measure.udp import HEADER, ReceivedStreamTally


def tally(numbers: list[int], total: int, gap_ns: int = 1_000_000) -> ReceivedStreamTally:
    counted = ReceivedStreamTally()
    for place, number in enumerate(numbers):
        counted.add(HEADER.pack(1, number, total), "192.0.2.1", place * gap_ns)
    return counted


def test_a_stream_that_arrives_in_order_is_complete() -> None:
    result = tally([0, 1, 2], 3).build_report()
    assert (result.received, result.missing, result.duplicate, result.reordered, result.longest_gap_ms) == (3, 0, 0, 0, 1.0)


def test_a_late_datagram_counts_as_reordered_and_a_second_copy_as_duplicate() -> None:
    result = tally([0, 2, 1, 1, 4], 5).build_report()
    assert (result.received, result.missing, result.duplicate, result.reordered) == (4, 1, 1, 1)


def test_another_stream_and_stray_datagrams_are_left_out() -> None:
    counted = tally([0], 2)
    counted.add(HEADER.pack(2, 1, 2), "192.0.2.1", 0)
    counted.add(b"?\n", "192.0.2.1", 0)
    assert counted.build_report().received == 1


@given(st.lists(st.integers(0, 20), max_size=60))
def test_received_and_missing_packets_add_up_to_those_sent(numbers: list[int]) -> None:
    result = tally(numbers, 21).build_report()
    assert result.received == len(set(numbers))
    assert result.received + result.duplicate == len(numbers)
    assert result.missing == (21 - result.received if numbers else 0)


def packet4(source: str) -> bytes:
    return bytes(12) + ip_address(source).packed + bytes(4)


def test_only_private_sources_are_leaks() -> None:
    watch = LeakCounter(PRIVATE)
    for source in ("10.16.0.10", "172.31.0.1", "192.168.9.9", "100.64.1.1", "198.51.100.7", "172.32.0.1"):
        watch.look(ETH_P_IP, packet4(source))
    watch.look(ETH_P_IPV6, bytes(8) + ip_address("fd00::1").packed + bytes(16))
    watch.look(ETH_P_IPV6, bytes(8) + ip_address("2001:db8::1").packed + bytes(16))
    watch.look(0x0806, bytes(40))
    assert (watch.seen, watch.leaked) == (8, 5)


@given(st.binary(min_size=2, max_size=64).filter(lambda data: len(data) % 2 == 0))
def test_data_with_its_own_checksum_sums_to_zero(data: bytes) -> None:
    assert compute_checksum(data + compute_checksum(data).to_bytes(2)) == 0

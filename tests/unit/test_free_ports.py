"""Ports for servers of tests: none twice, and none that another connection may get in between."""

from pathlib import Path

from tests.free_ports import find_free_port


def test_no_port_is_returned_twice_and_none_is_an_ephemeral_one() -> None:
    found = [find_free_port() for _each in range(20)]
    first_ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert len(set(found)) == 20 and max(found) < first_ephemeral

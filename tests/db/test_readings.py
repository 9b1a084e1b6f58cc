"""From a gateway's reading to sums in the database."""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_network
from struct import error, pack

import pytest

from apps.bans.models import Direction
from apps.gateways import readings
from apps.traffic import tallies
from apps.traffic.selectors import total_of
from apps.traffic.tallies import Counted
from firewall.wire import Counts, Reading
from tests import rows

START = datetime(2050, 1, 1, tzinfo=UTC)


def counts(*given: tuple[str, int, int], elements: int = 1000) -> Counts:
    """Addresses with their packets and octets."""
    keys = b"".join((IPv6Address(at) if ":" in at else IPv4Address(at)).packed for at, _, _ in given)
    packets, octets = (pack(f">{len(given)}Q", *column) for column in ([each[1] for each in given], [each[2] for each in given]))
    return Counts(elements, keys, packets, octets)


def reading(**sets: Counts) -> Reading:
    return Reading("boot", 1, 1, 0, sets, {"leaked": (0, 0)})


def test_elements_become_prefixes_by_their_sets_names() -> None:
    given = reading(
        bans4_32=counts(("203.0.113.7", 3, 300)),
        bans4_24=counts(("198.51.100.0", 1, 60), ("192.0.2.0", 2, 1 << 40)),
        bans6_48=counts(("2001:db8:bad::", 5, 500)),
        bansin4_32=counts(("203.0.113.7", 4, 400)),
        bansout6_48=counts(("2001:db8:bad::", 6, 600)),
    )
    assert readings.bans(given) == {
        (ip_network("203.0.113.7/32"), Direction.BOTH): (3, 300),
        (ip_network("198.51.100.0/24"), Direction.BOTH): (1, 60),
        (ip_network("192.0.2.0/24"), Direction.BOTH): (2, 1 << 40),
        (ip_network("2001:db8:bad::/48"), Direction.BOTH): (5, 500),
        (ip_network("203.0.113.7/32"), Direction.IN): (4, 400),
        (ip_network("2001:db8:bad::/48"), Direction.OUT): (6, 600),
    }
    assert not readings.members(given)


def test_what_went_only_one_way_is_a_member_too() -> None:
    given = reading(
        up4=counts(("10.16.0.10", 1, 100)),
        down4=counts(("10.16.0.10", 2, 200), ("10.16.0.11", 3, 300)),
        up6_64=counts(("2001:db8:a0:10::", 4, 400)),
        down6_64=counts(),
    )
    assert readings.members(given) == {
        ip_network("10.16.0.10/32"): Counted(1, 100, 2, 200),
        ip_network("10.16.0.11/32"): Counted(0, 0, 3, 300),
        ip_network("2001:db8:a0:10::/64"): Counted(4, 400, 0, 0),
    }
    assert not readings.bans(given)


def test_a_counter_that_began_anew_is_added_whole_although_one_that_stands_at_zero_is_not_told(network: rows.Network) -> None:
    for at, (up, down) in enumerate([([900], [50]), ([], [60]), ([100], [70]), ([], []), ([30], [70])]):
        given = reading(
            up4=counts(*(("10.16.0.10", 1, each) for each in up)),
            down4=counts(*(("10.16.0.10", 1, each) for each in down)),
        )
        tallies.record(gateway=network.gateways[0], readings=readings.members(given), at=START + timedelta(minutes=at))
    total = total_of(network.residents["m1"].member)
    assert (total.up, total.down) == (900 + 100 + 30, 70)


@pytest.mark.parametrize("spoiled", [Counts(1, b"\1\2\3", b"\0" * 8, b"\0" * 8), Counts(1, b"\1\2\3\4", b"\0" * 16, b"\0" * 8)])
def test_columns_that_do_not_fit_each_other_are_no_reading(spoiled: Counts) -> None:
    with pytest.raises((ValueError, error)):
        readings.bans(reading(bans4_32=spoiled))

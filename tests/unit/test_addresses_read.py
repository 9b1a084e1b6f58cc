from ipaddress import ip_network

import pytest

from apps.bans.prefixes import BanFault, UnbannablePrefix, parse_ban_prefix
from apps.lib.api.filter_types import NETWORK
from apps.lib.fields import PrefixField
from apps.nat.list_search import _parse_prefix
from firewall.addresses import parse_prefix

OTHERWISE_WRITTEN = ("203.0.113.0/0.0.0.255", "203.0.113.0/255.255.255.0", "203.0.113.0/024", "203.0.113.0/+24", "203.0.113.0/",
                     "203.0.113.0/٢٤", "2001:db8::/032", "fe80::%eth0/64", "203.0.113.0/24/24", f"203.0.113.0/{'9' * 5000}")  # fmt: skip


@pytest.mark.parametrize("text", OTHERWISE_WRITTEN)
def test_only_a_decimal_length_makes_a_prefix_wherever_one_is_read(text: str) -> None:
    for reader in (parse_prefix, PrefixField().parse, NETWORK.read):
        with pytest.raises(ValueError):
            reader(text)
    assert _parse_prefix(text) is None
    with pytest.raises(UnbannablePrefix) as refused:
        parse_ban_prefix(text)
    assert refused.value.fault is BanFault.NO_PREFIX


@pytest.mark.parametrize("text", ["203.0.113.0/24", "203.0.113.7", "2001:db8::/32", "0.0.0.0/0"])
def test_prefixes_are_parsed_as_people_write_them(text: str) -> None:
    assert parse_prefix(text) == ip_network(text)
    assert parse_prefix("203.0.113.7/24", strict=False) == ip_network("203.0.113.0/24")

"""Reads the addresses and prefixes of active members, with the holding of each."""

from ipaddress import IPv4Address, IPv6Network

from apps.deployments.desired_state.readers.reader import ObjectReader
from firewall.policy import Owner, PolicyKeys

HELD = """
    SELECT {columns} FROM network_holding h JOIN members_member m ON m.id = h.member_id {join}
    WHERE h.group_id = %(group)s AND m.state = 'active' AND h.valid @> %(at)s::timestamptz AND {where} {{only}} ORDER BY {order}
"""
ONLY_ADDRESSES = "AND h.prefix = ANY(%(addresses)s::cidr[])"


def build_address_parameters(touched: PolicyKeys) -> dict[str, list[str]]:
    """Return the parameters of ONLY_ADDRESSES."""
    return {"addresses": [str(address) for address in touched.addresses]}


ADDRESSES = ObjectReader(
    HELD.format(columns="h.prefix - '0.0.0.0'::inet, h.id", join="", where="h.kind = 'private4'", order="h.prefix"),
    ONLY_ADDRESSES,
    build_address_parameters,
    lambda number, holding: Owner(IPv4Address(number), holding),
)
PREFIXES = ObjectReader(
    HELD.format(columns="h.prefix, h.id", join="", where="h.kind = 'prefix6'", order="h.prefix"),
    "AND h.prefix = ANY(%(prefixes)s::cidr[])",
    lambda touched: {"prefixes": [str(prefix) for prefix in touched.prefixes]},
    lambda prefix, holding: Owner(IPv6Network(prefix), holding),
)

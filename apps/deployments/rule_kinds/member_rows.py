"""SQL of objects that active members hold: by their addresses, or by their addresses and prefixes."""

from firewall.policy import TouchedKeys

HOLDINGS_SQL = """
    SELECT {columns} FROM network_holding h JOIN members_member m ON m.id = h.member_id {join}
    WHERE h.group_id = %(group)s AND m.state = 'active' AND h.valid @> %(at)s::timestamptz AND {where} {{only}} ORDER BY {order}
"""
ADDRESSES_CONDITION = "AND h.prefix = ANY(%(addresses)s::cidr[])"
HOLDINGS_CONDITION = "AND h.prefix = ANY(%(held)s::cidr[])"


def build_addresses_condition_parameters(touched: TouchedKeys) -> dict[str, list[str]]:
    """Return the parameters of ADDRESSES_CONDITION."""
    return {"addresses": [str(address) for address in touched.addresses]}


def build_holdings_condition_parameters(touched: TouchedKeys) -> dict[str, list[str]]:
    """Return the parameters of HOLDINGS_CONDITION: touched addresses and prefixes."""
    return {"held": [*map(str, touched.addresses), *map(str, touched.prefixes)]}

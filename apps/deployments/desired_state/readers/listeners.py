"""Listeners that are on, with all of a host's when one of them was touched."""

from ipaddress import ip_address

from apps.deployments.desired_state.readers.reader import Reading
from firewall.policy import Keys, Listener, Protocol


def _listener(pk: int, address: str, protocol: str, port: int, name: str, window_scale: int | None) -> Listener:
    return Listener(pk, ip_address(address), Protocol(protocol), port, name, window_scale)


def _touched(touched: Keys) -> dict[str, list[str]]:
    return {"hosts": [str(address) for _protocol, address, _port in touched.listeners]}


LISTENERS = Reading(
    """
    SELECT l.id, host(l.address), l.protocol, l.port, l.name, CASE WHEN l.guarded THEN l.window_scale END
    FROM bans_listener l
    WHERE l.group_id = %(group)s AND l.enabled {only} ORDER BY l.id
    """,
    "AND l.address = ANY(%(hosts)s::inet[])",
    _touched,
    _listener,
)

"""Reads enabled listeners. If one of a host's listeners was touched, all of that host are read."""

from ipaddress import ip_address

from apps.deployments.desired_state.readers.reader import ObjectReader
from firewall.policy import ListenerSpec, PolicyKeys, TransportProtocol


def _build_listener(pk: int, address: str, protocol: str, port: int, name: str, window_scale: int | None) -> ListenerSpec:
    return ListenerSpec(pk, ip_address(address), TransportProtocol(protocol), port, name, window_scale)


def _build_host_parameters(touched: PolicyKeys) -> dict[str, list[str]]:
    return {"hosts": [str(address) for _protocol, address, _port in touched.listeners]}


LISTENERS = ObjectReader(
    """
    SELECT l.id, host(l.address), l.protocol, l.port, l.name, CASE WHEN l.guarded THEN l.window_scale END
    FROM bans_listener l
    WHERE l.group_id = %(group)s AND l.enabled {only} ORDER BY l.id
    """,
    "AND l.address = ANY(%(hosts)s::inet[])",
    _build_host_parameters,
    _build_listener,
)

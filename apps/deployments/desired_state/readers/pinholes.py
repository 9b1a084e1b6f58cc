"""Reads IPv6 pinholes of active members."""

from ipaddress import IPv6Address

from apps.deployments.desired_state.readers.members import HELD
from apps.deployments.desired_state.readers.reader import ObjectReader
from firewall.policy import Hole, PinholeSpec, TransportProtocol


def build_hole(address: str, protocol: str, port: int, ports: int) -> Hole:
    """Return what a row opens. Port 0 of a row means all ports."""
    what = None if protocol == "all" else TransportProtocol(protocol)
    return Hole(IPv6Address(address), what, port, ports) if port else Hole(IPv6Address(address), what)


def _build_pinhole(pk: int, *opened: object) -> PinholeSpec:
    return PinholeSpec(pk, build_hole(*opened))  # type: ignore[arg-type]  # the query's columns


PINHOLES = ObjectReader(
    HELD.format(
        columns="p.id, host(p.address), p.protocol, p.port, p.ports",
        join="JOIN nat_pinhole p ON p.holding_id = h.id",
        where="p.valid @> %(at)s::timestamptz AND p.enabled",
        order="p.id",
    ),
    "AND p.address = ANY(%(pinholes)s::inet[])",
    lambda touched: {"pinholes": [str(each.address) for each in touched.holes]},
    _build_pinhole,
)

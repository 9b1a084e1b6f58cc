"""NAT mappings and port forwards of active members."""

from ipaddress import IPv4Address
from typing import Any

from apps.deployments.reading.members import HELD, ONLY_ADDRESSES, touched_addresses
from apps.deployments.reading.types import Reading
from firewall.policy import Forward, Keys, NatMapping, Protocol, Sharing

BLOCK = "coalesce(lower(n.block), 0), coalesce(upper(n.block), 1) - 1"
ONLY_FORWARDS = """
    AND (f.public_port, f.protocol, f.public) IN (
        SELECT * FROM unnest(%(ports)s::int[], %(protocols)s::text[], %(publics)s::inet[])
    )
"""


def _mapping(private: int, public: int, sharing: str, first: int, last: int) -> NatMapping:
    return NatMapping(IPv4Address(private), IPv4Address(public), Sharing(sharing), first, last)


def _forward(pk: int, protocol: str, public: int, public_port: int, private: int, private_port: int) -> Forward:
    return Forward(pk, Protocol(protocol), IPv4Address(public), public_port, IPv4Address(private), private_port)


def _touched_ports(touched: Keys) -> dict[str, list[Any]]:
    protocols, publics, ports = zip(*touched.ports, strict=True) if touched.ports else ((), (), ())
    return {"protocols": [str(each) for each in protocols], "publics": [str(each) for each in publics], "ports": list(ports)}


MAPPINGS = Reading(
    HELD.format(
        columns="h.prefix - '0.0.0.0'::inet, n.public - '0.0.0.0'::inet, n.sharing, " + BLOCK,
        join="JOIN nat_natmapping n ON n.holding_id = h.id",
        where="h.kind = 'private4' AND n.valid @> %(at)s::timestamptz",
        order="h.prefix",
    ),
    ONLY_ADDRESSES,
    touched_addresses,
    _mapping,
)
FORWARDS = Reading(
    HELD.format(
        columns="f.id, f.protocol, f.public - '0.0.0.0'::inet, f.public_port, h.prefix - '0.0.0.0'::inet, f.private_port",
        join="JOIN nat_portforward f ON f.holding_id = h.id",
        where="f.valid @> %(at)s::timestamptz AND f.enabled",
        order="f.id",
    ),
    ONLY_FORWARDS,
    _touched_ports,
    _forward,
)

"""Reads NAT mappings and port forwards of active members."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address
from itertools import groupby
from typing import Any

from apps.deployments.desired_state.readers.members import HELD, ONLY_ADDRESSES, build_address_parameters
from apps.deployments.desired_state.readers.reader import ObjectReader
from firewall.policy import ForwardSpec, NatMappingSpec, PolicyKeys, Port, SharingMode, TransportProtocol

BLOCK = "coalesce(lower(n.block), 0), coalesce(upper(n.block), 1) - 1"
ONLY_FORWARDS = """
    AND f.id IN (
        SELECT t.id FROM unnest(%(protocols)s::text[], %(publics)s::inet[], %(firsts)s::int[], %(ends)s::int[])
            asked(protocol, public, first, after)
        JOIN nat_portforward t ON t.public = asked.public AND t.protocol = asked.protocol
            AND int4range(t.public_port, t.public_port + t.ports) && int4range(asked.first, asked.after)
    )
"""


def _build_mapping(private: int, public: int, sharing: str, first: int, last: int) -> NatMappingSpec:
    return NatMappingSpec(IPv4Address(private), IPv4Address(public), SharingMode(sharing), first, last)


def _build_forward(pk: int, protocol: str, public: int, public_port: int, private: int, private_port: int, ports: int) -> ForwardSpec:
    return ForwardSpec(pk, TransportProtocol(protocol), IPv4Address(public), public_port, IPv4Address(private), private_port, ports)


def _build_port_parameters(touched: PolicyKeys) -> dict[str, list[Any]]:
    """Return the touched ports as ranges, because most of them are consecutive."""
    found = list(_iter_port_ranges(touched.ports))
    return {
        "protocols": [str(protocol) for protocol, _public, _first, _after in found],
        "publics": [str(public) for _protocol, public, _first, _after in found],
        "firsts": [first for _protocol, _public, first, _after in found],
        "ends": [after for _protocol, _public, _first, after in found],
    }


def _iter_port_ranges(ports: Iterable[Port]) -> Iterator[tuple[TransportProtocol, IPv4Address, int, int]]:
    """Yield consecutive ports as ranges: protocol, public address, first port, and the port after the last."""
    for _offset, same in groupby(enumerate(sorted(ports)), lambda each: (each[1][:2], each[1][2] - each[0])):
        row = [port for _number, port in same]
        yield (*row[0], row[-1][2] + 1)


MAPPINGS = ObjectReader(
    HELD.format(
        columns="h.prefix - '0.0.0.0'::inet, n.public - '0.0.0.0'::inet, n.sharing, " + BLOCK,
        join="JOIN nat_natmapping n ON n.holding_id = h.id",
        where="h.kind = 'private4' AND n.valid @> %(at)s::timestamptz",
        order="h.prefix",
    ),
    ONLY_ADDRESSES,
    build_address_parameters,
    _build_mapping,
)
FORWARDS = ObjectReader(
    HELD.format(
        columns="f.id, f.protocol, f.public - '0.0.0.0'::inet, f.public_port, h.prefix - '0.0.0.0'::inet, f.private_port, f.ports",
        join="JOIN nat_portforward f ON f.holding_id = h.id",
        where="f.valid @> %(at)s::timestamptz AND f.enabled",
        order="f.id",
    ),
    ONLY_FORWARDS,
    _build_port_parameters,
    _build_forward,
)

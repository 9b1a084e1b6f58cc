"""Reads a field of a packet, compares it with the values of a rule, and packs it into a set's key.

There is one reader for each `Field`; a field without one raises TraceError.
"""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from firewall.ruleset import Field, Type, Value
from firewall.tracing.packet import ICMP, ICMPV6, TCP, UDP, WITH_PORTS
from firewall.tracing.packet_in_transit import PacketInTransit
from firewall.tracing.result import Reading, TraceError

# nft's names for numbers of protocols and ICMP types (nft describe)
PROTOCOLS = {"icmp": 1, "igmp": 2, "tcp": 6, "udp": 17, "gre": 47, "esp": 50, "ah": 51, "icmpv6": 58, "vrrp": 112, "sctp": 132}
ICMP_TYPES = {
    "echo-reply": 0,
    "destination-unreachable": 3,
    "source-quench": 4,
    "redirect": 5,
    "echo-request": 8,
    "router-advertisement": 9,
    "router-solicitation": 10,
    "time-exceeded": 11,
    "parameter-problem": 12,
    "timestamp-request": 13,
    "timestamp-reply": 14,
    "info-request": 15,
    "info-reply": 16,
    "address-mask-request": 17,
    "address-mask-reply": 18,
}
ICMPV6_TYPES = {
    "destination-unreachable": 1,
    "packet-too-big": 2,
    "time-exceeded": 3,
    "parameter-problem": 4,
    "echo-request": 128,
    "echo-reply": 129,
    "mld-listener-query": 130,
    "mld-listener-report": 131,
    "mld-listener-done": 132,
    "nd-router-solicit": 133,
    "nd-router-advert": 134,
    "nd-neighbor-solicit": 135,
    "nd-neighbor-advert": 136,
    "nd-redirect": 137,
    "mld2-listener-report": 143,
}
BITS = {Field.CT_STATUS: frozenset({"dnat", "snat", "seen-reply"}), Field.TCP_FLAGS: frozenset({"fin", "syn", "rst", "psh", "ack", "urg"})}
SYMBOLS = {Field.L4PROTO: PROTOCOLS, Field.ICMP_TYPE: ICMP_TYPES, Field.ICMPV6_TYPE: ICMPV6_TYPES}


def _read_source(passage: PacketInTransit, version: int) -> Reading:
    return passage.packet.source if passage.packet.version == version else None


def _read_destination(passage: PacketInTransit, version: int) -> Reading:
    return passage.packet.destination if passage.packet.version == version else None


def _read_ports(passage: PacketInTransit, *protocols: int) -> tuple[int | None, int | None]:
    packet = passage.packet
    return (packet.source_port, packet.destination_port) if packet.protocol in (protocols or WITH_PORTS) else (None, None)


def _read_icmp_type(passage: PacketInTransit, protocol: int) -> Reading:
    return passage.packet.icmp.type if passage.packet.icmp and passage.packet.protocol == protocol else None


READERS: dict[Field, Callable[[PacketInTransit], Reading]] = {
    Field.IIFNAME: lambda passage: passage.packet.interface,
    Field.OIFNAME: lambda passage: passage.interface,
    Field.NFPROTO: lambda passage: f"ipv{passage.packet.version}",
    Field.L4PROTO: lambda passage: passage.packet.protocol,
    Field.IP_SADDR: lambda passage: _read_source(passage, 4),
    Field.IP_DADDR: lambda passage: _read_destination(passage, 4),
    Field.IP6_SADDR: lambda passage: _read_source(passage, 6),
    Field.IP6_DADDR: lambda passage: _read_destination(passage, 6),
    Field.HOPLIMIT: lambda passage: passage.packet.hop_limit if passage.packet.version == 6 else None,
    Field.TH_DPORT: lambda passage: _read_ports(passage)[1],
    Field.TH_SPORT: lambda passage: _read_ports(passage)[0],
    Field.TCP_SPORT: lambda passage: _read_ports(passage, TCP)[0],
    Field.TCP_DPORT: lambda passage: _read_ports(passage, TCP)[1],
    Field.UDP_DPORT: lambda passage: _read_ports(passage, UDP)[1],
    Field.TCP_FLAGS: lambda passage: passage.packet.flags if passage.packet.protocol == TCP else None,
    Field.ICMP_TYPE: lambda passage: _read_icmp_type(passage, ICMP),
    Field.ICMPV6_TYPE: lambda passage: _read_icmp_type(passage, ICMPV6),
    Field.CT_STATE: lambda passage: passage.state.value,
    Field.CT_STATUS: lambda passage: passage.get_connection_status(),
}


def read_field(passage: PacketInTransit, field: Field) -> Reading:
    """Return what the field reads now; None when the packet has no such field: then no comparison matches, negated or not."""
    if field not in READERS:
        raise TraceError(f"traces cannot read the field {field.value!r}; add it in firewall/tracing/fields.py")
    return READERS[field](passage)


def matches_rule_value(field: Field, value: Value, reading: Reading) -> bool:
    """True if the reading is the value that a rule names, or is in it."""
    if isinstance(reading, frozenset):
        if value not in BITS[field]:
            raise TraceError(f"{field.value} {value}: traces do not know this bit; add it in firewall/tracing/fields.py")
        return value in reading  # of several bits, one that is set is enough
    if isinstance(value, IPv4Network | IPv6Network):
        return isinstance(reading, IPv4Address | IPv6Address) and reading.version == value.version and reading in value
    if isinstance(value, str) and isinstance(reading, int):
        return _get_number(field, value) == reading
    return value == reading


def _get_number(field: Field, symbol: str) -> int:
    known = SYMBOLS.get(field, {})
    if symbol not in known:
        raise TraceError(f"{field.value} {symbol}: traces do not know this number; add it in firewall/tracing/fields.py")
    return known[symbol]


def build_key(types: tuple[Type, ...], readings: tuple[Reading, ...], length: int | None = None) -> bytes | None:
    """Return the readings as a key of these types, only the leading bits if a length is given; None if a reading is missing."""
    if len(types) != len(readings):
        raise TraceError(f"a key has {len(types)} fields, but {len(readings)} values are looked up")
    parts = []
    for each, reading in zip(types, readings, strict=True):
        octets = _pack_reading(each, reading)
        if octets is None:
            return None
        parts.append(octets)
    if len(parts) == 1:
        return parts[0] if length is None else _mask_octets(parts[0], length)
    return b"".join(octets + bytes(each.padded_width - each.width) for each, octets in zip(types, parts, strict=True))


def _pack_reading(of: Type, reading: Reading) -> bytes | None:
    match reading:
        case None:
            return None
        case IPv4Address() | IPv6Address():
            return reading.packed
        case int():
            return reading.to_bytes(of.width)
        case _:
            raise TraceError(f"{reading!r} cannot be looked up as {of.value}")


def _mask_octets(octets: bytes, length: int) -> bytes:
    away = len(octets) * 8 - length
    return (int.from_bytes(octets) >> away << away).to_bytes(len(octets))


def unpack_values(types: tuple[Type, ...], octets: bytes) -> tuple[Reading, ...]:
    """Return the fields of a key or value."""
    values: list[Reading] = []
    start = 0
    for each in types:
        part = octets[start : start + each.width]
        start += each.padded_width
        match each:
            case Type.IPV4:
                values.append(IPv4Address(part))
            case Type.IPV6:
                values.append(IPv6Address(part))
            case Type.PROTO | Type.PORT:
                values.append(int.from_bytes(part))
    return tuple(values)

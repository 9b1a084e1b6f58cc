"""The kernel's connection tracking over raw netlink: lists flows and deletes them. Knows no set and no policy.

Layouts: linux/netfilter/nfnetlink_conntrack.h. The kernel writes both tuples first, with fixed positions, so flows of TCP and UDP
are unpacked at once; flows of any other shape are parsed attribute by attribute.
"""

import socket
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from itertools import islice
from struct import Struct
from sys import byteorder

from firewall.flows import Flow, FlowFilter
from gateway.netlink import CONNTRACK, Netlink
from gateway.netlink_attributes import iter_attribute_spans, pack_attribute, pack_nested, parse_attributes, parse_number

_GET, _DELETE, _GET_STATISTICS = 1, 2, 4  # IPCTNL_MSG_CT_GET, IPCTNL_MSG_CT_DELETE, IPCTNL_MSG_CT_GET_STATS_CPU
_STATISTICS = dict(  # CTA_STATS_*, from 1 on
    enumerate(
        (
            *("searched", "found", "new", "invalid", "ignore", "delete", "delete_list", "insert", "insert_failed"),
            *("drop", "early_drop", "error", "search_restart", "clash_resolve", "chain_toolong"),
        ),
        1,
    )
)
_TUPLE_ORIG, _TUPLE_REPLY, _ID, _ZONE = 1, 2, 12, 18
_FILTER, _FILTER_ORIG, _FILTER_REPLY = 25, 1, 2
_FILTER_DESTINATION, _FILTER_PROTOCOL, _FILTER_PORT = 1 << 1, 1 << 3, 1 << 5  # CTA_FILTER_F_CTA_IP_DST, …_PROTO_NUM, …_PROTO_DST_PORT
_TUPLE_IP, _TUPLE_PROTO = 1, 2
_V4_SRC, _V4_DST, _V6_SRC, _V6_DST = 1, 2, 3, 4
_PROTO_NUM, _SRC_PORT, _DST_PORT = 1, 2, 3
_AT_ONCE = 256


def _pack_tuple(width: int) -> bytes:
    """Pack a tuple as the kernel writes it, with zeros for its values."""
    kinds = (_V4_SRC, _V4_DST) if width == 4 else (_V6_SRC, _V6_DST)
    addresses = pack_nested(_TUPLE_IP, *(pack_attribute(kind, bytes(width)) for kind in kinds))
    ports = (pack_attribute(_PROTO_NUM, b"\0"), pack_attribute(_SRC_PORT, bytes(2)), pack_attribute(_DST_PORT, bytes(2)))
    return addresses + pack_nested(_TUPLE_PROTO, *ports)


class _TupleLayout:
    """Layout of both tuples of one address family, for protocols with ports (TCP, UDP and others)."""

    def __init__(self, width: int) -> None:
        one = f"12x {width}s 4x {width}s 8x {{}} 7x H 6x H 2x"
        self._unpack = Struct(f">{one.format('B')}{one.format('x')}").unpack_from
        both = pack_nested(_TUPLE_ORIG, _pack_tuple(width)) + pack_nested(_TUPLE_REPLY, _pack_tuple(width))
        half = len(both) // 2
        gaps = ((0, 12), (12 + width, 4), (16 + 2 * width, 8), (28 + 2 * width, 4), (36 + 2 * width, 4))
        places_of_headers = [slice(start + at, start + at + length) for start in (0, half) for at, length in gaps]
        self._fixed = [(where, both[where]) for where in places_of_headers]

    def parse_flow(self, body: bytes) -> Flow | None:
        """Return the flow, None if it has another shape."""
        for where, octets in self._fixed:
            if body[where] != octets:
                return None
        return Flow._make((*self._unpack(body), body))


_V4, _V6 = _TupleLayout(4), _TupleLayout(16)


def read_core_statistics() -> dict[int, dict[str, int]]:
    """Return the counters of the connection table by core, by the names of CTA_STATS_*. Raises TableError."""
    with closing(Netlink(CONNTRACK)) as own:
        counted = [parse_attributes(body) for body in own.dump(_GET_STATISTICS, family=socket.AF_UNSPEC)]
    return {
        core: {_STATISTICS[kind]: parse_number(octets) for kind, octets in given.items() if kind in _STATISTICS}
        for core, given in enumerate(counted)
    }


def read_conntrack_statistics() -> dict[str, int]:
    """Return the counters of the connection table, summed over all cores. Raises TableError."""
    cores = read_core_statistics().values()
    return {name: sum(counts.get(name, 0) for counts in cores) for name in _STATISTICS.values()}


def iter_flows(over: Netlink, family: int) -> Iterator[list[Flow]]:
    """Yield all flows, datagram by datagram; one that comes or goes meanwhile may be left out or repeated. Raises TableError."""
    for bodies, _undisturbed in over.iter_dump(_GET, family=family):
        yield [parse_flow(body) for body in bodies]


class Conntrack:
    """The connections of the network namespace of the socket, which is one of CONNTRACK."""

    def __init__(self, over: Netlink) -> None:
        self._netlink = over

    def list_flows(self, toward: Collection[FlowFilter] | None = None) -> list[Flow]:
        """Return all flows, or those that match a filter, each once. Raises TableError.

        With filters the kernel walks its table but sends few flows. A kernel before 5.8 knows no filter and sends all flows of a
        family.
        """
        if toward is None:
            return [parse_flow(body) for body in self._netlink.dump(_GET, family=socket.AF_UNSPEC)]
        found = ((parse_flow(body), each) for each in sorted(toward) for body in self._netlink.dump(_GET, *_build_filter(each)))
        return list({flow[:-1]: flow for flow, each in found if _is_toward(flow, each)}.values())

    def delete(self, flows: Iterable[Flow]) -> int:
        """Delete the flows and return how many still existed. A new flow with the same addresses and ports is left alone."""
        both = list(flows)
        return sum(
            self._delete([_pack_identity(flow.handle) for flow in both if len(flow.source) == width], family)
            for width, family in ((4, socket.AF_INET), (16, socket.AF_INET6))
        )

    def _delete(self, bodies: list[bytes], family: int) -> int:
        remaining, done = iter(bodies), 0
        while some := list(islice(remaining, _AT_ONCE)):
            done += self._netlink.tell(_DELETE, some, family)
        return done


def _build_filter(toward: FlowFilter) -> tuple[bytes, int]:
    """Return the attributes that restrict a dump (ctnetlink_alloc_filter in the kernel), and the address family.

    Kernels up to 6.18 at least compare IPv6 addresses incorrectly, so the caller compares those.
    """
    flags, inside, port = 0, b"", toward.port.to_bytes(2)
    if len(toward.address) == 4:
        flags, inside = _FILTER_DESTINATION, pack_nested(_TUPLE_IP, pack_attribute(_V4_DST, toward.address))
    if toward.protocol:
        flags |= _FILTER_PROTOCOL | (_FILTER_PORT if toward.port else 0)
        ports = pack_attribute(_SRC_PORT, bytes(2)) + pack_attribute(_DST_PORT, port) if toward.port else b""
        inside += pack_nested(_TUPLE_PROTO, pack_attribute(_PROTO_NUM, bytes((toward.protocol,))), ports)
    family = socket.AF_INET if len(toward.address) == 4 else socket.AF_INET6
    if not flags:
        return b"", family
    narrow = pack_nested(_FILTER, pack_attribute(_FILTER_REPLY if toward.reply else _FILTER_ORIG, flags.to_bytes(4, byteorder)))
    return pack_nested(_TUPLE_REPLY if toward.reply else _TUPLE_ORIG, inside) + narrow, family


def _is_toward(flow: Flow, toward: FlowFilter) -> bool:
    return toward.address == (flow.reply_destination if toward.reply else flow.destination)


def parse_flow(body: bytes) -> Flow:
    """Parse a flow. Its handle is the attributes themselves."""
    return _V4.parse_flow(body) or _V6.parse_flow(body) or _parse_any_flow(body)


def _parse_any_flow(body: bytes) -> Flow:
    given = parse_attributes(body)
    source, destination, protocol, source_port, destination_port = _parse_ends(given[_TUPLE_ORIG])
    reply_source, reply_destination, _, reply_source_port, reply_destination_port = _parse_ends(given[_TUPLE_REPLY])
    reply = (reply_source, reply_destination, reply_source_port, reply_destination_port)
    return Flow(source, destination, protocol, source_port, destination_port, *reply, body)


def _parse_ends(octets: bytes) -> tuple[bytes, bytes, int, int, int]:
    given = parse_attributes(octets)
    addresses, protocol = parse_attributes(given[_TUPLE_IP]), parse_attributes(given[_TUPLE_PROTO])
    source, destination = (addresses.get(four) or addresses.get(six, b"") for four, six in ((_V4_SRC, _V6_SRC), (_V4_DST, _V6_DST)))
    numbers = (parse_number(protocol.get(kind, b"")) for kind in (_PROTO_NUM, _SRC_PORT, _DST_PORT))
    return source, destination, *numbers  # type: ignore[return-value]  # three numbers, which a generator cannot promise


def _pack_identity(body: bytes) -> bytes:
    """Return the attributes that identify one flow permanently: its original tuple, its zone, and its id, which is not reused."""
    return b"".join(
        body[start - 4 : end + -end % 4] for kind, start, end in iter_attribute_spans(body) if kind in (_TUPLE_ORIG, _ZONE, _ID)
    )

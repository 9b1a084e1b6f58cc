"""The kernel's trace of packets: a table of its own marks them as they come in, and nf_tables then reports each step.

The table belongs to this socket (NFT_TABLE_F_OWNER, Linux 5.12): no other process can change it, and it vanishes when the socket
is closed, even by SIGKILL. Layouts: linux/netfilter/nf_tables.h.
"""

import socket
from collections.abc import Iterable, Iterator
from struct import pack

from firewall.live_trace import ARRIVES, COMES, EVERY_SECOND, LEAVES, TABLE, Watch
from gateway import netlink, packet_headers
from gateway.netlink import Netlink, StepRefusedError
from gateway.netlink_attributes import pack_attribute, pack_nested, pack_text, parse_attribute_text, parse_attributes, parse_number
from gateway.table import TableError, TraceMessage

_GROUP = 9  # NFNLGRP_NFTRACE
_TRACE = netlink.NFTABLES | 17  # NFT_MSG_TRACE
_OWNER = 0x2
_PREROUTING, _INPUT, _POSTROUTING = 0, 1, 4  # NF_INET_*
_BEFORE_ALL, _AFTER_ALL = -350, 350
_ACCEPT = 1
_MARKS = {"prerouting": COMES, "input": ARRIVES, "postrouting": LEAVES}  # by our chains
_OF_TABLE, _OF_CHAIN, _RULE, _TYPE, _VERDICT, _ID = 1, 2, 3, 4, 5, 6  # NFTA_TRACE_*
_NETWORK, _TRANSPORT, _IIF, _OIF, _POLICY = 8, 9, 10, 12, 16
_RULE_TYPE = 3  # NFT_TRACETYPE_RULE
_CODE, _CHAIN = 1, 2
_VERDICTS = {0: "drop", 1: "accept", 2: "stolen", 3: "queue", -1: "continue", -2: "continue", -3: "jump", -4: "goto", -5: "return"}
_FAMILIES = {1: "inet", 2: "ip", 3: "arp", 5: "netdev", 7: "bridge", 10: "ip6"}
_REGISTER = 8  # NFT_REG32_00
_VERDICT_REGISTER, _CONTINUE = 0, 0xFFFFFFFF
_EQUAL = 0
_IIFNAME, _NFTRACE, _NFPROTO, _L4PROTO = 6, 12, 15, 16  # NFT_META_*
_NETWORK_HEADER, _TRANSPORT_HEADER = 1, 2
_SOURCE_AT, _DESTINATION_AT = {4: 12, 6: 8}, {4: 16, 6: 24}
_NFPROTOS = {4: 2, 6: 10}
_SECOND, _DAY = 1, 86400
_IFNAMSIZ = 16


class Tracer:
    """Marks matching packets until it is closed, in the network namespace of the thread that creates it. Raises TableError."""

    def __init__(self, watch: Watch) -> None:
        self._netlink = Netlink()
        self.lost = False
        try:
            self._netlink.join(_GROUP)
            self._netlink.transact(_build_steps(watch))
        except StepRefusedError as refused:
            self._netlink.close()
            raise TableError(f"the kernel refused the table for a live trace, which needs Linux 5.12 or later: {refused}") from refused
        except (OSError, TableError):
            self._netlink.close()
            raise

    def close(self) -> None:
        """Stop marking packets: the table vanishes with the socket."""
        self._netlink.close()

    def iter_messages(self) -> Iterator[TraceMessage]:
        """Return the messages that have arrived since, without waiting. Sets `lost` if the buffer overflowed."""
        for message in netlink.iter_notices(self._netlink.receive_notice):
            if message is None:
                self.lost = True
                continue
            kind, family, body = message
            if kind == _TRACE and (traced := _parse_message(family, body)):
                yield traced


def _parse_message(family: int, body: bytes) -> TraceMessage | None:
    """Parse the message; None if it carries no information: at the end of a chain, and all of our own chains but marking."""
    given = parse_attributes(body)
    kind, table = parse_number(given.get(_TYPE, b"")), parse_attribute_text(given.get(_OF_TABLE, b""))
    handle = parse_number(given.get(_RULE, b""))
    if (kind == _RULE_TYPE or table == TABLE) and not handle:
        return None
    chain = parse_attribute_text(given.get(_OF_CHAIN, b""))
    verdict = parse_attributes(given.get(_VERDICT, b""))
    code = int.from_bytes(verdict.get(_CODE) or given[_POLICY], signed=True)
    return TraceMessage(
        parse_number(given[_ID]),
        _MARKS[chain] if table == TABLE else "",
        f"{_FAMILIES.get(family, family)} {table}",
        chain,
        handle,
        _VERDICTS.get(code & 0xFF if code >= 0 else code, str(code)),
        parse_attribute_text(verdict.get(_CHAIN, b"")),
        _get_interface_name(given.get(_IIF, b"")),
        _get_interface_name(given.get(_OIF, b"")),
        packet_headers.read_packet_headers(given[_NETWORK], given.get(_TRANSPORT, b"")) if _NETWORK in given else None,
    )


def _get_interface_name(index: bytes) -> str:
    if not index:
        return ""
    try:
        return socket.if_indextoname(parse_number(index))
    except OSError:
        return f"#{parse_number(index)}"  # the interface is gone already


def _build_steps(watch: Watch) -> list[tuple[int, bytes]]:
    """Build the transaction: a table, a chain that marks, and two chains that report what a marked packet is after all rules."""
    tells = _pack_expression("immediate", _pack_long(1, _VERDICT_REGISTER), pack_nested(2, pack_nested(2, _pack_long(_CODE, _CONTINUE))))
    return [
        (netlink.NEWTABLE, pack_text(1, TABLE) + _pack_long(2, _OWNER)),
        *_build_chain("prerouting", _PREROUTING, _BEFORE_ALL, (*_build_matches(watch), *_build_mark(watch.most))),
        *_build_chain("input", _INPUT, _AFTER_ALL, (tells,)),
        *_build_chain("postrouting", _POSTROUTING, _AFTER_ALL, (tells,)),
    ]


def _build_chain(name: str, hook: int, priority: int, rule: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    place = pack_nested(4, _pack_long(1, hook), pack_attribute(2, pack(">i", priority)))
    yield netlink.NEWCHAIN, pack_text(1, TABLE) + pack_text(3, name) + place + pack_text(7, "filter") + _pack_long(5, _ACCEPT)
    yield netlink.NEWRULE, pack_text(1, TABLE) + pack_text(2, name) + pack_nested(4, *rule)


def _build_mark(most: int) -> Iterator[bytes]:
    """Build the expressions that mark. The second limit refills one token a day, so in effect its burst is the total."""
    yield from (_pack_limit(EVERY_SECOND, _SECOND, EVERY_SECOND), _pack_limit(1, _DAY, most))
    yield _pack_expression("immediate", _pack_long(1, _REGISTER), pack_nested(2, pack_attribute(1, b"\1")))
    yield _pack_expression("meta", _pack_long(2, _NFTRACE), _pack_long(3, _REGISTER))


def _build_matches(watch: Watch) -> Iterator[bytes]:
    version = next(each.version for each in (watch.source, watch.destination) if each)
    yield from (_pack_meta(_NFPROTO), _pack_equals(bytes([_NFPROTOS[version]])))
    if watch.interface:
        yield from (_pack_meta(_IIFNAME), _pack_equals(watch.interface.encode().ljust(_IFNAMSIZ, b"\0")))
    for prefix, at in ((watch.source, _SOURCE_AT[version]), (watch.destination, _DESTINATION_AT[version])):
        if prefix:
            address = prefix.network_address.packed
            yield from (_pack_payload(_NETWORK_HEADER, at, len(address)), _pack_mask(prefix.netmask.packed), _pack_equals(address))
    if watch.protocol:
        yield from (_pack_meta(_L4PROTO), _pack_equals(bytes([watch.protocol])))
    if watch.port:
        yield from (_pack_payload(_TRANSPORT_HEADER, 2, 2), _pack_equals(pack(">H", watch.port)))


def _pack_expression(name: str, *parts: bytes) -> bytes:
    return pack_nested(1, pack_text(1, name), pack_nested(2, *parts))


def _pack_meta(key: int) -> bytes:
    return _pack_expression("meta", _pack_long(2, key), _pack_long(1, _REGISTER))


def _pack_payload(header: int, at: int, length: int) -> bytes:
    return _pack_expression("payload", _pack_long(1, _REGISTER), _pack_long(2, header), _pack_long(3, at), _pack_long(4, length))


def _pack_mask(mask: bytes) -> bytes:
    of, zeros = pack_nested(4, pack_attribute(1, mask)), pack_nested(5, pack_attribute(1, bytes(len(mask))))
    return _pack_expression("bitwise", _pack_long(1, _REGISTER), _pack_long(2, _REGISTER), _pack_long(3, len(mask)), of, zeros)


def _pack_equals(value: bytes) -> bytes:
    return _pack_expression("cmp", _pack_long(1, _REGISTER), _pack_long(2, _EQUAL), pack_nested(3, pack_attribute(1, value)))


def _pack_limit(packets: int, seconds: int, burst: int) -> bytes:
    return _pack_expression(
        "limit", pack_attribute(1, pack(">Q", packets)), pack_attribute(2, pack(">Q", seconds)), _pack_long(3, burst), _pack_long(4, 0)
    )


def _pack_long(kind: int, value: int) -> bytes:
    return pack_attribute(kind, pack(">I", value))

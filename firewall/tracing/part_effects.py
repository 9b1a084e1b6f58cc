"""Effects of each kind of part on a packet, one function each. A part without a function raises TraceError."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from firewall.ruleset import (
    AddKey,
    AssignHelper,
    ClampMss,
    Count,
    Dnat,
    DnatTo,
    Field,
    Limit,
    Lookup,
    Masquerade,
    Match,
    Notrack,
    OpenOver,
    Part,
    RateOver,
    Reject,
    SampleConnection,
    Set,
    SetTimeout,
    Snat,
    Synproxy,
    TcpFlags,
    Verdict,
    VerdictAction,
    VerdictMap,
)
from firewall.tracing.fields import build_key, matches_rule_value, read_field, unpack_values
from firewall.tracing.packet import TCP
from firewall.tracing.packet_in_transit import PacketInTransit
from firewall.tracing.result import PartReading, TraceError


def _apply_match(passage: PacketInTransit, part: Match) -> PartReading:
    reading = read_field(passage, part.field)
    found = any(matches_rule_value(part.field, value, reading) for value in part.values)
    return PartReading(part, (reading,), passed=reading is not None and found != part.negated)


def _apply_lookup(passage: PacketInTransit, part: Lookup) -> PartReading:
    """Look the fields up. A negated lookup counts nothing: the kernel updates an element only if the rule looks for its presence.

    For a set that polices, the trace is that of a packet within its rate: the element is read, and not found.
    """
    found = _look_up(passage, part, part.fields, part.set, part.length)
    if passage.get_declaration(part.set).polices:
        return PartReading(part, found.values, False, part.set, found.key, found.element)
    passed = bool(found.key) and (found.element is not None) != part.negated
    if passed and found.element is not None:
        passage.count_element(part.set, found.key)
    return PartReading(part, found.values, passed, part.set, found.key, found.element)


def _look_up(passage: PacketInTransit, part: Part, fields: tuple[Field, ...], name: str, length: int | None = None) -> PartReading:
    """Read the fields, build the key, and find the element under it."""
    declaration = passage.get_declaration(name)
    values = tuple(read_field(passage, field) for field in fields)
    key = build_key(declaration.key, values, length)
    element = None if key is None else passage.find_element(name, key)
    return PartReading(part, values, element is not None, name, key or b"", element)


def _apply_verdict(_passage: PacketInTransit, part: Verdict) -> PartReading:
    return PartReading(part, verdict=part)


def _apply_verdict_map(passage: PacketInTransit, part: VerdictMap) -> PartReading:
    readings = tuple(read_field(passage, field) for field in part.fields)
    for key, verdict in part.entries:
        if all(matches_rule_value(field, value, reading) for field, value, reading in zip(part.fields, key, readings, strict=True)):
            return PartReading(part, readings, verdict=verdict)
    return PartReading(part, readings, passed=False)


def _apply_count(passage: PacketInTransit, part: Count) -> PartReading:
    if part.name:
        passage.count_named(part.name)
    return PartReading(part)


def _apply_notrack(passage: PacketInTransit, part: Notrack) -> PartReading:
    passage.leave_untracked()
    return PartReading(part)


def _apply_limit(_passage: PacketInTransit, part: Limit) -> PartReading:
    """Pass: the packet does not say whether a rate is exceeded, so the trace is that of a packet within the rate."""
    return PartReading(part)


def _apply_tcp_flags(passage: PacketInTransit, part: TcpFlags) -> PartReading:
    reading = read_field(passage, Field.TCP_FLAGS)
    passed = all(matches_rule_value(Field.TCP_FLAGS, flag, reading) for flag in part.on)
    return PartReading(part, (reading,), passed and not any(matches_rule_value(Field.TCP_FLAGS, flag, reading) for flag in part.off))


def _apply_synproxy(passage: PacketInTransit, part: Synproxy) -> PartReading:
    """Take the packet for one without a cookie unless it is marked as having one (`nft_synproxy_eval_v4`)."""
    if passage.packet.protocol != TCP:
        return PartReading(part, passed=False)
    flags = passage.packet.flags
    if "syn" in flags or ("ack" in flags and passage.packet.cookie):
        return PartReading(part, verdict=part)
    return PartReading(part, verdict=Verdict(VerdictAction.DROP)) if "ack" in flags else PartReading(part)


def _apply_reject(_passage: PacketInTransit, part: Reject) -> PartReading:
    return PartReading(part, verdict=part)


def _apply_dnat(passage: PacketInTransit, part: Dnat) -> PartReading:
    found = _look_up(passage, part, part.fields, part.map)
    if found.element is None:
        return found
    passage.count_element(part.map, found.key)
    address, *port = unpack_values(passage.get_declaration(part.map).value, found.element.value)
    passage.rewrite_destination(_check_address(part.map, address), _check_port(port[0]) if port else None)
    return PartReading(part, found.values, True, found.set, found.key, found.element, passage.accepted)


def _apply_dnat_to(passage: PacketInTransit, part: DnatTo) -> PartReading:
    passage.rewrite_destination(part.address, part.port)
    return PartReading(part, verdict=passage.accepted)


def _apply_snat(passage: PacketInTransit, part: Snat) -> PartReading:
    found = _look_up(passage, part, part.fields, part.map)
    if found.element is None:
        return found
    passage.count_element(part.map, found.key)
    declaration, value = passage.get_declaration(part.map), found.element.value
    within = _unpack_port_range(declaration, value) if declaration.ranges else _get_allowed_ports(part)
    address, *_port_of_first = unpack_values(declaration.value, value)
    passage.rewrite_source(_check_address(part.map, address), random=part.fully_random, within=within)
    return PartReading(part, found.values, True, found.set, found.key, found.element, passage.accepted)


def _get_allowed_ports(part: Snat) -> range | None:
    """Return the ports that the rule itself allows; None: any."""
    return range(part.first_port, part.last_port + 1) if part.last_port else None


def _unpack_port_range(of: Set, value: bytes) -> range:
    """Return the ports from that of a range's first to that of its last."""
    (_address, first), (_same, last) = (unpack_values(of.value, half) for half in (value[: len(value) // 2], value[len(value) // 2 :]))
    return range(_check_port(first), _check_port(last) + 1)


def _apply_masquerade(passage: PacketInTransit, part: Masquerade) -> PartReading:
    """Rewrite the source, as far as it is known what to: an interface that members' packets leave by has an address."""
    passage.masquerade()
    return PartReading(part, verdict=passage.accepted)


def _apply_clamp_mss(_passage: PacketInTransit, part: ClampMss) -> PartReading:
    """Pass: the part changes an option of TCP that no rule reads."""
    return PartReading(part)


def _apply_over(passage: PacketInTransit, part: RateOver | OpenOver) -> PartReading:
    """Do not match: as for all limits, the trace is that of a packet with a sender within the limit."""
    return PartReading(part, tuple(read_field(passage, field) for field in part.fields), passed=False)


def _apply_sample(_passage: PacketInTransit, part: SampleConnection) -> PartReading:
    """Do not match: what follows counts for a limit, and the trace is that of a packet within it."""
    return PartReading(part, passed=False)


def _apply_add_key(passage: PacketInTransit, part: AddKey) -> PartReading:
    """Pass: no trace looks into dynamic sets."""
    return PartReading(part, tuple(read_field(passage, field) for field in part.fields))


def _apply_assign_helper(_passage: PacketInTransit, part: AssignHelper) -> PartReading:
    """Pass: only other packets are `related` because a helper expects them."""
    return PartReading(part)


def _apply_set_timeout(_passage: PacketInTransit, part: SetTimeout) -> PartReading:
    """Pass: only later packets depend on how long the connection is remembered."""
    return PartReading(part)


def _check_address(name: str, value: object) -> IPv4Address | IPv6Address:
    if not isinstance(value, IPv4Address | IPv6Address):
        raise TraceError(f"map {name}: the value of a NAT map begins with an address")
    return value


def _check_port(value: object) -> int:
    if not isinstance(value, int):
        raise TraceError("the value of a NAT map ends with a port")
    return value


HANDLERS: dict[type[Any], Callable[[PacketInTransit, Any], PartReading]] = {
    Match: _apply_match,
    Lookup: _apply_lookup,
    Verdict: _apply_verdict,
    VerdictMap: _apply_verdict_map,
    Count: _apply_count,
    Notrack: _apply_notrack,
    Limit: _apply_limit,
    Reject: _apply_reject,
    Dnat: _apply_dnat,
    DnatTo: _apply_dnat_to,
    Snat: _apply_snat,
    Masquerade: _apply_masquerade,
    ClampMss: _apply_clamp_mss,
    RateOver: _apply_over,
    OpenOver: _apply_over,
    SampleConnection: _apply_sample,
    AddKey: _apply_add_key,
    AssignHelper: _apply_assign_helper,
    SetTimeout: _apply_set_timeout,
    TcpFlags: _apply_tcp_flags,
    Synproxy: _apply_synproxy,
}


def apply_part(passage: PacketInTransit, part: Part) -> PartReading:
    """Let the packet meet one part of a rule. Raises TraceError for a part that no trace understands."""
    handler = HANDLERS.get(type(part))
    if handler is None:
        raise TraceError(f"traces do not know what {type(part).__name__} does; add a function in firewall/tracing/part_effects.py")
    return handler(passage, part)

"""What each kind of part does to a packet: one function each. A part that has none is refused aloud."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from firewall.ruleset import (
    Action,
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
    Set,
    SetTimeout,
    Snat,
    Synproxy,
    TcpFlags,
    Verdict,
    VerdictMap,
)
from firewall.tracing.fields import key_of, read, same, values_of
from firewall.tracing.packet import TCP
from firewall.tracing.packet_in_transit import Passage
from firewall.tracing.result import Read, TraceError


def _match(passage: Passage, part: Match) -> Read:
    reading = read(passage, part.field)
    found = any(same(part.field, value, reading) for value in part.values)
    return Read(part, (reading,), passed=reading is not None and found != part.negated)


def _lookup(passage: Passage, part: Lookup) -> Read:
    """A negated lookup counts nothing: the kernel updates an element only where it was to be found.

    Of a set that polices, the trace is that of a packet within its rate: the element is read, and not found.
    """
    found = _found(passage, part, part.fields, part.set, part.length)
    if passage.declaration(part.set).polices:
        return Read(part, found.values, False, part.set, found.key, found.element)
    passed = bool(found.key) and (found.element is not None) != part.negated
    if passed and found.element is not None:
        passage.count_element(part.set, found.key)
    return Read(part, found.values, passed, part.set, found.key, found.element)


def _found(passage: Passage, part: Part, fields: tuple[Field, ...], name: str, length: int | None = None) -> Read:
    """What the fields read, as a key, and the element under it."""
    declaration = passage.declaration(name)
    values = tuple(read(passage, field) for field in fields)
    key = key_of(declaration.key, values, length)
    element = None if key is None else passage.element(name, key)
    return Read(part, values, element is not None, name, key or b"", element)


def _verdict(_passage: Passage, part: Verdict) -> Read:
    return Read(part, verdict=part)


def _verdict_map(passage: Passage, part: VerdictMap) -> Read:
    readings = tuple(read(passage, field) for field in part.fields)
    for key, verdict in part.entries:
        if all(same(field, value, reading) for field, value, reading in zip(part.fields, key, readings, strict=True)):
            return Read(part, readings, verdict=verdict)
    return Read(part, readings, passed=False)


def _count(passage: Passage, part: Count) -> Read:
    if part.name:
        passage.count(part.name)
    return Read(part)


def _notrack(passage: Passage, part: Notrack) -> Read:
    passage.leave_untracked()
    return Read(part)


def _limit(_passage: Passage, part: Limit) -> Read:
    """Whether a rate is exceeded is not the packet's to say: the trace is that of one which is not."""
    return Read(part)


def _tcp_flags(passage: Passage, part: TcpFlags) -> Read:
    reading = read(passage, Field.TCP_FLAGS)
    passed = all(same(Field.TCP_FLAGS, flag, reading) for flag in part.on)
    return Read(part, (reading,), passed and not any(same(Field.TCP_FLAGS, flag, reading) for flag in part.off))


def _synproxy(passage: Passage, part: Synproxy) -> Read:
    """A packet is taken for one without a cookie unless it is said to have one (`nft_synproxy_eval_v4`)."""
    if passage.packet.protocol != TCP:
        return Read(part, passed=False)
    flags = passage.packet.flags
    if "syn" in flags or ("ack" in flags and passage.packet.cookie):
        return Read(part, verdict=part)
    return Read(part, verdict=Verdict(Action.DROP)) if "ack" in flags else Read(part)


def _reject(_passage: Passage, part: Reject) -> Read:
    return Read(part, verdict=part)


def _dnat(passage: Passage, part: Dnat) -> Read:
    found = _found(passage, part, part.fields, part.map)
    if found.element is None:
        return found
    passage.count_element(part.map, found.key)
    address, *port = values_of(passage.declaration(part.map).value, found.element.value)
    passage.rewrite_destination(_address(part.map, address), _port(port[0]) if port else None)
    return Read(part, found.values, True, found.set, found.key, found.element, passage.accepted)


def _dnat_to(passage: Passage, part: DnatTo) -> Read:
    passage.rewrite_destination(part.address, part.port)
    return Read(part, verdict=passage.accepted)


def _snat(passage: Passage, part: Snat) -> Read:
    found = _found(passage, part, part.fields, part.map)
    if found.element is None:
        return found
    passage.count_element(part.map, found.key)
    declaration, value = passage.declaration(part.map), found.element.value
    within = _range(declaration, value) if declaration.ranges else _ports_of(part)
    address, *_port_of_first = values_of(declaration.value, value)
    passage.rewrite_source(_address(part.map, address), random=part.fully_random, within=within)
    return Read(part, found.values, True, found.set, found.key, found.element, passage.accepted)


def _ports_of(part: Snat) -> range | None:
    """Which ports the rule itself allows; None: any."""
    return range(part.first_port, part.last_port + 1) if part.last_port else None


def _range(of: Set, value: bytes) -> range:
    """The ports from that of a range's first to that of its last."""
    (_address, first), (_same, last) = (values_of(of.value, half) for half in (value[: len(value) // 2], value[len(value) // 2 :]))
    return range(_port(first), _port(last) + 1)


def _masquerade(passage: Passage, part: Masquerade) -> Read:
    """Without an address on that interface the kernel drops the packet (`nf_nat_masquerade_ipv4`)."""
    if passage.own is None:
        return Read(part, verdict=Verdict(Action.DROP))
    passage.rewrite_source(passage.own, random=False)
    return Read(part, verdict=passage.accepted)


def _clamp_mss(_passage: Passage, part: ClampMss) -> Read:
    """An option of TCP that no rule reads."""
    return Read(part)


def _over(passage: Passage, part: RateOver | OpenOver) -> Read:
    """As of a limit of all: the trace is that of a packet whose sender is not over."""
    return Read(part, tuple(read(passage, field) for field in part.fields), passed=False)


def _assign_helper(_passage: Passage, part: AssignHelper) -> Read:
    """What the helper will expect is another packet's matter: that one is related."""
    return Read(part)


def _set_timeout(_passage: Passage, part: SetTimeout) -> Read:
    """How long the connection is remembered is a later packet's matter."""
    return Read(part)


def _address(name: str, value: object) -> IPv4Address | IPv6Address:
    if not isinstance(value, IPv4Address | IPv6Address):
        raise TraceError(f"map {name}: the value of a NAT map begins with an address")
    return value


def _port(value: object) -> int:
    if not isinstance(value, int):
        raise TraceError("the value of a NAT map ends with a port")
    return value


HANDLERS: dict[type[Any], Callable[[Passage, Any], Read]] = {
    Match: _match,
    Lookup: _lookup,
    Verdict: _verdict,
    VerdictMap: _verdict_map,
    Count: _count,
    Notrack: _notrack,
    Limit: _limit,
    Reject: _reject,
    Dnat: _dnat,
    DnatTo: _dnat_to,
    Snat: _snat,
    Masquerade: _masquerade,
    ClampMss: _clamp_mss,
    RateOver: _over,
    OpenOver: _over,
    AssignHelper: _assign_helper,
    SetTimeout: _set_timeout,
    TcpFlags: _tcp_flags,
    Synproxy: _synproxy,
}


def meet(passage: Passage, part: Part) -> Read:
    """Let the packet meet one part of a rule."""
    handler = HANDLERS.get(type(part))
    if handler is None:
        raise TraceError(f"no trace knows what {type(part).__name__} does; it needs a function in firewall/tracing/part_effects.py")
    return handler(passage, part)

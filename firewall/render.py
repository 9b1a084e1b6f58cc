"""Rendering of values as nft text: the only place that writes it; nothing reads it back.

Every text from outside passes names.py here again, so that no value can break out of its quotes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from itertools import groupby, islice

from firewall import names, owners, profile, shaper
from firewall.addresses import format_address, format_ipv4, format_ipv6, format_prefix
from firewall.diff import ChainChange, Delta, ElementChange, diff
from firewall.ruleset import (
    BURST,
    EMPTY,
    FAMILY,
    TABLE,
    AddKey,
    AssignHelper,
    Chain,
    ClampMss,
    Count,
    Dnat,
    DnatTo,
    Element,
    Elements,
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
    Rule,
    Ruleset,
    SampleConnection,
    Set,
    SetTimeout,
    Snat,
    Synproxy,
    TcpFlags,
    Type,
    Value,
    Verdict,
    VerdictMap,
    list_used_helpers,
    list_used_timeouts,
)

IN_TABLE = f"{FAMILY} {TABLE}"
PROTOCOLS = {6: "tcp", 17: "udp"}
_QUOTED_FIELDS = (Field.IIFNAME, Field.OIFNAME)
_IPV4_FIELDS = (Field.IP_SADDR, Field.IP_DADDR)
_PER_STATEMENT = 1024
UNLIKELY = 10**10  # octets a second, for a set's declaration alone: each element has its own rate
LEAST_REMAINING = 100  # milliseconds: the least remaining time of an element with an end


def render(ruleset: Ruleset, *, now: int) -> str:
    """Return the whole ruleset as a script for `nft -f`, to load where our table does not exist yet.

    `now` (Unix seconds) turns the absolute ends of elements into the seconds that remain.
    """
    return render_delta(diff(EMPTY, ruleset), now=now)


def render_delta(delta: Delta, *, now: float) -> str:
    """Return the delta as one transaction for nft. Elements that expired by `now` are neither added nor deleted: the kernel dropped them.

    A counted set is emptied before it is deleted, so that the kernel reports what each element had counted (nf_tables notifies of
    deleted elements, but not of the elements of a deleted set).
    """
    return "".join(f"{line}\n" for line in _iter_statements(delta, now))


def render_beginning(delta: Delta, *, now: float, most: int) -> str:
    """Return the first `most` characters of `render_delta`, at the cost of these."""
    lines, length = list[str](), 0
    for line in _iter_statements(delta, now):
        lines.append(f"{line}\n")
        length += len(lines[-1])
        if length >= most:
            break
    return "".join(lines)[:most]


def _iter_statements(delta: Delta, now: float) -> Iterator[str]:
    yield f"add table {IN_TABLE}"
    yield from (f"flush chain {IN_TABLE} {names.validate_symbol(name)}" for name, change in delta.chains.items() if change.before)
    yield from (f"delete chain {IN_TABLE} {names.validate_symbol(name)}" for name, change in delta.chains.items() if _is_removed(change))
    for before, after in delta.chains.values():
        yield from (f"delete ct helper {IN_TABLE} {each}" for each in sorted(list_used_helpers(before) - list_used_helpers(after)))
        yield from (
            f"delete ct timeout {IN_TABLE} {each.name}" for each in _sort_by_name(list_used_timeouts(before) - list_used_timeouts(after))
        )
    yield from (
        f"flush set {IN_TABLE} {names.validate_symbol(name)}"
        for name, change in delta.sets.items()
        if change.before and change.before.counter
    )
    yield from (
        f"delete {_get_keyword(change.before)} {IN_TABLE} {names.validate_symbol(name)}"
        for name, change in delta.sets.items()
        if change.before
    )
    yield from (f"delete counter {IN_TABLE} {names.validate_symbol(name)}" for name in sorted(delta.counters.removed))
    yield from (f"add counter {IN_TABLE} {names.validate_symbol(name)}" for name in sorted(delta.counters.added))
    yield from (render_set(change.after) for change in delta.sets.values() if change.after)
    for name, change in delta.elements.items():
        yield from _iter_element_statements(name, change, now, alone=name not in delta.sets)
    yield from (_declare_chain(change.after) for change in delta.chains.values() if change.after and _is_added(change))
    helpers = sorted(each for _before, after in delta.chains.values() for each in list_used_helpers(after))
    yield from (f'add ct helper {IN_TABLE} {each} {{ type "{each}" protocol {each.protocol}; }}' for each in helpers)
    for before, after in delta.chains.values():
        yield from map(_declare_timeout, _sort_by_name(list_used_timeouts(after) - list_used_timeouts(before)))
    for chain in filter(None, (change.after for change in delta.chains.values())):
        yield from (f"add rule {IN_TABLE} {names.validate_symbol(chain.name)} {render_rule(rule)}" for rule in chain.rules)
    if delta.profile:
        yield from profile.render_profile_change(*delta.profile)
    if delta.shaper:
        yield from shaper.render_shaper_change(*delta.shaper)


def _sort_by_name(timeouts: Iterable[SetTimeout]) -> list[SetTimeout]:
    return sorted(timeouts, key=lambda each: each.name)


def _declare_timeout(timeout: SetTimeout) -> str:
    times = ", ".join(f"{names.validate_symbol(state)} : {seconds}" for state, seconds in timeout.times)
    name = names.validate_symbol(timeout.name)
    return f"add ct timeout {IN_TABLE} {name} {{ protocol {names.validate_symbol(timeout.protocol)}; policy = {{ {times} }}; }}"


def _is_removed(change: ChainChange) -> bool:
    return change.before is not None and (change.after is None or change.after.hook != change.before.hook)


def _is_added(change: ChainChange) -> bool:
    return change.before is None or _is_removed(change)


def _iter_element_statements(name: str, change: ElementChange, now: float, *, alone: bool) -> Iterator[str]:
    """Yield the statements for the elements of one set.

    Elements of a set that is itself new or removed (not `alone`) need no deletion, and none can enter a removed set.
    """
    if alone:
        alive = (key for key, element in change.removed.items() if not _has_expired(element, now))
        yield from _iter_batches(f"delete element {IN_TABLE} {names.validate_symbol(name)}", map(get_key_renderer(change.of.key), alive))
    texts = (text for text in render_elements(change.of, change.added, now))
    yield from _iter_batches(f"add element {IN_TABLE} {names.validate_symbol(name)}", texts)


def _iter_batches(start: str, texts: Iterable[str]) -> Iterator[str]:
    remaining = iter(texts)
    while some := list(islice(remaining, _PER_STATEMENT)):
        yield f"{start} {{ {', '.join(some)} }}"


def _has_expired(element: Element, now: float) -> bool:
    return 0 < element.expires <= now


def _get_keyword(declaration: Set) -> str:
    return "map" if declaration.value else "set"


def render_set(declaration: Set) -> str:
    """Return the declaration of a set or map."""
    types = " . ".join(declaration.key)
    if declaration.value:
        types += f" : {'interval ' if declaration.ranges else ''}{' . '.join(declaration.value)}"
    flags = _render_flags(declaration)
    counter = " counter;" if declaration.counter else f" {render_rate(UNLIKELY)};" if declaration.polices else ""
    start = f"add {_get_keyword(declaration)} {IN_TABLE} {names.validate_symbol(declaration.name)}"
    return f"{start} {{ type {types}; size {declaration.size};{flags}{counter} }}"


def render_rate(rate: int) -> str:
    """Return the token bucket of a policing set's element. Each element has its own; the one in the set's declaration is for nft alone."""
    return f"limit rate over {rate} bytes/second burst {BURST} bytes"


def _render_flags(declaration: Set) -> str:
    named = [name for name, on in (("dynamic", declaration.dynamic), ("timeout", declaration.timeout or declaration.lives)) if on]
    lives = f" timeout {declaration.lives}s;" if declaration.lives else ""
    return f" flags {','.join(named)};{lives}" if named else ""


def render_elements(declaration: Set, elements: Elements, now: float) -> Iterator[str]:
    """Yield each element as nft writes it, without those that have ended at `now`."""
    key_text, value_text = get_key_renderer(declaration.key), get_value_renderer(declaration)
    polices = declaration.polices
    for key, (value, comment, expires) in elements.items():
        if expires and expires <= now:
            continue
        text = f"{key_text(key)} {render_rate(int.from_bytes(value))}" if polices else key_text(key)
        if expires:
            text += f" timeout {_render_remaining(expires - now)}"
        if comment:
            text += f' comment "{names.sanitize_comment(comment)}"'
        if value and declaration.has_owners:
            text += f' comment "{owners.format_comment(value)}"'
        elif value and not polices:
            text += f" : {value_text(value)}"
        yield text


def _render_remaining(seconds: float) -> str:
    """Return the remaining time as nft writes it, at least LEAST_REMAINING.

    nft takes at most eight digits of seconds (three years), and no unit after a smaller one. Milliseconds follow where the time is
    that exact. Never less than a tenth of a second, because an element with no time left after the kernel's rounding would have no
    end at all.
    """
    whole, milliseconds = divmod(max(round(seconds * 1000), LEAST_REMAINING), 1000)
    days, rest = divmod(whole, 86_400)
    parts = ((days, "d"), (rest, "s"), (milliseconds, "ms"))
    return "".join(f"{number}{unit}" for number, unit in parts if number)


def get_value_renderer(of: Set) -> Callable[[bytes], str]:
    """Return a function from a value of the map to its text."""
    return partial(_render_range, of.value) if of.ranges else get_key_renderer(of.value)


def _render_range(types: tuple[Type, ...], value: bytes) -> str:
    """Return field by field the first and the last of the range, or one for both: "198.51.100.7 . 1024-2047"."""
    half = len(value) // 2
    ends = (_render_fields(types, value[:half]), _render_fields(types, value[half:]))
    return " . ".join(first if first == last else f"{first}-{last}" for first, last in zip(*ends, strict=True))


def get_key_renderer(types: tuple[Type, ...]) -> Callable[[bytes], str]:
    """Return a function from a key (or value) of these types to its text."""
    if types == (Type.IPV4,):
        return format_ipv4
    if len(types) == 1:
        return _FIELD_TEXT[types[0]]
    return partial(_render_concatenation, types)


def _render_concatenation(types: tuple[Type, ...], key: bytes) -> str:
    return " . ".join(_render_fields(types, key))


def _render_fields(types: tuple[Type, ...], key: bytes) -> list[str]:
    texts, start = [], 0
    for each in types:
        texts.append(_FIELD_TEXT[each](key[start : start + each.width]))
        start += each.padded_width
    return texts


_FIELD_TEXT: dict[Type, Callable[[bytes], str]] = {
    Type.IPV4: format_ipv4,
    Type.IPV6: format_ipv6,
    Type.PROTO: lambda octets: PROTOCOLS.get(octets[0], str(octets[0])),
    Type.PORT: lambda octets: str(int.from_bytes(octets)),
}


def _declare_chain(chain: Chain) -> str:
    if chain.hook is None:
        return f"add chain {IN_TABLE} {names.validate_symbol(chain.name)}"
    kind, hook = names.validate_symbol(chain.hook.kind), names.validate_symbol(chain.hook.hook)
    priority, policy = chain.hook.priority, chain.hook.policy
    start = f"add chain {IN_TABLE} {names.validate_symbol(chain.name)}"
    return f"{start} {{ type {kind} hook {hook} priority {priority.value}; policy {policy}; }}"


def render_chain(chain: Chain) -> str:
    """Return the chain's declaration and its rules, one a line."""
    return "\n".join([_declare_chain(chain), *map(render_rule, chain.rules)])


def render_rule(rule: Rule) -> str:
    """Return one rule as it stands in a chain."""
    text = " ".join(map(_render_parts, _group_status_bits(rule.parts)))
    return f'{text} comment "{names.sanitize_comment(rule.comment)}"' if rule.comment else text


def _group_status_bits(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """Yield the parts one by one, but neighbouring conditions on single bits of the connection's status together."""
    for is_bit, neighbours in groupby(parts, key=_is_status_bit):
        if is_bit:
            yield tuple(neighbours)
        else:
            yield from zip(neighbours)


def _is_status_bit(part: Part) -> bool:
    return isinstance(part, Match) and part.field is Field.CT_STATUS and len(part.values) == 1


def _render_parts(parts: tuple[Part, ...]) -> str:
    return _render_part(parts[0]) if len(parts) == 1 else _render_status_bits([part for part in parts if isinstance(part, Match)])


def _render_status_bits(matches: Sequence[Match]) -> str:
    """Return one comparison for several bits: the kernel reads the status once for it, and masks and compares once."""
    bits = [(_render_value(each.field, each.values[0]), not each.negated) for each in matches]
    on = " | ".join(bit for bit, is_on in bits if is_on) or "0"
    return f"{Field.CT_STATUS} & ({' | '.join(bit for bit, _is_on in bits)}) == {on}"


def _render_part(part: Part) -> str:
    match part:
        case Match(Field.CT_STATUS, (flag,), True):
            return f"{Field.CT_STATUS} ! {_render_value(Field.CT_STATUS, flag)}"  # the bit is not set; `!=` would compare all bits
        case Match(field, values, negated):
            return f"{field} {'!= ' if negated else ''}{_render_values(field, values)}"
        case Lookup(fields, name, length, negated):
            return f"{_render_masked(fields, length)} {'!= ' if negated else ''}@{names.validate_symbol(name)}"
        case Verdict():
            return _render_verdict(part)
        case VerdictMap(fields, entries):
            lines = (f"{_render_entry(fields, key)} : {_render_verdict(verdict)}" for key, verdict in entries)
            return f"{' . '.join(fields)} vmap {{ {', '.join(lines)} }}"
        case Count(name):
            return f"counter name {names.validate_symbol(name)}" if name else "counter"
        case Notrack():
            return "notrack"
        case TcpFlags(on, off):
            return f"tcp flags & ({' | '.join(map(names.validate_symbol, on + off))}) == {' | '.join(map(names.validate_symbol, on))}"
        case Synproxy(mss, scale):
            return f"synproxy mss {mss} wscale {scale} timestamp sack-perm"
        case AssignHelper(helper):
            return f'ct helper set "{helper}"'
        case SetTimeout():
            return f'ct timeout set "{names.validate_symbol(part.name)}"'
        case Masquerade():
            return "masquerade"
        case ClampMss():
            return "tcp option maxseg size set rt mtu"
        case RateOver(fields, name, rate, per, burst, length):
            over = f"limit rate over {rate}/{per} burst {burst} packets"
            return f"update @{names.validate_symbol(name)} {{ {_render_masked(fields, length)} {over} }}"
        case OpenOver(fields, name, most, length):
            return f"add @{names.validate_symbol(name)} {{ {_render_masked(fields, length)} ct count over {most} }}"
        case SampleConnection(one_of):
            return f"ct id & {one_of - 1} == 0"
        case AddKey(fields, name, length):
            return f"add @{names.validate_symbol(name)} {{ {_render_masked(fields, length)} }}"
        case Limit(rate, burst):
            return f"limit rate {rate}/second burst {burst} packets"
        case Reject(refusal):
            return f"reject with {refusal}"
        case Dnat(fields, name):
            return f"dnat ip to {' . '.join(fields)} map @{names.validate_symbol(name)}"
        case DnatTo(address, port):
            to = format_address(address)
            return f"dnat ip to {to}:{port}" if address.version == 4 else f"dnat ip6 to [{to}]:{port}"
        case Snat(fields, name, fully_random, first, last):
            ports = f":{first}-{last}" if last else ""
            return f"snat ip to {' . '.join(fields)} map @{names.validate_symbol(name)}{ports}{' fully-random' if fully_random else ''}"


def _render_verdict(verdict: Verdict) -> str:
    return f"{verdict.action} {names.validate_symbol(verdict.chain)}" if verdict.chain else verdict.action.value


def _render_entry(fields: tuple[Field, ...], key: tuple[str, ...]) -> str:
    return " . ".join(_render_value(field, value) for field, value in zip(fields, key, strict=True))


def _render_values(field: Field, values: tuple[Value, ...]) -> str:
    texts = [_render_value(field, value) for value in values]
    return texts[0] if len(texts) == 1 else f"{{ {', '.join(texts)} }}"


def _render_value(field: Field, value: Value) -> str:
    if field in _QUOTED_FIELDS:
        return f'"{names.validate_interface(str(value))}"'
    match value:
        case str():
            return names.validate_symbol(value)
        case IPv4Address() | IPv6Address():
            return format_address(value)
        case IPv4Network() | IPv6Network():
            return format_prefix(value)
    return str(value)


def _render_masked(fields: tuple[Field, ...], length: int | None) -> str:
    text = " . ".join(fields)
    if length is None:
        return text
    whole = IPv4Network(f"0.0.0.0/{length}") if fields[0] in _IPV4_FIELDS else IPv6Network(f"::/{length}")
    return f"{text} & {format_address(whole.netmask)}"

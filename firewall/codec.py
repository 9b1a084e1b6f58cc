"""Strict conversion between values and JSON, for messages and for what is stored: unexpected data is refused with the path to it.

It works from the annotations of frozen dataclasses and named tuples, so that a new value needs no code here. Elements are packed:
all keys in one base64 text, all values in another, because a ruleset is mostly elements. Octets are base64.

`lacking` is what the other side does not know, because its version is older: it is left out, and refused if it comes from there.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from firewall.addresses import format_address, format_prefix
from firewall.ruleset import PLAIN, Element, Elements
from firewall.wire_versions import NO_ADDITIONS, Additions, WhenSet, list_added_fields

Json: TypeAlias = Any  # what json.loads returns
_ADDRESSES = {IPv4Address: ip_address, IPv6Address: ip_address, IPv4Network: ip_network, IPv6Network: ip_network}


_PLAIN_TYPES = frozenset({int, str, bool})  # encoded as they are


_INTEGERS = range(-(1 << 63), 1 << 64)  # the range of all our integers, the kernel's counters among them
_LONGEST_FAULT = 1000  # characters


class WireError(ValueError):
    """JSON that does not fit the expected type.

    The message starts with the path to the fault. It is printable and has a maximum length, because parts of it come from the
    data, and it goes to logs and into the database.
    """

    def __init__(self, message: str) -> None:
        printable = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in message[:_LONGEST_FAULT])
        super().__init__(printable)


class TooNewError(WireError):
    """A value that cannot be said to this side's older peer. The message names what the peer does not know."""


def encode(value: Any, lacking: Additions = NO_ADDITIONS) -> Json:
    """Return the value as JSON data. A dataclass carries its class's name as `is`, by which unions are decoded.

    Raises TooNewError if it means something that cannot be said without what the other side lacks.
    """
    match value:
        case Enum():
            return _encode_member(value, lacking)
        case None | bool() | int() | str():
            return value
        case bytes():
            return b64encode(value).decode()
        case IPv4Address() | IPv6Address():
            return {"address": format_address(value)}
        case IPv4Network() | IPv6Network():
            return {"prefix": format_prefix(value)}
        case Mapping():
            return _encode_mapping(value, lacking)
        case frozenset():
            return sorted(value)
        case tuple() if hasattr(value, "_fields"):
            return {name: encode(each, lacking) for name, each in zip(value._fields, value, strict=True)}
        case tuple():
            return list(value) if _PLAIN_TYPES.issuperset(map(type, value)) else [encode(each, lacking) for each in value]
    return _encode_fields(value, lacking)


def _encode_member(member: Enum, lacking: Additions) -> Json:
    if member.name in lacking.members.get(type(member).__name__, ()):
        raise TooNewError(f"{type(member).__name__}.{member.name} is not known there")
    return member.value


def _encode_fields(value: Any, lacking: Additions) -> Json:
    name = type(value).__name__
    if name in lacking.classes:
        raise TooNewError(f"{name} is not known there")
    added = lacking.fields.get(name, {})
    for each in fields(value):
        if added.get(each.name) is WhenSet.REFUSE and getattr(value, each.name) != get_default(each):
            raise TooNewError(f"{name}.{each.name} is not known there")
    return {"is": name} | {each.name: encode(getattr(value, each.name), lacking) for each in fields(value) if each.name not in added}


def get_default(of: "Field[Any]") -> Any:
    """Return a field's default; MISSING if it has none."""
    return of.default_factory() if of.default_factory is not MISSING else of.default


def _encode_mapping(value: Mapping[Any, Any], lacking: Additions) -> Json:
    if value and isinstance(next(iter(value)), bytes):
        return _encode_elements(value)
    return {key: encode(each, lacking) for key, each in value.items()}


def _encode_elements(elements: Elements) -> Json:
    packed: dict[str, Json] = {"count": len(elements), "keys": b64encode(b"".join(elements)).decode()}
    values, texts, ends = zip(*elements.values(), strict=True)
    comments = {str(at): text for at, text in enumerate(texts) if text} if any(texts) else {}
    expires = {str(at): end for at, end in enumerate(ends) if end} if any(ends) else {}
    bare = [at for at, value in enumerate(values) if not value] if any(values) and not all(values) else []
    parts = {"values": b64encode(b"".join(values)).decode(), "bare": bare, "comments": comments, "expires": expires}
    return packed | {name: part for name, part in parts.items() if part}


def decode(hint: Any, data: Json, where: str = "message", lacking: Additions = NO_ADDITIONS) -> Any:
    """Return the value of the annotated type. Raises WireError with the path to data that does not fit, such as an unknown field.

    Fields that the sender lacks get their defaults; one that it sends nevertheless is unknown.
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _decode_union(get_args(hint), data, where, lacking)
    if origin is Annotated:
        plain, limits = get_args(hint)
        return _decode_within(plain, limits, data, where)
    if origin is tuple:
        return _decode_tuple(get_args(hint), data, where, lacking)
    if origin is frozenset:
        return frozenset(_decode_tuple((get_args(hint)[0], ...), data, where, lacking))
    if origin is not None and issubclass(origin, Mapping):
        return _decode_mapping(get_args(hint), data, where, lacking)
    if hint in _ADDRESSES:
        return _decode_address(data, where)
    if issubclass(hint, Enum):
        return _decode_enum(hint, data, where, lacking)
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return _decode_fields(hint, data, where, lacking)
    if hint is bytes:
        return _decode_octets(data, where)
    if type(data) is not hint:
        raise WireError(f"{where}: expected {hint.__name__}, got {type(data).__name__}")
    if hint is str:
        _check_text(data, where)
    elif hint is int:
        _check_within(_INTEGERS, data, where)
    return data


def _decode_within(hint: Any, limits: range, data: Json, where: str) -> Any:
    """Decode an integer of a field that has limits in its annotation."""
    found = decode(hint, data, where)
    _check_within(limits, found, where)
    return found


def _check_within(limits: range, number: int, where: str) -> None:
    if number not in limits:
        raise WireError(f"{where}: {str(number)[:40]} is not between {limits[0]} and {limits[-1]}")


def _check_text(text: str, where: str) -> None:
    """Raise WireError for NUL and lone surrogates: no database, terminal or file takes them."""
    if "\0" in text or not (text.isascii() or _is_encodable(text)):
        raise WireError(f"{where}: NUL and lone surrogates are not permitted in text")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _decode_union(hints: tuple[Any, ...], data: Json, where: str, lacking: Additions) -> Any:
    if data is None and NoneType in hints:
        return None
    possible = [hint for hint in hints if hint is not NoneType and getattr(hint, "__name__", "") not in lacking.classes]
    if isinstance(data, dict) and _ADDRESSES.keys() >= set(possible):
        return _decode_one_of(tuple(possible), data, where)
    if isinstance(data, dict) and possible[0] not in (str, int) and len(possible) > 1:
        by_name = {hint.__name__: hint for hint in possible}
        if not isinstance(data.get("is"), str) or data["is"] not in by_name:
            raise WireError(f"{where}.is: expected one of {', '.join(sorted(by_name))}, got {data.get('is')!r}")
        return decode(by_name[data["is"]], data, where, lacking)
    if isinstance(data, dict) and any(hint in _ADDRESSES for hint in possible):
        return _decode_address(data, where)
    fitting = [hint for hint in possible if hint in (str, int) and type(data) is hint]
    if len(possible) == 1:
        return decode(possible[0], data, where, lacking)
    if not fitting:
        raise WireError(f"{where}: unexpected {type(data).__name__}")
    return data


def _decode_one_of(possible: tuple[Any, ...], data: Json, where: str) -> Any:
    address = _decode_address(data, where)
    if not isinstance(address, possible):
        raise WireError(f"{where}: expected {' or '.join(hint.__name__ for hint in possible)}, got {address}")
    return address


def _decode_tuple(hints: tuple[Any, ...], data: Json, where: str, lacking: Additions) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise WireError(f"{where}: expected a list, got {type(data).__name__}")
    each = hints[:1] * len(data) if hints[-1] is ... else hints
    if len(each) != len(data):
        raise WireError(f"{where}: expected {len(each)} items, got {len(data)}")
    if hints[-1] is ... and hints[0] in _PLAIN_TYPES and set(map(type, data)) <= {hints[0]}:
        _check_plain(hints[0], data, where)
        return tuple(data)
    return tuple(decode(hint, item, f"{where}[{at}]", lacking) for at, (hint, item) in enumerate(zip(each, data, strict=True)))


def _check_plain(hint: Any, data: list[Any], where: str) -> None:
    if hint is str:
        _check_text("".join(data), where)
    elif hint is int and data:
        _check_within(_INTEGERS, min(data), where)
        _check_within(_INTEGERS, max(data), where)


def _decode_mapping(hints: tuple[Any, ...], data: Json, where: str, lacking: Additions) -> Mapping[Any, Any]:
    if not isinstance(data, dict):
        raise WireError(f"{where}: expected an object, got {type(data).__name__}")
    _check_text("".join(data), where)
    if hints[0] is bytes:
        return _decode_elements(data, where)
    return {key: decode(hints[1], each, f"{where}.{key}", lacking) for key, each in data.items()}


def _decode_elements(data: dict[str, Json], where: str) -> Elements:
    unknown = data.keys() - {"count", "keys", "values", "bare", "comments", "expires"}
    if unknown:
        raise WireError(f"{where}: unknown field {min(unknown)!r}")
    if not data:
        return {}
    count = decode(int, data.get("count"), f"{where}.count")
    keys = _decode_packed(data.get("keys"), count, f"{where}.keys")
    if not data.keys() - {"count", "keys"}:
        return _check_unique(dict.fromkeys(keys, PLAIN), count, where)
    values = _decode_values(data, count, where)
    comments = decode(Mapping[str, str], data.get("comments", {}), f"{where}.comments")
    expires = decode(Mapping[str, int], data.get("expires", {}), f"{where}.expires")
    elements = {
        key: Element(value, comments.get(str(at), ""), expires.get(str(at), 0))
        for at, (key, value) in enumerate(zip(keys, values, strict=True))
    }
    return _check_unique(elements, count, where)


def _decode_values(data: dict[str, Json], count: int, where: str) -> list[bytes]:
    """Return the values of all elements. `bare`: positions of elements without a value among others that have one."""
    if "values" not in data:
        return [b""] * count
    bare = set(decode(tuple[int, ...], data.get("bare", []), f"{where}.bare"))
    values = iter(_decode_packed(data["values"], count - len(bare), f"{where}.values"))
    found = [b"" if at in bare else next(values, b"") for at in range(count)] if bare else list(values)
    if next(values, None) is not None:
        raise WireError(f"{where}.bare: a position is out of range")
    return found


def _check_unique(elements: dict[bytes, Element], count: int, where: str) -> Elements:
    if len(elements) != count:
        raise WireError(f"{where}.keys: {count - len(elements)} keys are given twice")
    return elements


def _decode_octets(data: Json, where: str) -> bytes:
    try:
        return b64decode(decode(str, data, where), validate=True)
    except ValueError as error:
        raise WireError(f"{where}: not base64: {error}") from error


def _decode_packed(data: Json, count: int, where: str) -> list[bytes]:
    octets = _decode_octets(data, where)
    width, rest = divmod(len(octets), count) if count > 0 else (0, len(octets))
    if rest or not width:
        raise WireError(f"{where}: {len(octets)} octets cannot be {count} keys of one width")
    return [octets[at : at + width] for at in range(0, len(octets), width)]


def _decode_address(data: Json, where: str) -> Any:
    known = {"address": ip_address, "prefix": ip_network}
    if not isinstance(data, dict) or len(data) != 1 or next(iter(data)) not in known:
        raise WireError(f"{where}: expected an address or a prefix")
    [(kind, text)] = data.items()
    try:
        return known[kind](decode(str, text, where))  # type: ignore[operator]  # two functions with unlike overloads
    except ValueError as error:
        raise WireError(f"{where}: {error}") from error


def _decode_enum(hint: Any, data: Json, where: str, lacking: Additions) -> Any:
    try:
        member = hint(data)
    except ValueError as error:
        raise WireError(f"{where}: {data!r} is not a {hint.__name__}") from error
    if member.name in lacking.members.get(hint.__name__, ()):
        raise WireError(f"{where}: {data!r} is not a {hint.__name__} in that version")
    return member


def _decode_fields(hint: Any, data: Json, where: str, lacking: Additions) -> Any:
    if not isinstance(data, dict):
        raise WireError(f"{where}: expected an object, got {type(data).__name__}")
    hints = _get_hints(hint)
    given = {name: each for name, each in data.items() if name != "is"}
    if data.get("is", hint.__name__) != hint.__name__:
        raise WireError(f"{where}.is: expected {hint.__name__}, got {data['is']!r}")
    known = hints.keys() - lacking.fields.get(hint.__name__, {}).keys()
    optional = _list_optional_fields(hint) | list_added_fields(hint.__name__)
    for names, fault in ((given.keys() - known, "unknown"), (known - given.keys() - optional, "missing")):
        if names:
            raise WireError(f"{where}: {fault} field {min(names)!r}")
    return hint(**{name: decode(hints[name], each, f"{where}.{name}", lacking) for name, each in given.items()})


@cache
def _list_optional_fields(hint: Any) -> frozenset[str]:
    """Return the fields that may be missing: flags, numbers, texts and values with a default of 0, empty or None.

    So data that was written before such a field existed keeps its meaning.
    """
    if not is_dataclass(hint):
        return frozenset()
    return frozenset(each.name for each in fields(hint) if _is_nothing(each.type, each.default))


def _is_nothing(hint: object, default: object) -> bool:
    return default is None or (hint in (bool, int, str, "bool", "int", "str") and default in (False, 0, ""))


@cache
def _get_hints(hint: Any) -> dict[str, Any]:
    return get_type_hints(hint, include_extras=True)

"""Encodes and decodes elements of sets and maps as netlink messages, many at a time.

A set's elements mostly look alike, octet for octet, except for key, value and counts. So the first one is parsed, and if the
others have the same shape they are unpacked together; otherwise each is parsed by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from struct import Struct, pack
from typing import NamedTuple

from firewall import names, owners
from firewall.render import LEAST_REMAINING
from firewall.ruleset import BURST, PLAIN, TABLE, Element, Elements
from gateway.netlink import iter_attribute_spans, pack_attribute, pack_nested, pack_text, parse_attributes, parse_number

# linux/netfilter/nf_tables.h
_LIST_TABLE, _LIST_SET, _LIST_ELEMENTS = 1, 2, 3
_LIST_ELEM = 1
_KEY, _DATA, _TIMEOUT, _EXPIRATION, _USERDATA, _EXPR, _EXPRESSIONS = 1, 2, 4, 5, 6, 7, 11
_VALUE = 1
_EXPR_DATA = 2
_EXPR_NAME = 1
_OCTETS, _PACKETS = 1, 2
_RATE, _UNIT, _BURST, _KIND, _FLAGS = 1, 2, 3, 4, 5
_BY_OCTETS, _OVER = 1, 1  # NFT_LIMIT_PKT_BYTES, NFT_LIMIT_F_INV
_LIMITED = -1  # stands for _EXPR where that is a limit
_LIMIT = pack_text(_EXPR_NAME, "limit")
_BUCKET = pack_attribute(_UNIT, pack(">Q", 1)) + pack_attribute(_BURST, pack(">I", BURST)) + pack_attribute(_KIND, pack(">I", _BY_OCTETS))
_BUCKET += pack_attribute(_FLAGS, pack(">I", _OVER))
_COMMENT = 0  # NFTNL_UDATA_SET_ELEM_COMMENT

_MOST_LIST = 60_000  # octets of one list: its length field has 16 bits
_MOST_TOGETHER = 1024


class ElementColumns(NamedTuple):
    """Elements in the kernel's order, as columns. remaining: milliseconds, 0: the element does not expire."""

    keys: Sequence[bytes]
    values: Sequence[bytes]
    comments: Sequence[str]
    remaining: Sequence[int]
    octets: Sequence[int]
    packets: Sequence[int]

    def to_elements(self, now: float, *, owned: bool = False) -> dict[bytes, Element]:
        """Return the elements by key.

        A remaining time becomes an absolute one, rounded to a second. owned: of a set that counts for owners.
        """
        if owned:
            whose = map(owners.parse_owner, self.comments)
            return {
                key: Element(owner, "" if owner else comment) if comment else PLAIN
                for key, owner, comment in zip(self.keys, whose, self.comments, strict=True)
            }
        if not (any(self.values) or any(self.comments) or any(self.remaining)):
            return dict.fromkeys(self.keys, PLAIN)
        expires = (round(now + left / 1000) if left else 0 for left in self.remaining)
        return dict(zip(self.keys, map(Element, self.values, self.comments, expires), strict=True))


NO_COLUMNS = ElementColumns((), (), (), (), (), ())


def pack_set_reference(name: str) -> bytes:
    """Return the attributes that name one of our sets."""
    return pack_text(_LIST_TABLE, TABLE) + pack_text(_LIST_SET, name)


def build_element_message(name: str, encoded: Iterable[bytes]) -> bytes:
    """Return the attributes of one message with these encoded elements."""
    return pack_set_reference(name) + pack_nested(_LIST_ELEMENTS, *encoded)


def iter_element_messages(name: str, encoded: Iterable[bytes]) -> Iterator[bytes]:
    """Return the attributes of as many messages as the elements need."""
    remaining = iter(encoded)
    while some := list(islice(remaining, _MOST_TOGETHER)):
        fitting = _MOST_LIST // max(map(len, some))
        yield from (build_element_message(name, some[at : at + fitting]) for at in range(0, len(some), fitting))


def encode_keys(keys: Iterable[bytes]) -> Iterator[bytes]:
    """Encode elements with keys only, for deletions and requests."""
    encoder = cache(_split_bare_element)
    for key in keys:
        start, _, end = encoder(len(key), 0)
        yield start + key + end


def encode_policing(elements: Elements, now: float) -> Iterator[bytes]:
    """Encode elements of a set that polices, without those that have expired at `now`. Their value is a rate."""
    for key, element in elements.items():
        if not 0 < element.expires <= now:
            yield _pack_full_element(key, element._replace(value=b""), now, _pack_bucket(element.value))


def _pack_bucket(rate: bytes) -> bytes:
    return pack_nested(_EXPR, _LIMIT, pack_nested(_EXPR_DATA, pack_attribute(_RATE, rate), _BUCKET))


def is_limit(expression: bytes) -> bool:
    """True if the expression of a set or an element is a limit."""
    return expression.startswith(_LIMIT)


def encode(elements: Elements, now: float, *, owned: bool = False) -> Iterator[bytes]:
    """Encode whole elements, without those that have expired at `now`. owned: of a set that counts for owners."""
    encoder = cache(_split_bare_element)
    for key, element in elements.items():
        value, comment, expires = element
        if owned and value:
            yield _pack_element(key, b"", _pack_comment(owners.format_comment(value)))
            continue
        if comment or expires:
            if not 0 < expires <= now:
                yield _pack_full_element(key, element, now)
        else:
            start, middle, end = encoder(len(key), len(value))
            yield start + key + middle + value + end


def _split_bare_element(key: int, value: int) -> tuple[bytes, bytes, bytes]:
    """Return the octets before, between and after a key and a value of these widths."""
    mark = b"K" * key, b"V" * value
    whole = _pack_element(*mark)
    at = len(whole) - len(_pack_data(mark[1]))
    before_value = 8 if value else 0
    start = whole[: at - key - -key % 4]
    return start, whole[len(start) + key : at + before_value], whole[at + before_value + value :]


def _pack_data(value: bytes) -> bytes:
    return pack_nested(_DATA, pack_attribute(_VALUE, value)) if value else b""


def _pack_element(key: bytes, value: bytes, *more: bytes) -> bytes:
    return pack_nested(_LIST_ELEM, pack_nested(_KEY, pack_attribute(_VALUE, key)), _pack_data(value), *more)


def _pack_full_element(key: bytes, element: Element, now: float, *besides: bytes) -> bytes:
    more = [*besides]
    if element.expires:
        more.append(pack_attribute(_TIMEOUT, pack(">Q", max(round((element.expires - now) * 1000), LEAST_REMAINING))))
    if element.comment:
        more.append(_pack_comment(names.sanitize_comment(element.comment)))
    return _pack_element(key, element.value, *more)


def _pack_comment(comment: str) -> bytes:
    said = comment.encode() + b"\0"
    return pack_attribute(_USERDATA, bytes((_COMMENT, len(said))) + said)


def decode(attributes: bytes) -> Iterator[ElementColumns]:
    """Decode the elements in one message's attributes."""
    for kind, start, end in iter_attribute_spans(attributes):
        if kind == _LIST_ELEMENTS:
            yield _decode_list(attributes[start:end], _unpack_one_by_one)


def count(attributes: bytes) -> int:
    """Return the number of elements in one message's attributes.

    Exact if all have the length of the first; otherwise an estimate by that length.
    """
    return sum(_count(attributes[start:end]) for kind, start, end in iter_attribute_spans(attributes) if kind == _LIST_ELEMENTS)


def _count(listed: bytes) -> int:
    first = next(iter_attribute_spans(listed), None)
    return -(-len(listed) // ((first[2] + 3) & ~3)) if first else 0


def iter_counts(attributes: bytes) -> Iterator[tuple[Sequence[bytes], Sequence[int], Sequence[int]]]:
    """Return keys, packets and octets of the elements in one message's attributes."""
    for kind, start, end in iter_attribute_spans(attributes):
        if kind == _LIST_ELEMENTS:
            columns = _decode_list(attributes[start:end], _unpack_counts)
            yield columns.keys, columns.packets, columns.octets


def _decode_list(listed: bytes, otherwise: Callable[[bytes], ElementColumns]) -> ElementColumns:
    """Decode a list of elements. `otherwise` decodes it if they do not all look alike."""
    ends = next(iter_attribute_spans(listed), None)
    if ends is None:
        return NO_COLUMNS
    stride = (ends[2] + 3) & ~3
    if stride == len(listed):
        return otherwise(listed)
    leaves = list(_iter_leaves(listed, 4, ends[2]))
    count, rest = divmod(len(listed), stride)
    if rest or not _is_uniform(listed, stride, count, leaves):
        return otherwise(listed)
    return _unpack_together(listed, stride, count, leaves)


_INSIDE: dict[tuple[int, ...], dict[int, tuple[int, ...]]] = {
    (): {_KEY: (_KEY,), _DATA: (_DATA,), _EXPR: (_EXPR,), _EXPRESSIONS: (_EXPRESSIONS,)},
    (_KEY,): {},
    (_DATA,): {},
    (_EXPRESSIONS,): {_LIST_ELEM: (_EXPR,)},
    (_EXPR,): {_EXPR_DATA: (_EXPR, _EXPR_DATA)},
    (_EXPR, _EXPR_DATA): {},
    (_LIMITED,): {_EXPR_DATA: (_LIMITED, _EXPR_DATA)},
    (_LIMITED, _EXPR_DATA): {},
}
_ROLES: dict[tuple[tuple[int, ...], int], str] = {
    ((_KEY,), _VALUE): "keys",
    ((_DATA,), _VALUE): "values",
    ((), _EXPIRATION): "remaining",
    ((), _USERDATA): "comments",
    ((_LIMITED, _EXPR_DATA), _RATE): "values",
    ((_EXPR, _EXPR_DATA), _OCTETS): "octets",
    ((_EXPR, _EXPR_DATA), _PACKETS): "packets",
}


def _iter_leaves(octets: bytes, start: int, end: int, inside: tuple[int, ...] = ()) -> Iterator[tuple[str, int, int]]:
    """Return role, start and length of each part of an element that is decoded, in order."""
    for kind, begin, stop in iter_attribute_spans(octets, start, end):
        if (inside, kind) in _ROLES:
            yield _ROLES[inside, kind], begin, stop - begin
        elif kind in _INSIDE[inside]:
            within = (_LIMITED,) if kind == _EXPR and is_limit(octets[begin:stop]) else _INSIDE[inside][kind]
            if within != (_LIMITED, _EXPR_DATA) or _is_ours(octets[begin:stop]):
                yield from _iter_leaves(octets, begin, stop, within)


def _is_ours(limit: bytes) -> bool:
    """True if the limit is a bucket as we make them, at any rate. Another limit is no value of ours."""
    given = parse_attributes(limit)
    return all(given.get(kind) == value for kind, value in parse_attributes(_BUCKET).items())


def _is_uniform(listed: bytes, stride: int, count: int, leaves: list[tuple[str, int, int]]) -> bool:
    """True if every octet that belongs to no leaf is the same in all elements."""
    varying = {at for _, start, length in leaves for at in range(start, start + length)}
    return all(listed[at::stride] == listed[at : at + 1] * count for at in range(stride) if at not in varying)


def _unpack_together(listed: bytes, stride: int, count: int, leaves: list[tuple[str, int, int]]) -> ElementColumns:
    layout, at = ">", 0
    for role, start, length in leaves:
        layout += f"{start - at}x" + (f"{length}s" if role in ("keys", "values", "comments") else "Q")
        at = start + length
    rows = Struct(f"{layout}{stride - at}x").iter_unpack(listed)
    columns = dict(zip((role for role, _, _ in leaves), zip(*rows, strict=True), strict=True))
    nothing, zero = (b"",) * count, (0,) * count
    return ElementColumns(
        columns["keys"],
        columns.get("values", nothing),
        [parse_comment(each) for each in columns["comments"]] if "comments" in columns else ("",) * count,
        columns.get("remaining", zero),
        columns.get("octets", zero),
        columns.get("packets", zero),
    )


def _unpack_one_by_one(listed: bytes) -> ElementColumns:
    rows = []
    for _, start, end in iter_attribute_spans(listed):
        leaves = {role: listed[begin : begin + length] for role, begin, length in _iter_leaves(listed, start, end)}
        counts = (parse_number(leaves.get(role, b"")) for role in ("remaining", "octets", "packets"))
        rows.append((leaves.get("keys", b""), leaves.get("values", b""), parse_comment(leaves.get("comments", b"")), *counts))
    return ElementColumns(*zip(*rows, strict=True))


def _unpack_counts(listed: bytes) -> ElementColumns:
    """Decode keys and counts only. The kernel puts them before the parts of varying length, so each element begins like the first."""
    elements = [(start, end) for _, start, end in iter_attribute_spans(listed)]
    front = _build_front_struct(listed, *elements[0])
    if front is None or any(end - start < front.size for start, end in elements):
        return _unpack_one_by_one(listed)
    head, keys, middle, octets, between, packets = zip(*(front.unpack_from(listed, start) for start, _ in elements), strict=True)
    if any(len(set(each)) != 1 for each in (head, middle, between)):
        return _unpack_one_by_one(listed)
    return NO_COLUMNS._replace(keys=keys, octets=octets, packets=packets)


def _build_front_struct(listed: bytes, start: int, end: int) -> Struct | None:
    """Return the layout of an element up to its counts, with the octets around them; None if it has no counts."""
    leaves = [
        (role, begin - start, length) for role, begin, length in _iter_leaves(listed, start, end) if role in ("keys", "octets", "packets")
    ]
    if [role for role, _, _ in leaves] != ["keys", "octets", "packets"]:
        return None
    (_, key, width), (_, octets, _), (_, packets, _) = leaves
    return Struct(f">{key}s{width}s{octets - key - width}sQ{packets - octets - 8}sQ")


def parse_comment(userdata: bytes) -> str:
    """Return the comment in an element's user data: a list of type, length, value with one octet each for the first two."""
    at = 0
    while at + 2 <= len(userdata):
        kind, length = userdata[at], userdata[at + 1]
        if kind == _COMMENT:
            return userdata[at + 2 : at + 2 + length].rstrip(b"\0").decode(errors="replace")
        at += 2 + length
    return ""

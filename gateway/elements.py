"""Encodes and decodes elements of sets and maps as netlink messages, many at a time.

A set's elements mostly look alike, octet for octet, except for key, value, end, comment and counts. So those of one shape are packed
together. Of those that come the first one is parsed, and if the others have its shape they are unpacked together; otherwise each is
parsed by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, chain, islice, repeat
from struct import Struct, pack
from typing import NamedTuple, TypeAlias

from firewall import names, owners
from firewall.render import LEAST_REMAINING
from firewall.ruleset import BURST, PLAIN, TABLE, Element, Elements, Set
from gateway.netlink_attributes import iter_attribute_spans, pack_attribute, pack_nested, pack_text, parse_attributes, parse_number

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

_MILLISECONDS = Struct(">Q")
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


def iter_addition_messages(of: Set, elements: Elements, now: float) -> Iterator[bytes]:
    """Return the attributes of as many messages as adding the elements needs, without those that have expired at `now`."""
    remaining = iter(elements.items())
    while some := list(islice(remaining, _MOST_TOGETHER)):
        for widths, columns in _group_by_shape(of, some, now):
            yield from _iter_messages(of.name, _split_shape(*widths, polices=of.polices), columns)


def iter_deletion_messages(name: str, keys: Iterable[bytes]) -> Iterator[bytes]:
    """Return the attributes of as many messages as deleting these elements needs. The keys have one width."""
    remaining = iter(keys)
    while some := list(islice(remaining, _MOST_TOGETHER)):
        yield from _iter_messages(name, _split_shape(len(some[0])), (some,))


def build_key_message(name: str, keys: Sequence[bytes]) -> bytes:
    """Return the attributes of one request for these elements. The keys have one width, and fit into one list."""
    start, *rest = _split_shape(len(keys[0]))
    end = b"".join(rest)
    return build_element_message(name, [start, (end + start).join(keys), end])


def encode_keys(keys: Iterable[bytes]) -> Iterator[bytes]:
    """Encode elements with keys only, one by one, for requests."""
    for key in keys:
        start, *after = _split_shape(len(key))
        yield start + key + b"".join(after)


def is_limit(expression: bytes) -> bool:
    """True if the expression of a set or an element is a limit."""
    return expression.startswith(_LIMIT)


_Widths: TypeAlias = tuple[int, int, int, int]  # of key, value, remaining time and comment; 0: the element has none
_Columns: TypeAlias = Sequence[Sequence[bytes]]  # of the same


def _group_by_shape(of: Set, some: list[tuple[bytes, Element]], now: float) -> Iterator[tuple[_Widths, _Columns]]:
    """Group elements that look alike but for their octets. Mostly all do."""
    keys, elements = zip(*some, strict=True)
    values, comments, ends = zip(*elements, strict=True)
    if not any(comments) and not any(ends) and len(set(map(len, values))) == 1:
        if not of.has_owners or not values[0]:
            yield (len(keys[0]), len(values[0]), 0, 0), (keys, values)
            return
        texts, nothing = list(map(_pack_owner, values)), [b""] * len(keys)
        yield (len(keys[0]), 0, 0, len(texts[0])), (keys, nothing, nothing, texts)
        return
    groups: dict[_Widths, list[tuple[bytes, bytes, bytes, bytes]]] = {}
    for key, element in some:
        if not 0 < element.expires <= now:
            row = key, *_pack_parts(of, element, now)
            groups.setdefault((len(row[0]), len(row[1]), len(row[2]), len(row[3])), []).append(row)
    yield from ((widths, list(zip(*rows, strict=True))) for widths, rows in groups.items())


def _pack_parts(of: Set, element: Element, now: float) -> tuple[bytes, bytes, bytes]:
    """Return value, remaining time and comment as they stand in the element."""
    value, comment, expires = element
    if of.has_owners and value:
        return b"", b"", _pack_owner(value)
    left = _MILLISECONDS.pack(max(round((expires - now) * 1000), LEAST_REMAINING)) if expires else b""
    return value, left, names.sanitize_comment(comment).encode() + b"\0" if comment else b""


def _pack_owner(owner: bytes) -> bytes:
    return owners.format_comment(owner).encode() + b"\0"


@cache
def _split_shape(key: int, value: int = 0, left: int = 0, comment: int = 0, *, polices: bool = False) -> tuple[bytes, ...]:
    """Return the octets around key, value, remaining time and comment of these widths in an element: before each, and at the end."""
    named = pack_nested(_KEY, pack_attribute(_VALUE, bytes(key)))
    data = _pack_bucket(bytes(value)) if polices and value else pack_nested(_DATA, pack_attribute(_VALUE, bytes(value))) if value else b""
    time = pack_attribute(_TIMEOUT, bytes(left)) if left else b""
    said = pack_attribute(_USERDATA, bytes((_COMMENT, comment)) + bytes(comment)) if comment else b""
    whole = pack_nested(_LIST_ELEM, named, data, time, said)
    before_value = 0 if not value else 12 + len(_LIMIT) if polices else 8
    ends = list(accumulate((4, len(named), len(data), len(time))))
    starts = (ends[0] + 8, ends[1] + before_value, ends[2] + (4 if time else 0), ends[3] + (6 if said else 0))
    parts, at = [], 0
    for start, width in zip(starts, (key, value, left, comment), strict=True):
        parts.append(whole[at:start])
        at = start + width
    return (*parts, whole[at:])


def _pack_bucket(rate: bytes) -> bytes:
    return pack_nested(_EXPR, _LIMIT, pack_nested(_EXPR_DATA, pack_attribute(_RATE, rate), _BUCKET))


def _iter_messages(name: str, around: Sequence[bytes], columns: _Columns) -> Iterator[bytes]:
    """Return messages of elements that look alike. `around`: the octets around the columns' values; what is left comes behind the last."""
    count, last = len(columns[0]), b"".join(around[len(columns) :])
    parts = [part for before, column in zip(around, columns, strict=False) for part in (repeat(before, count), column)]
    octets = b"".join(chain.from_iterable(zip(*parts, repeat(last, count), strict=True)))
    stride = len(octets) // count
    step = _MOST_LIST // stride * stride
    yield from (build_element_message(name, [octets[at : at + step]]) for at in range(0, len(octets), step))


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
    front = _find_front(listed, start, end)
    if front is None:
        return None
    (_, key, width), (_, octets, _), (_, packets, _) = front
    key, octets, packets = key - start, octets - start, packets - start
    return Struct(f">{key}s{width}s{octets - key - width}sQ{packets - octets - 8}sQ")


def _find_front(listed: bytes, start: int, end: int) -> list[tuple[str, int, int]] | None:
    """Return the leaves of an element's key, octets and packets; None if it has no counts."""
    leaves = [each for each in _iter_leaves(listed, start, end) if each[0] in ("keys", "octets", "packets")]
    return leaves if [role for role, _, _ in leaves] == ["keys", "octets", "packets"] else None


def split_front(attributes: bytes) -> tuple[int, ...] | None:
    """Return how a message about one element is cut: the widths of what stands before its key, key, gap, octets, gap and packets.

    None if it has no counts. All messages about elements of one set begin like this: parts of varying length come behind.
    """
    for kind, start, end in iter_attribute_spans(attributes):
        element = next(iter_attribute_spans(attributes, start, end), None) if kind == _LIST_ELEMENTS else None
        if element and (front := _find_front(attributes, *element[1:])):
            (_, key, width), (_, octets, _), (_, packets, _) = front
            return key, width, octets - key - width, 8, packets - octets - 8, 8
    return None


def parse_comment(userdata: bytes) -> str:
    """Return the comment in an element's user data: a list of type, length, value with one octet each for the first two."""
    at = 0
    while at + 2 <= len(userdata):
        kind, length = userdata[at], userdata[at + 1]
        if kind == _COMMENT:
            return userdata[at + 2 : at + 2 + length].rstrip(b"\0").decode(errors="replace")
        at += 2 + length
    return ""

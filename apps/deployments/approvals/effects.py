"""Effects of a removal: maps held-back elements, in the kernel's octets, to the members, addresses and bans concerned.

Takes one or two statements, however many elements there are; each process parses the elements of a part only once.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from django.db import connection
from django.utils.translation import gettext as _

from apps.deployments.approvals.part_codec import unpack_part
from apps.deployments.models import HeldBack
from apps.lib.port_ranges import format_span
from firewall.addresses import format_ipv4, format_ipv6
from firewall.blast_radius import COMING
from firewall.ruleset import Elements
from firewall.sets import ObjectKind, find_kind, get_original, split_length

FIRST = 5  # named on a page
_PROTOCOLS = {6: "TCP", 17: "UDP"}
_PORT = re.compile(r"(TCP|UDP) ([0-9]+) · ([0-9a-f.:]+)")  # as written by build_forward_key and build_pinhole_key

_CONCERNED = """
    WITH gone AS (SELECT * FROM unnest(%(prefixes)s::cidr[], %(things)s::text[]) AS gone(prefix, thing)),
    owned AS (
        SELECT DISTINCT ON (gone.thing) gone.prefix, gone.thing, holding.member_id FROM gone
        JOIN network_holding holding ON holding.prefix {lies} gone.prefix ORDER BY gone.thing, lower(holding.valid) DESC
    )
    SELECT member.id, member.name, member.state = 'active', min(owned.thing), count(*),
        count(*) OVER (), count(*) FILTER (WHERE member.state = 'active') OVER ()
    FROM owned JOIN members_member member ON member.id = owned.member_id
    GROUP BY member.id ORDER BY member.name, member.id LIMIT %(first)s
"""
_HIT = "SELECT count(DISTINCT prefix) FROM bans_banhits WHERE prefix = ANY(%(prefixes)s::cidr[]) AND last_hit > now() - interval '1 day'"


@dataclass(frozen=True, slots=True)
class AffectedThing:
    """One thing that would be removed: its display text, and the member's or banned address or prefix that it concerns.

    key: identifies it within its kind. number: how many elements it consists of, such as the ports of a range. protocol, port: of
    a forward, the first public port.
    """

    words: str
    prefix: str
    key: str
    public: str = ""
    number: int = 1
    protocol: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True)
class AffectedMember:
    """A member concerned, the first of their things, and how many there are."""

    pk: int
    name: str
    active: bool
    first: str
    number: int


@dataclass(frozen=True, slots=True)
class RemovalEffect:
    """Effect of a removal: the things removed and the members concerned.

    members, active: how many members are concerned, and how many of them are active. hit: bans that blocked something in the last 24 h.
    """

    kind: ObjectKind
    things: tuple[AffectedThing, ...]
    people: tuple[AffectedMember, ...] = ()
    members: int = 0
    active: int = 0
    hit: int = 0

    @property
    def number(self) -> int:
        """Number of elements that would be removed."""
        return sum(thing.number for thing in self.things)

    @property
    def public_count(self) -> int:
        """Number of public addresses concerned."""
        return len({thing.public for thing in self.things if thing.public})

    @property
    def network_count(self) -> int:
        """Number of things that are whole networks."""
        return sum(not thing.prefix.endswith(("/32", "/128")) for thing in self.things)

    @property
    def ipv6_count(self) -> int:
        return sum(":" in thing.prefix for thing in self.things)


def compute_effect(held: HeldBack) -> RemovalEffect:
    """Compute the effect of a held-back removal."""
    kind = ObjectKind(held.kind)
    found = tuple(merge_port_ranges(list_things(held)))
    if kind in (ObjectKind.BANS, ObjectKind.ALLOWED, ObjectKind.LISTENERS):
        return RemovalEffect(kind, found, hit=_count_hits(found))
    rows = _list_affected_members(found, kind)
    people = tuple(AffectedMember(*row[:5]) for row in rows)
    return RemovalEffect(kind, found, people, members=rows[0][5] if rows else 0, active=rows[0][6] if rows else 0)


def list_things(held: HeldBack) -> tuple[AffectedThing, ...]:
    """Return everything that would be removed, in the order of the kernel's keys."""
    return _load_things(held.pk, held.digest)


@lru_cache(maxsize=4)
def list_keys(pk: int, digest: str) -> frozenset[str]:
    """Return the keys of everything in a part; no query if this process has read it before."""
    return frozenset(thing.key for thing in _load_things(pk, digest))


@lru_cache(maxsize=4)
def _load_things(pk: int, _digest: str) -> tuple[AffectedThing, ...]:
    return tuple(iter_things(unpack_part(HeldBack.objects.only("packed").get(pk=pk).packed)))


def iter_things(part: Mapping[str, Elements]) -> Iterator[AffectedThing]:
    """Yield the elements as things, without those of sets that repeat others."""
    for name, elements in part.items():
        bare = name.removeprefix(COMING)
        if get_original(bare) != bare:
            continue
        length = split_length(bare)[1]
        for key, element in elements.items():
            yield _build_thing(bare, length, key, element.value, element.comment)


def _build_thing(name: str, length: str, key: bytes, value: bytes, comment: str) -> AffectedThing:
    if name == "forward4":
        public, protocol, port = format_ipv4(key[:4]), _PROTOCOLS.get(key[4], str(key[4])), int.from_bytes(key[8:10])
        words = build_forward_key(protocol, str(port), public)
        return AffectedThing(words, f"{format_ipv4(value[:4])}/32", words, public, protocol=protocol.lower(), port=port)
    if name.startswith("snat4"):
        private, public = f"{format_ipv4(key)}/32", format_ipv4(value[:4])
        return AffectedThing(f"{format_ipv4(key)} → {public}{render_block_ports(value)}", private, private, public)
    if name in ("pinhole6", "pinhole_protocol6", "pinhole_host6"):
        address, protocol = format_ipv6(key[:16]), _PROTOCOLS.get(key[16], str(key[16])) if len(key) > 16 else ""
        words = build_pinhole_key(protocol, str(int.from_bytes(key[20:22])) if name == "pinhole6" else "", address)
        return AffectedThing(words, f"{address}/128", words)
    if find_kind(name) is ObjectKind.LISTENERS:
        return _build_listener_thing(key, comment)
    address = format_ipv4(key) if len(key) == 4 else format_ipv6(key)
    prefix = f"{address}/{length or '32'}"
    if find_kind(name) is ObjectKind.BLOCKS:
        return AffectedThing(prefix.removesuffix("/32"), prefix, comment)  # a block's comment says which block it is
    shown = prefix.removesuffix("/32") if len(key) == 4 else prefix.removesuffix("/128")
    return AffectedThing(f"{shown} ({comment})" if comment else shown, prefix, prefix)


def _build_listener_thing(key: bytes, comment: str) -> AffectedThing:
    address, rest = (format_ipv4(key[:4]), key[4:]) if len(key) == 12 else (format_ipv6(key[:16]), key[16:])
    words = f"{_PROTOCOLS.get(rest[0], str(rest[0]))} {int.from_bytes(rest[4:6])} · {address}"
    return AffectedThing(f"{words} ({comment})" if comment else words, f"{address}/{32 if len(key) == 12 else 128}", words)


def render_block_ports(value: bytes) -> str:
    """Return “, ports 1024–2047” if a mapping's value has ports, else ""."""
    if len(value) == 4:
        return ""
    return _(", ports %(first)d–%(last)d") % {"first": int.from_bytes(value[4:6]), "last": int.from_bytes(value[12:14])}


def build_forward_key(protocol: str, ports: str, public: str) -> str:
    """Build a key such as TCP 8443 · 198.51.100.7."""
    return f"{protocol} {ports} · {public}"


def build_block_key(pk: int) -> str:
    """Build a key such as block 12, as in the comments of blocks' elements."""
    return f"block {pk}"


def build_pinhole_key(protocol: str, ports: str, address: str) -> str:
    """Build a key such as TCP 443 · 2001:db8::7. Without ports: all ports of the protocol; without a protocol: everything."""
    return " · ".join(filter(None, [" ".join(filter(None, [protocol, ports])), address]))


def merge_port_ranges(found: Iterable[AffectedThing]) -> Iterator[AffectedThing]:
    """Merge consecutive ports that lead to one host, such as TCP 6000–6009 · 198.51.100.7. The input must be sorted by port."""
    for _start, same in groupby(enumerate(found), lambda each: _get_range_key(*each)):
        row = [thing for _number, thing in same]
        yield row[0] if len(row) == 1 else _build_range(row[0], len(row))


def _get_range_key(number: int, thing: AffectedThing) -> tuple[str, ...]:
    found = _PORT.fullmatch(thing.key)
    return (found[1], str(int(found[2]) - number), found[3], thing.prefix) if found else (thing.key, str(number))


def _build_range(first: AffectedThing, count: int) -> AffectedThing:
    found = _PORT.fullmatch(first.key)
    return replace(first, words=build_forward_key(found[1], format_span(int(found[2]), count), found[3]), number=count) if found else first


def _list_affected_members(found: tuple[AffectedThing, ...], kind: ObjectKind) -> list[tuple[int, str, bool, str, int, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(
            _CONCERNED.format(lies={ObjectKind.PINHOLES: ">>=", ObjectKind.BLOCKS: "<<="}.get(kind, "=")),
            {"prefixes": [thing.prefix for thing in found], "things": [thing.words for thing in found], "first": FIRST},
        )
        return list(cursor.fetchall())


def _count_hits(found: tuple[AffectedThing, ...]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_HIT, {"prefixes": [thing.prefix for thing in found]})
        (number,) = cursor.fetchone()
    return int(number)

"""Whom it concerns when elements go: from what is held back, in the kernel's octets, to members, addresses and bans.

One or two statements, however many elements; the elements of a part are taken apart once in each process.
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
from apps.lib.port_ranges import span
from firewall.addresses import ipv4_text, ipv6_text
from firewall.blast_radius import COMING
from firewall.ruleset import Elements
from firewall.sets import Kind, kind_of, mirrored

FIRST = 5  # named on a page
_PROTOCOLS = {6: "TCP", 17: "UDP"}
_PORT = re.compile(r"(TCP|UDP) ([0-9]+) · ([0-9a-f.:]+)")  # what forward_key and pinhole_key write

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
class Thing:
    """One thing that would go: what people call it, the member's address or prefix, or the banned one, that it is about.

    key: tells it from others of its kind. number: of how many elements it is, such as the ports of a range.
    protocol, port: the first public port of a forward.
    """

    words: str
    prefix: str
    key: str
    public: str = ""
    number: int = 1
    protocol: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True)
class Person:
    """A member it concerns, the first of their things, and how many of them there are."""

    pk: int
    name: str
    active: bool
    first: str
    number: int


@dataclass(frozen=True, slots=True)
class Effect:
    """members, active: how many members it concerns, and how many of them are active. hit: bans that kept something out within a day."""

    kind: Kind
    things: tuple[Thing, ...]
    people: tuple[Person, ...] = ()
    members: int = 0
    active: int = 0
    hit: int = 0

    @property
    def number(self) -> int:
        """How many elements go."""
        return sum(thing.number for thing in self.things)

    @property
    def publics(self) -> int:
        """Public addresses it concerns."""
        return len({thing.public for thing in self.things if thing.public})

    @property
    def wide(self) -> int:
        """Things that are whole networks."""
        return sum(not thing.prefix.endswith(("/32", "/128")) for thing in self.things)

    @property
    def ipv6(self) -> int:
        return sum(":" in thing.prefix for thing in self.things)


def effect_of(held: HeldBack) -> Effect:
    """Of a removal that is held back."""
    kind = Kind(held.kind)
    found = tuple(in_ranges(things_of(held)))
    if kind in (Kind.BANS, Kind.ALLOWED, Kind.LISTENERS):
        return Effect(kind, found, hit=_hit(found))
    rows = _concerned(found, kind)
    people = tuple(Person(*row[:5]) for row in rows)
    return Effect(kind, found, people, members=rows[0][5] if rows else 0, active=rows[0][6] if rows else 0)


def things_of(held: HeldBack) -> tuple[Thing, ...]:
    """Everything that would go, in the order of the kernel's keys."""
    return _things(held.pk, held.digest)


@lru_cache(maxsize=4)
def keys_of(pk: int, digest: str) -> frozenset[str]:
    """The keys of everything in a part, without a query where this process has read it before."""
    return frozenset(thing.key for thing in _things(pk, digest))


@lru_cache(maxsize=4)
def _things(pk: int, _digest: str) -> tuple[Thing, ...]:
    return tuple(things(unpack_part(HeldBack.objects.only("packed").get(pk=pk).packed)))


def things(part: Mapping[str, Elements]) -> Iterator[Thing]:
    """The elements, without those of sets that repeat others."""
    for name, elements in part.items():
        bare = name.removeprefix(COMING)
        if mirrored(bare) != bare:
            continue
        length = bare.partition("_")[2]
        for key, element in elements.items():
            yield _thing(bare, length, key, element.value, element.comment)


def _thing(name: str, length: str, key: bytes, value: bytes, comment: str) -> Thing:
    if name == "fwd4":
        public, protocol, port = ipv4_text(key[:4]), _PROTOCOLS.get(key[4], str(key[4])), int.from_bytes(key[8:10])
        words = forward_key(protocol, str(port), public)
        return Thing(words, f"{ipv4_text(value[:4])}/32", words, public, protocol=protocol.lower(), port=port)
    if name.startswith("snat4"):
        private, public = f"{ipv4_text(key)}/32", ipv4_text(value[:4])
        return Thing(f"{ipv4_text(key)} → {public}{ports_of_block(value)}", private, private, public)
    if name in ("pin6", "pinproto6", "pinhost6"):
        address, protocol = ipv6_text(key[:16]), _PROTOCOLS.get(key[16], str(key[16])) if len(key) > 16 else ""
        words = pinhole_key(protocol, str(int.from_bytes(key[20:22])) if name == "pin6" else "", address)
        return Thing(words, f"{address}/128", words)
    if kind_of(name) is Kind.LISTENERS:
        return _listener(key, comment)
    address = ipv4_text(key) if len(key) == 4 else ipv6_text(key)
    prefix = f"{address}/{length or '32'}"
    if kind_of(name) is Kind.BLOCKS:
        return Thing(prefix.removesuffix("/32"), prefix, comment)  # its comment says which block it is
    shown = prefix.removesuffix("/32") if len(key) == 4 else prefix.removesuffix("/128")
    return Thing(f"{shown} ({comment})" if comment else shown, prefix, prefix)


def _listener(key: bytes, comment: str) -> Thing:
    address, rest = (ipv4_text(key[:4]), key[4:]) if len(key) == 12 else (ipv6_text(key[:16]), key[16:])
    words = f"{_PROTOCOLS.get(rest[0], str(rest[0]))} {int.from_bytes(rest[4:6])} · {address}"
    return Thing(f"{words} ({comment})" if comment else words, f"{address}/{32 if len(key) == 12 else 128}", words)


def ports_of_block(value: bytes) -> str:
    """“, ports 1024–2047”, where a mapping's value has any."""
    if len(value) == 4:
        return ""
    return _(", ports %(first)d–%(last)d") % {"first": int.from_bytes(value[4:6]), "last": int.from_bytes(value[12:14])}


def forward_key(protocol: str, ports: str, public: str) -> str:
    """TCP 8443 · 198.51.100.7"""
    return f"{protocol} {ports} · {public}"


def block_key(pk: int) -> str:
    """block 12, as in the comments of blocks' elements."""
    return f"block {pk}"


def pinhole_key(protocol: str, ports: str, address: str) -> str:
    """TCP 443 · 2001:db8::7; without ports all of the protocol, without a protocol everything."""
    return " · ".join(filter(None, [" ".join(filter(None, [protocol, ports])), address]))


def in_ranges(found: Iterable[Thing]) -> Iterator[Thing]:
    """Ports in a row that lead to one host are one thing: TCP 6000–6009 · 198.51.100.7. In the order given, which is that of ports."""
    for _start, same in groupby(enumerate(found), lambda each: _in_a_row(*each)):
        row = [thing for _number, thing in same]
        yield row[0] if len(row) == 1 else _range(row[0], len(row))


def _in_a_row(number: int, thing: Thing) -> tuple[str, ...]:
    found = _PORT.fullmatch(thing.key)
    return (found[1], str(int(found[2]) - number), found[3], thing.prefix) if found else (thing.key, str(number))


def _range(first: Thing, count: int) -> Thing:
    found = _PORT.fullmatch(first.key)
    return replace(first, words=forward_key(found[1], span(int(found[2]), count), found[3]), number=count) if found else first


def _concerned(found: tuple[Thing, ...], kind: Kind) -> list[tuple[int, str, bool, str, int, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(
            _CONCERNED.format(lies={Kind.PINHOLES: ">>=", Kind.BLOCKS: "<<="}.get(kind, "=")),
            {"prefixes": [thing.prefix for thing in found], "things": [thing.words for thing in found], "first": FIRST},
        )
        return list(cursor.fetchall())


def _hit(found: tuple[Thing, ...]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_HIT, {"prefixes": [thing.prefix for thing in found]})
        (number,) = cursor.fetchone()
    return int(number)

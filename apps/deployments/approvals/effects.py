"""Effects of a removal: maps held-back elements, in the kernel's octets, to the members, addresses and bans concerned.

Takes one or two statements, however many elements there are; each process parses the elements of a part only once.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from django.db import connection

from apps.deployments.approvals.part_codec import unpack_part
from apps.deployments.models import HeldBack
from apps.deployments.rule_kinds import forwards
from apps.deployments.rule_kinds.kind import AffectedThing, RemovedElement, build_affected_prefix
from apps.deployments.rule_kinds.registry import KINDS, get_removal_definition
from apps.lib.port_ranges import format_port_range
from firewall.blast_radius import ADDITION_PREFIX
from firewall.ruleset import Elements
from firewall.sets import ObjectKind, find_kind, get_original_set, split_set_name

FIRST = 5  # named on a page
_PORT = re.compile(r"(TCP|UDP) ([0-9]+) · ([0-9a-f.:]+)")  # a key of a forward or a pinhole

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
    found = tuple(merge_port_ranges(list_affected_things(held)))
    if not get_removal_definition(kind).of_members:
        return RemovalEffect(kind, found, hit=_count_hits(found))
    rows = _list_affected_members(found, kind)
    people = tuple(AffectedMember(*row[:5]) for row in rows)
    return RemovalEffect(kind, found, people, members=rows[0][5] if rows else 0, active=rows[0][6] if rows else 0)


def list_affected_things(held: HeldBack) -> tuple[AffectedThing, ...]:
    """Return everything that would be removed, in the order of the kernel's keys."""
    return _load_things(held.pk, held.digest)


@lru_cache(maxsize=4)
def list_affected_keys(pk: int, digest: str) -> frozenset[str]:
    """Return the keys of everything in a part; no query if this process has read it before."""
    return frozenset(thing.key for thing in _load_things(pk, digest))


@lru_cache(maxsize=4)
def _load_things(pk: int, _digest: str) -> tuple[AffectedThing, ...]:
    return tuple(iter_affected_things(unpack_part(HeldBack.objects.only("packed").get(pk=pk).packed)))


def iter_affected_things(part: Mapping[str, Elements]) -> Iterator[AffectedThing]:
    """Yield the elements as things, without those of sets that repeat others."""
    for name, elements in part.items():
        bare = name.removeprefix(ADDITION_PREFIX)
        if get_original_set(bare) != bare:
            continue
        kind, length = find_kind(bare), split_set_name(bare)[1]
        build_thing = KINDS[kind].build_thing if kind else build_affected_prefix
        for key, element in elements.items():
            yield build_thing(RemovedElement(bare, length, key, element.value, element.comment))


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
    return (
        replace(first, words=forwards.build_key(found[1], format_port_range(int(found[2]), count), found[3]), number=count)
        if found
        else first
    )


def _list_affected_members(found: tuple[AffectedThing, ...], kind: ObjectKind) -> list[tuple[int, str, bool, str, int, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(
            _CONCERNED.format(lies=get_removal_definition(kind).holding_operator),
            {"prefixes": [thing.prefix for thing in found], "things": [thing.words for thing in found], "first": FIRST},
        )
        return list(cursor.fetchall())


def _count_hits(found: tuple[AffectedThing, ...]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_HIT, {"prefixes": [thing.prefix for thing in found]})
        (number,) = cursor.fetchone()
    return int(number)

"""Compares the objects that a gateway runs with those that a policy compiles to. Pure.

In: the elements of both sides. Out: objects that only one side has, or that each side has in another way. What people add for
themselves does not count: comments, names and ends; an address without an owner is no other than one with its owner.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from firewall.elements.forwards import MOST_PORTS
from firewall.policy import (
    AllowEntrySpec,
    BanDirection,
    BanSpec,
    BlockedMemberSpec,
    ForwardSpec,
    PinholeSpec,
    PrefixOwner,
    RateLimitSpec,
    ServerListenerSpec,
)
from firewall.ruleset import Elements, Ruleset, Set
from firewall.running_objects import PolicyObject, RunningObject, read_objects
from firewall.sets import ObjectKind, find_kind


class ObjectDifference(NamedTuple):
    """An object as the gateway has it and as the database has it; None where there is none."""

    running: RunningObject | None
    database: RunningObject | None

    @property
    def kind(self) -> ObjectKind:
        """The kind of both."""
        [kind] = {each.kind for each in self if each}
        return kind


@dataclass(frozen=True, slots=True)
class ObjectComparison:
    """Differences, ordered by kind and address; and by set, how many elements of the gateway no object is compiled to."""

    differences: tuple[ObjectDifference, ...]
    unreadable: Mapping[str, int]


def compare_objects(sets: Mapping[str, Set], elements: Mapping[str, Elements], wanted: Ruleset, now: int) -> ObjectComparison:
    """Compare a gateway's elements, in sets of these declarations, with a compiled ruleset.

    now: Unix seconds; what has ended by then is left out.
    """
    alive = {name: {key: each for key, each in found.items() if not 0 < each.expires <= now} for name, found in elements.items()}
    ours = read_objects(sets, _select_differing(alive, wanted.elements))
    theirs = read_objects(wanted.sets, _select_differing(wanted.elements, alive))
    running, database = _index_by_place(ours.objects), _index_by_place(theirs.objects)
    pairs = [ObjectDifference(running.get(place), database.get(place)) for place in running | database]
    differing = sorted((pair for pair in pairs if not _is_same(*pair)), key=_build_order)
    return ObjectComparison(tuple(_join_neighbours(differing)), ours.unreadable)


def _select_differing(one: Mapping[str, Elements], other: Mapping[str, Elements]) -> dict[str, Elements]:
    """Return the elements of one side that the other does not have with the same value; of rates, always those of both directions."""
    return {name: _select_keys(found, _find_differing_keys(name, one, other)) for name, found in one.items()}


def _select_keys(elements: Elements, keys: set[bytes]) -> Elements:
    return {key: elements[key] for key in keys if key in elements}


def _find_differing_keys(name: str, one: Mapping[str, Elements], other: Mapping[str, Elements]) -> set[bytes]:
    names = [name] if find_kind(name) is not ObjectKind.RATES else [name.replace("_down", "_up"), name.replace("_up", "_down")]
    return {key for each in names for key in _iter_differing_keys(one.get(each, {}), other.get(each, {}))}


def _iter_differing_keys(one: Elements, other: Elements) -> Iterator[bytes]:
    yield from one.keys() ^ other.keys()
    yield from (key for key in one.keys() & other.keys() if one[key].value != other[key].value)


def _index_by_place(objects: Iterable[RunningObject]) -> dict[tuple[object, ...], RunningObject]:
    """Return the objects by place: a ban of both directions in two places, and both directions of a rate, two elements, in one."""
    found: dict[tuple[object, ...], RunningObject] = {}
    for each in objects:
        for part in _split_directions(each):
            found[part.place] = _join_rates(found[part.place], part) if part.place in found else part
    return found


def _split_directions(each: RunningObject) -> Iterator[RunningObject]:
    if isinstance(each.spec, BanSpec) and each.spec.direction is BanDirection.BOTH:
        yield from (each._replace(spec=replace(each.spec, direction=way)) for way in (BanDirection.IN, BanDirection.OUT))
    else:
        yield each


def _join_rates(one: RunningObject, other: RunningObject) -> RunningObject:
    if isinstance(one.spec, RateLimitSpec) and isinstance(other.spec, RateLimitSpec):
        return one._replace(spec=replace(one.spec, up=one.spec.up + other.spec.up, down=one.spec.down + other.spec.down))
    return other


def _is_same(one: RunningObject | None, other: RunningObject | None) -> bool:
    if one is None or other is None:
        return False
    if isinstance(one.spec, PrefixOwner) and isinstance(other.spec, PrefixOwner):
        return one.spec.holding == other.spec.holding or not (one.spec.holding and other.spec.holding)
    return _strip_labels(one.spec) == _strip_labels(other.spec)


def _strip_labels(spec: PolicyObject) -> PolicyObject:
    """Return the object without what says nothing about packets."""
    match spec:
        case BanSpec() | AllowEntrySpec():
            return replace(spec, id=0, comment="", expires=0)
        case BlockedMemberSpec() | RateLimitSpec():
            return replace(spec, id=0, expires=0)
        case ForwardSpec() | PinholeSpec():
            return replace(spec, id=0)
        case ServerListenerSpec():
            return replace(spec, id=0, name="")
    return spec


def _join_neighbours(ordered: Iterable[ObjectDifference]) -> Iterator[ObjectDifference]:
    """Yield the differences with neighbours that people know as one object in one: ports in a row, and both directions of a ban."""
    last: ObjectDifference | None = None
    for each in ordered:
        joined = _join(last, each) if last else None
        if last and not joined:
            yield last
        last = joined or each
    if last:
        yield last


def _join(one: ObjectDifference, other: ObjectDifference) -> ObjectDifference | None:
    sides = []
    for before, after in zip(one, other, strict=True):
        joined = _join_objects(before, after) if before and after else None
        if not joined and (before or after):
            return None
        sides.append(joined)
    return ObjectDifference(*sides)


def _join_objects(one: RunningObject, other: RunningObject) -> RunningObject | None:
    """Return both objects as one; None if people would call them two."""
    match one.spec, other.spec:
        case ForwardSpec() as first, ForwardSpec() as second if first.ports < MOST_PORTS:
            following = replace(first, public_port=first.public_port + first.ports, private_port=first.private_port + first.ports, ports=1)
            return one._replace(spec=replace(first, ports=first.ports + 1)) if following == second else None
        case PinholeSpec(hole=first), PinholeSpec(hole=second) if first.port and first.ports < MOST_PORTS:
            after = first._replace(port=first.port + first.ports, ports=1)
            return one._replace(spec=PinholeSpec(0, first._replace(ports=first.ports + 1))) if after == second else None
        case BanSpec(direction=BanDirection.IN) as inward, BanSpec() as outward:
            both = replace(inward, direction=BanDirection.BOTH)
            return one._replace(spec=both) if both == replace(outward, direction=BanDirection.BOTH) else None
    return None


def _build_order(pair: ObjectDifference) -> tuple[object, ...]:
    return next(each.order for each in pair if each)

"""Readings of a gateway's counters -> what passed since the reading before. Pure: values in, values out; knows no time and no member.

A counter belongs to one element of a set, in one life of the kernel (boot id) and of the table (its handle), and to one owner: an
address that changes hands is another element. What an element had counted in the end, when it was deleted, comes in `gone`, once,
with a number. So the sum is exact whatever comes twice, late or not at all; what nobody could read (a power cut, a table that
somebody deleted by hand) is missing, and never counted for somebody else.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import add
from struct import Struct
from typing import NamedTuple, TypeAlias

from firewall import owners
from firewall.ruleset import Type
from firewall.sets import find_family
from firewall.wire import Counts, Gone, Reading

_NUMBER = Struct(">Q")
_OWNER = Struct(f"{owners.WIDTH}s")
_MOST = (1 << 63) - 1  # what a database's bigint holds, and 9 exabytes

Pair: TypeAlias = tuple[int, int]  # packets and octets
Tallies: TypeAlias = dict[bytes, Pair]  # by owner and key, one behind the other


class ReadingError(ValueError):
    """A reading that cannot be one. The message names the set and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is remembered of the reading that was written down last. `gone`: the highest number of those written down.

    boot "": it was written down before anybody noted of which life the counters are; they may be the same.
    """

    boot: str = ""
    table: int = 0
    log: str = ""
    sequence: int = 0
    gone: int = 0
    sets: Mapping[str, Counts] = field(default_factory=dict)


class OwnerTraffic(NamedTuple):
    """What passed for one element's owner. owner: id of the holding, 0 if nobody knows; key: the address or prefix in network order."""

    owner: int
    key: bytes
    packets: int
    octets: int


@dataclass(frozen=True, slots=True)
class SetTraffic:
    """What passed for the elements of one set, as columns: there may be hundreds of thousands. Gives a Passed for each.

    places: owner and key of each, one behind the other, `width` octets.
    """

    width: int
    places: bytes
    packets: "array[int]"
    octets: "array[int]"

    def __iter__(self) -> Iterator[OwnerTraffic]:
        for (place,), packets, octets in zip(Struct(f"{self.width}s").iter_unpack(self.places), self.packets, self.octets, strict=True):
            yield OwnerTraffic(owners.unpack_holding(place[: owners.WIDTH]), place[owners.WIDTH :], packets, octets)


@dataclass(frozen=True, slots=True)
class ReadingAdvance:
    """What a reading adds: by set what passed, and the baseline from which the next one counts.

    continues: nothing can have been lost between both readings, as it is when the kernel or the table began anew.
    """

    baseline: Baseline
    passed: Mapping[str, SetTraffic]
    continues: bool

    @property
    def octets(self) -> dict[str, int]:
        """Octets by set."""
        return {name: sum(passed.octets) for name, passed in self.passed.items()}


def advance(before: Baseline, reading: Reading) -> ReadingAdvance | None:
    """What the reading adds to what was counted up to `before`. None: it is older than that, or the same once more.

    Readings of another boot or log have to be later ones: whoever asks for them knows in which order. Raises ReadingError.
    """
    of_same = (before.boot, before.log) == (reading.boot, reading.log)
    if of_same and reading.sequence <= before.sequence:
        return None
    seen = before.gone if before.log == reading.log else 0
    told = sorted({each.number: each for each in reading.gone if each.number > seen}.values(), key=lambda each: each.number)
    names = dict.fromkeys(chain(*(each.sets for each in told), reading.sets))
    passed = {name: _compute_set_traffic(name, before, told, reading) for name in names}
    baseline = Baseline(reading.boot, reading.table, reading.log, reading.sequence, told[-1].number if told else seen, reading.sets)
    return ReadingAdvance(baseline, passed, bool(before.boot) and _is_continuous(before, reading))


def _is_continuous(before: Baseline, told: Reading | Gone) -> bool:
    """Do these counters go on counting from where they stood, as far as anybody noted?"""
    return not before.boot or (before.boot, before.table) == (told.boot, told.table)


def _compute_set_traffic(name: str, before: Baseline, told: Iterable[Gone], reading: Reading) -> SetTraffic:
    """Of one set: what ended, in order, then what is there. One set at a time, because its tallies are large."""
    known = _parse_tallies(name, before.sets[name]) if name in before.sets else {}
    found: Tallies = {}
    for each in told:
        if name in each.sets:
            _add(found, _parse_tallies(name, each.sets[name]), known if _is_continuous(before, each) else {}, ends=True)
    if name in reading.sets:
        _add(found, _parse_tallies(name, reading.sets[name]), known if _is_continuous(before, reading) else {})
    try:
        packets, octets = (array("Q", (pair[at] for pair in found.values())) for at in (0, 1))
    except OverflowError as error:
        raise ReadingError(f"set {name}: an element's ends add up to more than a counter holds") from error
    return SetTraffic(len(next(iter(found), owners.NOBODY)), b"".join(found), packets, octets)


def _add(to: Tallies, now: Tallies, before: Tallies, *, ends: bool = False) -> None:
    """Add what each counted since. One that is smaller than before began anew; one that ends has counted nothing before from then on."""
    get = before.pop if ends else before.get
    for at, (packets, octets) in now.items():
        packets_before, octets_before = get(at, (0, 0))
        if packets < packets_before or octets < octets_before:
            packets_before = octets_before = 0
        if packets > packets_before or octets > octets_before:
            had = to.get(at, (0, 0))
            to[at] = had[0] + packets - packets_before, had[1] + octets - octets_before


def _parse_tallies(name: str, counts: Counts) -> Tallies:
    """Raises ReadingError."""
    family = find_family(name)
    if family is None or not family.counter:
        raise ReadingError(f"{name[:40]!r} is no set of ours that counts")
    width = 4 if family.key == (Type.IPV4,) else 16
    number, rest = divmod(len(counts.keys), width)
    whose = counts.owners or owners.NOBODY * number
    lengths = (len(counts.packets), len(counts.octets), len(whose))
    if rest or lengths != (8 * number, 8 * number, owners.WIDTH * number):
        raise ReadingError(f"set {name}: {len(counts.keys)} octets of keys do not fit {lengths} octets of packets, octets and owners")
    keys = (key for (key,) in Struct(f"{width}s").iter_unpack(counts.keys))
    columns = [[value for (value,) in _NUMBER.iter_unpack(column)] for column in (counts.packets, counts.octets)]
    if number and max(map(max, columns)) > _MOST:
        raise ReadingError(f"set {name}: a counter stands at more than {_MOST}, which is a negative number")
    tallies = dict(zip(map(add, (owner for (owner,) in _OWNER.iter_unpack(whose)), keys), zip(*columns, strict=True), strict=True))
    if len(tallies) != number:
        raise ReadingError(f"set {name}: {number - len(tallies)} elements are named twice")
    return tallies

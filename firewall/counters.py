"""Computes what passed between two readings of a gateway's counters. Pure: values in, values out; knows no time and no member.

A counter belongs to one element of a set, in one life of the kernel (boot id) and of the table (its handle), and to one owner: an
address that changes hands is another element. The final counts of a deleted element come in `gone`, once, with a number. So the sum
is exact even if readings come twice, late or not at all; counts that could not be read (a power cut, a table deleted by hand) are
missing, and are never attributed to another owner.
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
from firewall.sets import find_set_family
from firewall.wire import Counts, Gone, Reading

_NUMBER = Struct(">Q")
_OWNER = Struct(f"{owners.WIDTH}s")
_MOST = (1 << 63) - 1  # limit of a database's bigint: 9 exabytes

Pair: TypeAlias = tuple[int, int]  # packets and octets
Tallies: TypeAlias = dict[bytes, Pair]  # by owner and key, concatenated


class InvalidReadingError(ValueError):
    """A reading that is not valid. The message names the set and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The state of the last reading that was written down. `gone`: the highest number of its deletions.

    boot "": the reading was written down before boot ids were; its counters may be of the same boot as the next one's.
    """

    boot: str = ""
    table: int = 0
    log: str = ""
    sequence: int = 0
    gone: int = 0
    sets: Mapping[str, Counts] = field(default_factory=dict)


class OwnerTraffic(NamedTuple):
    """Traffic of one element's owner. owner: id of the holding, 0 if not known; key: the address or prefix in network order."""

    owner: int
    key: bytes
    packets: int
    octets: int


@dataclass(frozen=True, slots=True)
class NftSetTraffic:
    """Traffic of the elements of one set, as columns, because there may be hundreds of thousands. Iterates over an OwnerTraffic for each.

    places: owner and key of each, concatenated, `width` octets.
    """

    width: int
    places: bytes
    packets: "array[int]"
    octets: "array[int]"

    def __iter__(self) -> Iterator[OwnerTraffic]:
        for (place,), packets, octets in zip(Struct(f"{self.width}s").iter_unpack(self.places), self.packets, self.octets, strict=True):
            yield OwnerTraffic(owners.decode_holding_id(place[: owners.WIDTH]), place[owners.WIDTH :], packets, octets)


@dataclass(frozen=True, slots=True)
class ReadingIncrease:
    """The traffic that a reading adds, by set, and the baseline from which the next reading counts.

    continues: True if nothing can have been lost between the two readings; False if the kernel or the table began anew.
    """

    baseline: Baseline
    passed: Mapping[str, NftSetTraffic]
    continues: bool

    @property
    def octets(self) -> dict[str, int]:
        """Octets by set."""
        return {name: sum(passed.octets) for name, passed in self.passed.items()}


def compute_reading_advance(before: Baseline, reading: Reading) -> ReadingIncrease | None:
    """Return what the reading adds to what was counted up to `before`. None: it is older than that, or the same once more.

    Readings of another boot or log must be later ones: the caller knows their order. Raises InvalidReadingError.
    """
    of_same = (before.boot, before.log) == (reading.boot, reading.log)
    if of_same and reading.sequence <= before.sequence:
        return None
    seen = before.gone if before.log == reading.log else 0
    told = sorted({each.number: each for each in reading.gone if each.number > seen}.values(), key=lambda each: each.number)
    names = dict.fromkeys(chain(*(each.sets for each in told), reading.sets))
    passed = {name: _compute_set_traffic(name, before, told, reading) for name in names}
    baseline = Baseline(reading.boot, reading.table, reading.log, reading.sequence, told[-1].number if told else seen, reading.sets)
    return ReadingIncrease(baseline, passed, bool(before.boot) and _is_continuous(before, reading))


def _is_continuous(before: Baseline, told: Reading | Gone) -> bool:
    """True if these counters continue from where they stood, as far as that was written down."""
    return not before.boot or (before.boot, before.table) == (told.boot, told.table)


def _compute_set_traffic(name: str, before: Baseline, told: Iterable[Gone], reading: Reading) -> NftSetTraffic:
    """Return one set's traffic: of deleted elements, in order, then of those that are there. One set at a time, because its tallies
    are large.
    """
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
        raise InvalidReadingError(f"set {name}: an element's ends add up to more than a counter holds") from error
    return NftSetTraffic(len(next(iter(found), owners.NOBODY)), b"".join(found), packets, octets)


def _add(to: Tallies, now: Tallies, before: Tallies, *, ends: bool = False) -> None:
    """Add what each element counted since `before`.

    A count smaller than before means that the counter began anew. After an element's end its counter starts from zero.
    """
    get = before.pop if ends else before.get
    for at, (packets, octets) in now.items():
        packets_before, octets_before = get(at, (0, 0))
        if packets < packets_before or octets < octets_before:
            packets_before = octets_before = 0
        if packets > packets_before or octets > octets_before:
            had = to.get(at, (0, 0))
            to[at] = had[0] + packets - packets_before, had[1] + octets - octets_before


def _parse_tallies(name: str, counts: Counts) -> Tallies:
    """Return packets and octets by owner and key. Raises InvalidReadingError."""
    family = find_set_family(name)
    if family is None or not family.counter:
        raise InvalidReadingError(f"{name[:40]!r} is not a set with counters of this ruleset")
    width = 4 if family.key == (Type.IPV4,) else 16
    number, rest = divmod(len(counts.keys), width)
    whose = counts.owners or owners.NOBODY * number
    lengths = (len(counts.packets), len(counts.octets), len(whose))
    if rest or lengths != (8 * number, 8 * number, owners.WIDTH * number):
        raise InvalidReadingError(
            f"set {name}: {len(counts.keys)} octets of keys do not fit {lengths} octets of packets, octets and owners"
        )
    keys = (key for (key,) in Struct(f"{width}s").iter_unpack(counts.keys))
    columns = [[value for (value,) in _NUMBER.iter_unpack(column)] for column in (counts.packets, counts.octets)]
    if number and max(map(max, columns)) > _MOST:
        raise InvalidReadingError(f"set {name}: a counter exceeds {_MOST}, so it was negative")
    tallies = dict(zip(map(add, (owner for (owner,) in _OWNER.iter_unpack(whose)), keys), zip(*columns, strict=True), strict=True))
    if len(tallies) != number:
        raise InvalidReadingError(f"set {name}: {number - len(tallies)} elements are named twice")
    return tallies

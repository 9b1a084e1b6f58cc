"""Readings of a gateway's counters -> what passed since the reading before. Pure: values in, values out; knows no time and no member.

A counter belongs to one element of a set, in one life of the kernel (boot id) and of the table (its handle), and to one owner: an
address that changes hands is another element. What an element had counted in the end, when it was deleted, comes in `gone`, once,
with a number. So the sum is exact whatever comes twice, late or not at all; what nobody could read (a power cut, a table that
somebody deleted by hand) is missing, and never counted for somebody else.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from operator import add
from struct import Struct
from typing import NamedTuple, TypeAlias

from firewall import owners
from firewall.ruleset import Type
from firewall.sets import family_of
from firewall.wire import Counts, Reading

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


class Passed(NamedTuple):
    """What passed for one element's owner. owner: id of the holding, 0 if nobody knows; key: the address or prefix in network order."""

    owner: int
    key: bytes
    packets: int
    octets: int


@dataclass(frozen=True, slots=True)
class Advance:
    """What a reading adds: by set what passed, and the baseline from which the next one counts.

    continues: nothing can have been lost between both readings, as it is when the kernel or the table began anew.
    """

    baseline: Baseline
    passed: Mapping[str, tuple[Passed, ...]]
    continues: bool

    @property
    def octets(self) -> dict[str, int]:
        """Octets by set."""
        return {name: sum(each.octets for each in passed) for name, passed in self.passed.items()}


def advance(before: Baseline, reading: Reading) -> Advance | None:
    """What the reading adds to what was counted up to `before`. None: it is older than that, or the same once more.

    Readings of another boot or log have to be later ones: whoever asks for them knows in which order. Raises ReadingError.
    """
    of_same = (before.boot, before.log) == (reading.boot, reading.log)
    if of_same and reading.sequence <= before.sequence:
        return None
    continues = not before.boot or (before.boot, before.table) == (reading.boot, reading.table)
    seen = before.gone if before.log == reading.log else 0
    known = {name: _tallies(name, counts) for name, counts in before.sets.items()}
    found: dict[str, Tallies] = {}
    for gone in sorted(reading.gone, key=lambda each: each.number):
        if gone.number > seen:
            same_life = not before.boot or (before.boot, before.table) == (gone.boot, gone.table)
            for name, counts in gone.sets.items():
                _add(found.setdefault(name, {}), _tallies(name, counts), known.get(name, {}) if same_life else {}, ends=True)
            seen = gone.number
    for name, counts in reading.sets.items():
        _add(found.setdefault(name, {}), _tallies(name, counts), known.get(name, {}) if continues else {})
    baseline = Baseline(reading.boot, reading.table, reading.log, reading.sequence, seen, reading.sets)
    return Advance(baseline, {name: tuple(_passed(each)) for name, each in found.items()}, continues and bool(before.boot))


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


def _passed(tallies: Tallies) -> Iterator[Passed]:
    width = owners.WIDTH
    return (Passed(owners.holding(at[:width]), at[width:], packets, octets) for at, (packets, octets) in tallies.items())


def _tallies(name: str, counts: Counts) -> Tallies:
    """Raises ReadingError."""
    family = family_of(name)
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

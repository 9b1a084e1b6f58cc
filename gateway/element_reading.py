"""Reads elements of a set and their counters: by a dump of the whole set, or by key (gateway/keyed_reading.py) where that is cheaper.

Each function asks over the socket that it is given, which no other thread uses meanwhile.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from firewall.ruleset import Element, Set
from gateway import elements as codec
from gateway import netlink
from gateway.keyed_reading import iter_answers, iter_keyed_counts, note_counts
from gateway.netlink import Netlink
from gateway.table import ElementCounts

_ASK_AT_MOST = 4096  # for more keys than this a dump of the set is cheaper


def dump_elements(over: Netlink, of: Set, now: float) -> dict[bytes, Element]:
    """Return all elements of the set at `now`. Raises MissingObjectError if there is no such set."""
    return _decode_elements(over.dump(netlink.GETSETELEM, codec.pack_set_reference(of.name)), of, now)


def read_elements(over: Netlink, of: Set, keys: Iterable[bytes], now: float) -> dict[bytes, Element]:
    """Return those of the elements that exist at `now`. Raises MissingObjectError like `dump_elements`, but only for many keys."""
    wanted = list(keys)
    if len(wanted) > _ASK_AT_MOST:
        found = dump_elements(over, of, now)
        return {key: found[key] for key in wanted if key in found}
    return _decode_elements(chain.from_iterable(iter_answers(over, of.name, wanted)), of, now)


def _decode_elements(bodies: Iterable[bytes], of: Set, now: float) -> dict[bytes, Element]:
    found: dict[bytes, Element] = {}
    for body in bodies:
        for columns in codec.decode(body):
            found |= columns.to_elements(now, owned=of.has_owners)
    return found


def count_elements(over: Netlink, name: str) -> int:
    """Return the number of the set's elements; 0 if there is no such set."""
    try:
        return sum(codec.count(body) for body in over.dump(netlink.GETSETELEM, codec.pack_set_reference(name)))
    except netlink.MissingObjectError:
        return 0


def iter_counts(over: Netlink, name: str, known: Collection[bytes], into: ElementCounts, *, most_dumped: int) -> Iterator[None]:
    """Read the counters of a set's elements into `into`, part by part; none if there is no such set, or not any more.

    known: keys of elements that are there. most_dumped: by how many of them the set is still dumped.
    """
    read = iter_keyed_counts if len(known) > most_dumped else _iter_dumped_counts
    try:
        yield from read(over, name, known, into)
    except netlink.MissingObjectError:
        into.clear()


def _iter_dumped_counts(over: Netlink, name: str, known: Collection[bytes], into: ElementCounts) -> Iterator[None]:
    """Read the counters of all elements. Those of `known` that the dump left out are requested by key."""
    whole = True
    for bodies, undisturbed in over.iter_dump(netlink.GETSETELEM, codec.pack_set_reference(name)):
        whole = whole and undisturbed
        note_counts(bodies, into)
        yield
    missing = [key for key in known if key not in into]
    if not whole or len(missing) <= _ASK_AT_MOST:  # otherwise nothing was left out: another program emptied the set
        yield from iter_keyed_counts(over, name, missing, into)

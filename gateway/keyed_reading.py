"""Asks the kernel for elements of a set by their keys.

A dump walks the set from its beginning for each message that it fills (nf_tables_api.c, nf_tables_dump_set), so it takes four times as
long for twice as many elements. To a request with many keys the kernel sends a message for each, in order, until it finds the first
that is missing (nf_tables_getsetelem): that costs the same for each element, however many there are.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from errno import ENOENT
from itertools import islice
from struct import unpack

from gateway import elements as codec
from gateway import netlink
from gateway.message_columns import MessageColumns
from gateway.netlink import Netlink
from gateway.table import ElementCounts, TableError

_AT_ONCE = 256  # keys in one message
_FIRST = 8  # elements that are parsed to learn how their messages look
_BEFORE, _KEY, _MIDDLE, _OCTETS, _BETWEEN, _PACKETS = range(6)  # the parts of a message
NOTHING = (0, 0)


def iter_answers(own: Netlink, name: str, keys: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Request these elements of a set one by one, some at a time, and return the messages. Missing elements have no message."""
    encoded = codec.encode_keys(keys)
    while some := [codec.build_element_message(name, [each]) for each in islice(encoded, _AT_ONCE)]:
        yield [body for body in own.ask(netlink.GETSETELEM, some) if body]


def note_counts(bodies: Iterable[bytes], into: ElementCounts) -> None:
    """Add the counters in these messages."""
    for body in bodies:
        for keys, packets, octets in codec.iter_counts(body):
            into.update(zip(keys, zip(packets, octets, strict=True), strict=True))


def iter_keyed_counts(own: Netlink, name: str, keys: Collection[bytes], into: ElementCounts) -> Iterator[None]:
    """Read the counters of these elements into `into`, part by part. Raises MissingObjectError if there is no such set any more."""
    known = iter(keys)
    while some := list(islice(known, _FIRST)):
        bodies = [body for answers in iter_answers(own, name, some) for body in answers]
        note_counts(bodies, into)
        yield
        if widths := codec.split_front(bodies[0]) if bodies else None:
            yield from _CounterTrain(own, name, widths).read(list(known), into)


class _CounterTrain:
    """Reads counters from messages that begin alike: with parts of these widths (elements.split_front)."""

    def __init__(self, own: Netlink, name: str, widths: tuple[int, ...]) -> None:
        self._own, self._name = own, name
        self._columns = MessageColumns((netlink.START + widths[_BEFORE], *widths[_KEY:]), _AT_ONCE + 1)

    def read(self, keys: Sequence[bytes], into: ElementCounts) -> Iterator[None]:
        """Read the counters. Fewer keys are asked for at once where elements are missing or answers were lost, then more again."""
        at, most = 0, _AT_ONCE
        while at < len(keys):
            some = keys[at : at + most]
            answers = self._ask(some)
            if answers is None and most == 1:
                raise TableError(f"netlink: the socket has no room for the answer about one element of {self._name}")
            if answers:
                self._note(some[:answers], into)
            whole = answers == len(some)
            at += 0 if answers is None else answers + (not whole)
            most = min(most * 2, _AT_ONCE) if whole else max(most // 2, 1)
            yield

    def _ask(self, some: Sequence[bytes]) -> int | None:
        """Ask for these elements and return how many came before the first that is missing; None: answers were lost."""
        asked = self._own.begin_train(netlink.GETSETELEM, codec.build_key_message(self._name, some))
        answers = self._own.receive_columns(self._columns) - 1
        end = netlink.parse_acknowledgement(self._columns.get_column(_BEFORE, answers, answers + 1), asked) if answers >= 0 else None
        if end is None or (answers < len(some)) != (end.code == ENOENT):
            return None
        if 0 < end.offset < netlink.START + len(codec.pack_set_reference(self._name)):
            raise netlink.MissingObjectError(f"netlink: there is no set {self._name}")
        return answers

    def _note(self, keys: Sequence[bytes], into: ElementCounts) -> None:
        """Note the counters of these elements, whose messages have arrived. Messages that look otherwise are requested one by one."""
        if not self._look_alike(keys):
            for bodies in iter_answers(self._own, self._name, keys):
                note_counts(bodies, into)
            return
        packets = self._columns.get_column(_PACKETS, 0, len(keys))
        if packets.count(0) == len(packets):
            into.update(dict.fromkeys(keys, NOTHING))
            return
        octets, numbers = self._columns.get_column(_OCTETS, 0, len(keys)), f">{len(keys)}Q"
        into.update(zip(keys, zip(unpack(numbers, packets), unpack(numbers, octets), strict=True), strict=True))

    def _look_alike(self, keys: Sequence[bytes]) -> bool:
        """True if the messages are about these elements, in order, and their counters are where those of the first are."""
        if self._columns.get_column(_KEY, 0, len(keys)) != b"".join(keys):
            return False
        return all(self._is_same_in_all(part, len(keys)) for part in (_MIDDLE, _BETWEEN))

    def _is_same_in_all(self, part: int, count: int) -> bool:
        return self._columns.get_column(part, 0, count) == self._columns.get_column(part, 0, 1) * count

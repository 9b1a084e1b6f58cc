"""Tells other programs' transactions that changed our table from those that changed others, by the kernel's notifications.

Every transaction in the network namespace raises the ruleset's generation by one: ours, and those of programs with tables of their own,
as fail2ban or for containers. To find out what changed, the whole table would have to be read again. But the kernel also reports each
object that a transaction has changed, with its table, and then its generation (NFT_MSG_NEWGEN). Of our own table it tells the sets, so
that only those are read again.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from firewall.ruleset import TABLE
from gateway import netlink
from gateway.netlink import Netlink
from gateway.netlink_attributes import pack_text, parse_attribute_text, parse_attributes, parse_number

_TABLE_NAME = 1  # NFTA_*_TABLE of every object
_SET_NAME = 2  # NFTA_SET_NAME, NFTA_SET_ELEM_LIST_SET
_OF_TABLES = frozenset({netlink.NEWTABLE, netlink.DELTABLE})
_OF_SETS = frozenset({netlink.NEWSET, netlink.DELSET, netlink.NEWSETELEM, netlink.DELSETELEM})
_NO_SET, _ALL_SETS = "", "*"  # no names of sets
_GENERATION = 1  # NFTA_GEN_ID
_MOST_HEARD = 1 << 16  # octets of our own changes: of larger ones the kernel would report each element, and take half as long again
_NUMBERS = 1 << 32


class ForeignTransactions:
    """What other programs have committed since `settle`, in the network namespace of the thread that creates this object.

    Uncertainty counts as a change of our table: when notifications were lost, and when somebody else committed during a large
    transaction of ours. A table of this name in another family counts as ours.
    """

    def __init__(self) -> None:
        self._netlink = Netlink()
        self._netlink.join(netlink.TABLE_CHANGES)
        self._touched: set[str] = set()  # what the transaction that is being reported changed in our table
        self._heard: dict[int, set[str]] = {}  # the same by generation
        self.settle(0)
        self._lost = True  # nothing is known yet

    def close(self) -> None:
        """Close the socket."""
        self._netlink.close()

    def settle(self, generation: int) -> None:
        """Forget everything up to this generation: its table is known."""
        self._settled, self._lost = generation, False
        self._own = self._own_heard = self._own_unheard = 0
        self._heard = {each: touched for each, touched in self._heard.items() if 0 < self._count_since(each) < _NUMBERS // 2}

    def _count_since(self, generation: int) -> int:
        """Return how many transactions there were between `settle` and this generation."""
        return (generation - self._settled) % _NUMBERS

    @contextmanager
    def count_own(self, octets: int = 0, *, touches: bool = True) -> Iterator[None]:
        """Count the block as one transaction of ours, unless it fails. octets: of its elements. touches: whether it changes our table."""
        heard = octets <= _MOST_HEARD
        if not heard:
            self._netlink.leave(netlink.TABLE_CHANGES)
        try:
            yield
            self._own += 1
            self._own_heard += heard and touches
            self._own_unheard += not heard
        finally:
            if not heard:
                self._netlink.join(netlink.TABLE_CHANGES)

    def has_touched(self, generation: int) -> bool:
        """True if another program may have changed our table between `settle` and this generation, which is the present one."""
        touched = self.list_touched_sets(generation)
        if touched is None or touched:
            return True
        self.settle(generation)
        return False

    def list_touched_sets(self, generation: int) -> set[str] | None:
        """Return what other programs may have changed in our table until this generation, the present one: sets, and "" for all else.

        Empty: nothing. None: whatever there is. Else what we have changed ourselves since `settle` is in it too.
        """
        self._listen()
        count = self._count_since(generation)
        if count == self._own:
            return set()
        heard = [touched for each, touched in self._heard.items() if 0 < self._count_since(each) <= count]
        if self._lost or len(heard) + self._own_unheard != count:
            return None
        if sum(map(bool, heard)) <= self._own_heard:
            return set()
        touched = set().union(*heard)
        return None if _ALL_SETS in touched else touched

    def _listen(self) -> None:
        """Take in what has arrived. The kernel has reported a transaction before the call that commits it returns."""
        ours = pack_text(_TABLE_NAME, TABLE)
        for messages in netlink.iter_notices(self._netlink.receive_notices):
            self._lost = self._lost or messages is None
            for kind, body in messages or ():
                if kind == netlink.NEWGEN:
                    self._heard[parse_number(parse_attributes(body)[_GENERATION])] = self._touched
                    self._touched = set()
                elif body.startswith(ours):
                    self._touched.add(_name_set(kind, body))


def _name_set(kind: int, body: bytes) -> str:
    """Return the set that the notification is about."""
    if kind in _OF_SETS:
        return parse_attribute_text(parse_attributes(body)[_SET_NAME])
    return _ALL_SETS if kind in _OF_TABLES else _NO_SET

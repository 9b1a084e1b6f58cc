"""Final counts of elements that a transaction deletes, from the kernel's notifications.

The socket is a member of the group only during a transaction, because the group reports every change of every table. It stays open,
because closing a netlink socket waits until the kernel has freed what was deleted (nft_rcv_nl_event): a grace period of RCU, 10 ms
and more, in which the kernel accepts no other transaction either.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from firewall import owners
from firewall.ruleset import TABLE
from gateway import elements, netlink
from gateway.netlink import Netlink
from gateway.netlink_attributes import pack_text, parse_attribute_text, parse_attributes
from gateway.table import CommitRefusedError, DeletedCounts, TableError

# linux/netfilter/nfnetlink.h, nf_tables.h
_LIST_TABLE, _LIST_SET = 1, 2
_OCTETS_EACH = 1024  # of the buffer: a notification has some 150 octets, and the kernel counts its own overhead too
_LEAST_BUFFER = 8 << 20
_MOST_BUFFER = 1 << 30


class DeletionListener:
    """Listens while `listen` is entered. `lost`: the socket's buffer has overflowed meanwhile."""

    def __init__(self) -> None:
        self._netlink = Netlink()
        self._depth = 0
        self.lost = False

    @contextmanager
    def listen(self, expected: int) -> Iterator[None]:
        """Listen until the end of the block. `expected`: about how many elements will be deleted.

        Raises CommitRefusedError if it cannot listen: then the block, which commits something, is not entered.
        Blocks may be nested: they share what arrives, so that no element is counted twice.
        """
        if not self._depth:
            self._begin(expected)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._end()

    def _begin(self, expected: int) -> None:
        self.lost = False
        try:
            self._netlink.set_receive_buffer(min(max(expected * _OCTETS_EACH, _LEAST_BUFFER), _MOST_BUFFER))
            self._netlink.join(netlink.TABLE_CHANGES)
        except (TableError, OSError) as error:
            raise CommitRefusedError(f"final counts could not be listened for: {error}") from error

    def _end(self) -> None:
        """Leave the group, and forget what other programs did since the transaction."""
        self._netlink.leave(netlink.TABLE_CHANGES)
        for _ in netlink.iter_notices(self._netlink.receive_notices):
            pass

    def iter_deleted_counts(self) -> Iterator[tuple[str, DeletedCounts]]:
        """Return the counts of the elements deleted from our table, set by set. The kernel has sent them before a commit returns."""
        ours = pack_text(_LIST_TABLE, TABLE)
        for messages in netlink.iter_notices(self._netlink.receive_notices):
            self.lost = self.lost or messages is None
            for kind, body in messages or ():
                if kind == netlink.DELSETELEM and body.startswith(ours):
                    yield parse_attribute_text(parse_attributes(body)[_LIST_SET]), _decode_counts(body)

    def close(self) -> None:
        """Close the socket."""
        self._netlink.close()


def _decode_counts(body: bytes) -> DeletedCounts:
    return {
        (key, owners.parse_owner(comment)): (packets, octets)
        for columns in elements.decode(body)
        for key, comment, packets, octets in zip(columns.keys, columns.comments, columns.packets, columns.octets, strict=True)
        if packets
    }

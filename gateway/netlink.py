"""Netfilter over a raw netlink socket: requests, dumps, batches. Knows none of our sets and rules.

Layouts: linux/netlink.h, linux/netfilter/nfnetlink.h, linux/netfilter/nf_tables.h. Headers are in the machine's byte order.
"""

import errno
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct
from sys import byteorder
from typing import NamedTuple, TypeVar

from gateway.message_columns import MessageColumns
from gateway.netlink_attributes import parse_attributes
from gateway.table import CommitRefusedError, TableError

NETLINK_NETFILTER = 12
NFTABLES, CONNTRACK = 10 << 8, 1 << 8  # NFNL_SUBSYSNFTABLES, NFNL_SUBSYS_CTNETLINK
_BATCH_BEGIN, _BATCH_END = 0x10, 0x11
_ERROR, _DONE = 2, 3
_REQUEST, _ACK, _ROOT_MATCH, _INTERRUPTED, _CREATE = 0x1, 0x4, 0x300, 0x10, 0x400
_SOL_NETLINK, _ADD_MEMBERSHIP, _DROP_MEMBERSHIP, _CAP_ACK, _EXT_ACK = 270, 1, 2, 10, 11
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE, _SO_NETNS_COOKIE = 32, 33, 71
_UNFORCED = {_SO_SNDBUFFORCE: socket.SO_SNDBUF, _SO_RCVBUFFORCE: socket.SO_RCVBUF}

TABLE_CHANGES = 7  # NFNLGRP_NFTABLES: the group that hears of each change of any table
UNSPEC, INET = 0, 1
NEWTABLE, NEWCHAIN, NEWRULE = 0, 3, 6
GETTABLE, DELTABLE, GETCHAIN, GETRULE = 1, 2, 4, 7
NEWSET, GETSET, DELSET = 9, 10, 11
NEWSETELEM, GETSETELEM, DELSETELEM, NEWGEN, GETGEN, GETOBJ = 12, 13, 14, 15, 16, 19
_MAKING = frozenset({NEWTABLE, NEWCHAIN, NEWRULE, NEWSETELEM})

_HEADER = Struct("=IHHII")
_GENERIC = Struct(">BBH")
_CODE = Struct("=i")
NoticeT = TypeVar("NoticeT")
START = _HEADER.size + _GENERIC.size
_RECEIVE = 1 << 16
_RECEIVE_BUFFER = 8 << 20
_ATTEMPTS = 5
_EMPTY_SEND_BUFFER = 1 << 20
_NO_RIGHT = "no CAP_NET_ADMIN: the agent must run as root or with that capability"


class MissingObjectError(TableError):
    """The requested object does not exist (ENOENT)."""


def pack_message(kind: int, family: int, flags: int, sequence: int, body: bytes, resource: int = 0) -> bytes:
    """Return one nfnetlink message."""
    return _HEADER.pack(START + len(body), kind, flags, sequence, 0) + _GENERIC.pack(family, 0, resource) + body


class Netlink:
    """One socket, in the network namespace of the thread that creates it."""

    def __init__(self, subsystem: int = NFTABLES) -> None:
        self._subsystem = subsystem
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_NETFILTER)
        self._socket.bind((0, 0))
        self._socket.setsockopt(_SOL_NETLINK, _EXT_ACK, 1)
        self._socket.setsockopt(_SOL_NETLINK, _CAP_ACK, 1)
        self._set_buffer(_SO_RCVBUFFORCE, _RECEIVE_BUFFER)
        self._sequence = 0

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    @property
    def namespace(self) -> int:
        """The cookie of the network namespace, which the kernel gives to no other one until it is booted again (socket(7), Linux 5.14)."""
        return int.from_bytes(self._socket.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, 8), byteorder)

    def _set_buffer(self, option: int, size: int) -> None:
        """Set a buffer to this size. A user namespace may not force it, so there the kernel's general maximum limits it."""
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, option, size)
        except PermissionError:
            self._socket.setsockopt(socket.SOL_SOCKET, _UNFORCED[option], size)

    def _take_sequence(self) -> int:
        self._sequence = (self._sequence + 1) & 0xFFFFFFFF
        return self._sequence

    def ask(self, kind: int, bodies: list[bytes], family: int = INET) -> list[bytes | None]:
        """Send one request for each body, all at once. Return the attributes of each answer, None for objects that do not exist."""
        first = self._sequence + 1
        self._send(b"".join(pack_message(self._subsystem | kind, family, _REQUEST, self._take_sequence(), body) for body in bodies))
        answers: dict[int, bytes | None] = {}
        while len(answers) < len(bodies):
            for reply, _, sequence, body in self._receive():
                if reply == _ERROR:
                    _raise_unless_gone(body)
                    answers[sequence] = None
                else:
                    answers[sequence] = body
        return [answers.get(first + at) for at in range(len(bodies))]

    def begin_train(self, kind: int, body: bytes, family: int = INET) -> int:
        """Send one request that has many answers, and an acknowledgement behind them. All have arrived then; returns their sequence."""
        asked = self._take_sequence()
        self._send(pack_message(self._subsystem | kind, family, _REQUEST | _ACK, asked, body))
        return asked

    def receive_columns(self, into: MessageColumns) -> int:
        """Receive what has arrived, and return the number of messages: 0 if some were lost because the buffer was full."""
        try:
            return into.receive(self._socket)
        except OSError as error:
            if error.errno not in (errno.ENOBUFS, errno.EAGAIN):
                raise
            self._drain()
            return 0

    def dump(self, kind: int, body: bytes = b"", family: int = INET) -> list[bytes]:
        """Return the attributes of every message of a dump. Repeats the dump if a commit came between.

        Raises MissingObjectError if the table or set does not exist.
        """
        for _ in range(_ATTEMPTS):
            parts = list(self.iter_dump(kind, body, family))
            if all(undisturbed for _, undisturbed in parts):
                return [each for bodies, _ in parts for each in bodies]
        raise TableError(f"the ruleset changed during each of {_ATTEMPTS} dumps")

    def iter_dump(self, kind: int, body: bytes = b"", family: int = INET) -> Iterator[tuple[list[bytes], bool]]:
        """Iterate over a dump: the attributes of a datagram's messages, and True if no commit came since the datagram before.

        The kernel continues when the next datagram is read, by counting from the start. So whatever is deleted or added meanwhile
        can make it leave out elements or repeat them. Raises MissingObjectError if the table or set does not exist, or does not any more.
        """
        asked = self._take_sequence()
        self._send(pack_message(self._subsystem | kind, family, _REQUEST | _ROOT_MATCH, asked, body))
        done = False
        while not done:
            messages = [each for each in self._receive() if each[2] == asked]
            bodies = [body for reply, _, _, body in messages if reply not in (_DONE, _ERROR)]
            for reply, _, _, last in messages:
                if reply in (_DONE, _ERROR):
                    _raise(last)
                    done = True
            yield bodies, not any(flags & _INTERRUPTED for _, flags, _, _ in messages)

    def tell(self, kind: int, bodies: list[bytes], family: int) -> int:
        """Send requests that the kernel executes one by one. Return how many succeeded; the others were about missing objects."""
        first = self._sequence + 1
        self._send(b"".join(pack_message(self._subsystem | kind, family, _REQUEST | _ACK, self._take_sequence(), body) for body in bodies))
        answered = done = 0
        while answered < len(bodies):
            for reply, _, sequence, body in self._receive():
                if reply == _ERROR and sequence >= first:
                    _raise_unless_gone(body)
                    answered += 1
                    done += not _CODE.unpack_from(body)[0]
        return done

    def transact(self, steps: list[tuple[int, bytes]]) -> None:
        """Send messages (kind, body) as one transaction. Raises CommitRefusedError, and nothing has changed then: StepRefusedError, or
        another if the kernel did not take the messages.
        """
        first = self._sequence + 2
        parts = [pack_message(_BATCH_BEGIN, UNSPEC, _REQUEST, self._take_sequence(), b"", NFTABLES >> 8)]
        for kind, body in steps:
            flags = _REQUEST | (_CREATE if kind in _MAKING else 0)
            parts.append(pack_message(NFTABLES | kind, INET, flags, self._take_sequence(), body))
        parts.append(pack_message(_BATCH_END, UNSPEC, _REQUEST, self._take_sequence(), b"", NFTABLES >> 8))
        batch = b"".join(parts)
        self._set_buffer(_SO_SNDBUFFORCE, max(2 * len(batch), _EMPTY_SEND_BUFFER))
        try:
            self._send(batch)  # the kernel takes all of it or, with an error, nothing (netlink_sendmsg)
        except TableError as error:
            raise CommitRefusedError(str(error)) from error
        self._raise_refusals(first)

    def join(self, group: int) -> None:
        """Join a multicast group (NFNLGRP_*). A listening socket should send no requests afterwards. Raises TableError if it may not."""
        try:
            self._socket.setsockopt(_SOL_NETLINK, _ADD_MEMBERSHIP, group)
        except PermissionError as error:
            raise TableError(_NO_RIGHT) from error

    def leave(self, group: int) -> None:
        """Leave a multicast group. Messages that have arrived can still be received."""
        self._socket.setsockopt(_SOL_NETLINK, _DROP_MEMBERSHIP, group)

    def set_receive_buffer(self, octets: int) -> None:
        """Set the receive buffer, in octets."""
        self._set_buffer(_SO_RCVBUFFORCE, octets)

    def receive_notices(self) -> list[tuple[int, bytes]]:
        """Return kind and attributes of the next messages to a group; raises like `receive_notice`. The kernel sends several at once."""
        return [(kind & 0xFF, body) for kind, _, _, body in self._receive(socket.MSG_DONTWAIT)]

    def receive_notice(self) -> tuple[int, int, bytes]:
        """Return type, family and attributes of the next message to a group.

        Raises BlockingIOError if there is none, and OSError with ENOBUFS if messages were lost.
        """
        octets = self._socket.recv(_RECEIVE, socket.MSG_DONTWAIT)
        length, kind, *_ = _HEADER.unpack_from(octets)
        family, *_ = _GENERIC.unpack_from(octets, _HEADER.size)
        return kind, family, octets[START:length]

    def _raise_refusals(self, first: int) -> None:
        """Raise the first refusal of a batch.

        The kernel processes a batch while it is sent: its errors have arrived, and no message means success.
        """
        while True:
            try:
                replies = self._receive(socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            for reply, _, sequence, body in replies:
                if reply == _ERROR and (code := -_CODE.unpack_from(body)[0]):
                    self._drain()
                    raise StepRefusedError(sequence - first, code, _parse_offset(body))

    def _drain(self) -> None:
        try:
            while True:
                self._socket.recv(_RECEIVE, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return

    def _send(self, octets: bytes) -> None:
        try:
            self._socket.send(octets)
        except OSError as error:
            raise TableError(f"netlink: {error.strerror}") from error

    def _receive(self, flags: int = 0) -> list[tuple[int, int, int, bytes]]:
        """Return type, flags, sequence and attributes of the messages in one datagram; the body of an error begins with its code."""
        octets = self._socket.recv(_RECEIVE, flags)
        messages, start = [], 0
        while start + _HEADER.size <= len(octets):
            length, kind, flag, sequence, _ = _HEADER.unpack_from(octets, start)
            skip = _HEADER.size if kind in (_ERROR, _DONE) else START
            messages.append((kind, flag, sequence, octets[start + skip : start + length]))
            start += (length + 3) & ~3
        return messages


class SocketPool:
    """Sockets of one subsystem, each used by one thread at a time and kept open afterwards.

    Closing a socket of netfilter waits until the kernel has freed what transactions deleted (nft_rcv_nl_event): a grace period of
    RCU, in which it accepts no other transaction.
    """

    def __init__(self, subsystem: int = NFTABLES) -> None:
        self._subsystem = subsystem
        self._idle: deque[Netlink] = deque()

    @contextmanager
    def borrow(self) -> Iterator[Netlink]:
        """Lend a socket. It is closed if the block fails: answers to what was asked may still be under way."""
        own = self._take()
        try:
            yield own
        except BaseException:
            own.close()
            raise
        self._idle.append(own)

    def _take(self) -> Netlink:
        try:
            return self._idle.pop()
        except IndexError:
            return Netlink(self._subsystem)

    def close(self) -> None:
        """Close the sockets that are not lent."""
        while self._idle:
            self._idle.pop().close()


def iter_notices(hear: Callable[[], NoticeT]) -> Iterator[NoticeT | None]:
    """Iterate over a group's messages, read by `receive_notice` or `receive_notices`, until there are no more. None: some were lost."""
    while True:
        try:
            yield hear()
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
            yield None


class Acknowledgement(NamedTuple):
    """The end of a request. code: an errno, 0: it was executed. offset: of the error in the request, 0 if the kernel does not say."""

    code: int
    offset: int


def parse_acknowledgement(octets: bytes, asked: int) -> Acknowledgement | None:
    """Parse the message with which these octets begin; None if it does not acknowledge the request with this sequence.

    Raises TableError as `dump` does, but not if an object is missing.
    """
    length, kind, _, sequence, _ = _HEADER.unpack_from(octets)
    if (kind, sequence) != (_ERROR, asked):
        return None
    body = octets[_HEADER.size : length]
    _raise_unless_gone(body)
    return Acknowledgement(-_CODE.unpack_from(body)[0], _parse_offset(body))


class StepRefusedError(CommitRefusedError):
    """The kernel refused one step of a transaction.

    offset: position of the error in the step's message, 0 if the kernel does not report it.
    """

    def __init__(self, step: int, code: int, offset: int) -> None:
        super().__init__(os.strerror(code))
        self.step, self.code, self.offset = step, code, offset


def _parse_offset(body: bytes) -> int:
    """Parse NLMSGERR_ATTR_OFFS of an extended acknowledgement, which follows the code and the refused header."""
    given = parse_attributes(body[_CODE.size + _HEADER.size :])
    return int.from_bytes(given.get(2, b""), byteorder)


def _raise_unless_gone(body: bytes) -> None:
    try:
        _raise(body)
    except MissingObjectError:
        return


def _raise(body: bytes) -> None:
    code = -_CODE.unpack_from(body)[0]
    if code == errno.EPERM:
        raise TableError(_NO_RIGHT)
    if code:
        raise (MissingObjectError if code == errno.ENOENT else TableError)(f"netlink: {os.strerror(code)}")

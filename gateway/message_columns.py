"""Receives many small messages at once, and lets the kernel sort their parts into columns. See recvmmsg(2).

In: a socket on which messages wait, and how wide their parts are. Out: for each part the octets of all messages, one behind the other,
which are compared and unpacked together. Knows no netlink.
"""

import ctypes
import os
import socket
from collections.abc import Sequence
from ctypes import POINTER, addressof, c_int, c_size_t, c_uint, c_void_p


class _Part(ctypes.Structure):  # struct iovec
    _fields_ = (("start", c_void_p), ("width", c_size_t))


class _Header(ctypes.Structure):  # struct msghdr
    _fields_ = (
        ("name", c_void_p),
        ("name_width", c_uint),
        ("parts", POINTER(_Part)),
        ("count", c_size_t),
        ("control", c_void_p),
        ("control_width", c_size_t),
        ("flags", c_int),
    )


class _Message(ctypes.Structure):  # struct mmsghdr
    _fields_ = (("header", _Header), ("length", c_uint))


_recvmmsg = ctypes.CDLL(None, use_errno=True).recvmmsg  # releases the interpreter's lock while it runs


class MessageColumns:
    """Room for `most` messages, each of which begins with parts of these widths. What follows them is dropped."""

    def __init__(self, widths: Sequence[int], most: int) -> None:
        self._widths, self._most = widths, most
        self._columns = [ctypes.create_string_buffer(width * most) for width in widths]
        self._parts = [self._cut(at) for at in range(most)]
        self._messages = (_Message * most)(*(_Message(_Header(parts=parts, count=len(widths))) for parts in self._parts))

    def _cut(self, message: int) -> ctypes.Array[_Part]:
        places = zip(self._columns, self._widths, strict=True)
        return (_Part * len(self._widths))(*(_Part(addressof(column) + message * width, width) for column, width in places))

    def receive(self, source: socket.socket) -> int:
        """Receive what waits there, and return the number of messages. Raises OSError; BlockingIOError if nothing waits."""
        received: int = _recvmmsg(source.fileno(), self._messages, self._most, socket.MSG_DONTWAIT, None)
        if received < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return received

    def get_column(self, part: int, start: int, end: int) -> bytes:
        """Return this part of the messages from `start` to `end`."""
        width = self._widths[part]
        return ctypes.string_at(addressof(self._columns[part]) + start * width, (end - start) * width)

"""Settings of gunicorn's first process, the arbiter, which listens: `gunicorn --config python:portal.web.arbiter`."""

import ctypes
import struct
from socket import SOL_SOCKET, socket
from typing import Any, Final

SO_ATTACH_FILTER: Final = 26
"""socket(7), <asm-generic/socket.h>."""
DROP_SYN: Final = (
    (0x30, 0, 0, 13),  # ldb [13]: the flags of TCP (RFC 9293, 3.1)
    (0x54, 0, 0, 0x12),  # and #SYN|ACK
    (0x15, 0, 1, 0x02),  # jeq #SYN, drop, pass
    (0x06, 0, 0, 0),  # drop: ret #0
    (0x06, 0, 0, 0xFFFF_FFFF),  # pass: ret #all
)
"""A classic BPF program (code, jump if true, jump if false, operand) that drops the first packet of each connection."""


def refuse_handshakes(listener: socket) -> None:
    """Begin no more connections, and complete those that have begun. Who connects tries again in a second, and is then refused or served.

    Without it, a connection that comes between the last accept() and the listener's end is reset, and a proxy cannot know whether its
    request was carried out.
    """
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in DROP_SYN))
    listener.setsockopt(SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", len(DROP_SYN), ctypes.addressof(program)))


def when_ready(arbiter: Any) -> None:
    """Let the arbiter refuse handshakes before it stops. Called by gunicorn when it listens.

    Not with systemd's listener, which takes the connections of the next server too.
    """
    if arbiter.systemd:
        return
    stop = arbiter.stop

    def stop_without_resets(*given: Any, **named: Any) -> None:
        for listener in arbiter.LISTENERS:
            refuse_handshakes(listener.sock)
        stop(*given, **named)

    arbiter.stop = stop_without_resets

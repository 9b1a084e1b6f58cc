"""The process in which mails are read, one after the other: `python -m apps.inbound.parser_worker`, with a socket as its standard input.

It knows no database, no secrets and no environment, and may be killed at any time. It kills itself, without a word, when a mail takes
more of the processor than it may, or the clock says that nobody waits any more; memory beyond the limit is refused to it by the kernel.
"""

import json
import resource
import signal
import socket
import struct
from typing import Any, Final

from apps.inbound import ipc_codec, parse_message
from apps.inbound.metered_parser import IN_LIBRARY
from apps.inbound.parse_limits import CONFUSING, TOO_MUCH_MEMORY, ParseLimits, Unreadable

LENGTHS: Final = struct.Struct(">II")  # of the words in JSON, and of what follows them
READY: Final = b"+"


def receive(line: socket.socket, length: int) -> bytes:
    """Exactly so many octets. Raises EOFError when the other side has ended."""
    made, at = bytearray(length), 0
    while at < length:
        got = line.recv_into(memoryview(made)[at:])
        if not got:
            raise EOFError
        at += got
    return bytes(made)


def serve(line: socket.socket) -> None:
    """Until the other side ends."""
    line.sendall(READY)
    try:
        while _serve_one(line):
            pass
    except (EOFError, ConnectionError):
        return


def _serve_one(line: socket.socket) -> bool:
    """Whether it is worth going on: who has run out of memory once is better replaced."""
    words, octets = LENGTHS.unpack(receive(line, LENGTHS.size))
    asked: dict[str, Any] = json.loads(receive(line, words))
    limits = ParseLimits(**asked["limits"])
    _set_timers(limits.seconds, limits.clock)
    try:
        mail = receive(line, octets)
        said, files = ipc_codec.pack_mail(
            parse_message.parse_mail(mail, asked["sender"], asked["recipients"], limits, asked["authserv_id"])
        )
    except Unreadable as reason:
        said, files = ipc_codec.pack_refusal(reason), []
    except MemoryError:
        said, files = ipc_codec.pack_refusal(Unreadable(TOO_MUCH_MEMORY)), []
    except IN_LIBRARY as error:
        said, files = ipc_codec.pack_refusal(Unreadable(CONFUSING, type(error).__name__)), []
    line.sendall(LENGTHS.pack(len(said), sum(map(len, files))) + said)
    for each in files:
        line.sendall(each)
    _set_timers(0, 0)
    return TOO_MUCH_MEMORY.encode() not in said


def _set_timers(seconds: float, clock: float) -> None:
    """From now on so many seconds of the processor, and of the clock; 0: without end. The signals' default is to end the process."""
    signal.setitimer(signal.ITIMER_REAL, clock)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def confine_process(memory: int) -> None:
    """No more memory than this, no files, no core."""
    for what, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    confine_process(ParseLimits.memory)
    with socket.socket(fileno=0) as standard_input:
        serve(standard_input)

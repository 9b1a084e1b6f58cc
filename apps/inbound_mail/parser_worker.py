"""Process that parses mails, one after the other: `python -m apps.inbound_mail.parser_worker`, with a socket as its standard input.

It has no database, no secrets and no environment, and may be killed at any time. Its own timers kill it silently when a mail takes more
processor time than allowed, or when the parent no longer waits; the kernel refuses it memory beyond the limit.
"""

import json
import resource
import signal
import socket
import struct
from typing import Any, Final

from apps.inbound_mail import ipc_codec, parse_message
from apps.inbound_mail.metered_parser import IN_LIBRARY
from apps.inbound_mail.parse_limits import CONFUSING, TOO_MUCH_MEMORY, ParseLimits, Unreadable

LENGTHS: Final = struct.Struct(">II")  # of the JSON, and of the octets that follow it
READY: Final = b"+"


def receive_octets(line: socket.socket, length: int) -> bytes:
    """Receive exactly this many octets. Raises EOFError when the other side has closed."""
    made, at = bytearray(length), 0
    while at < length:
        got = line.recv_into(memoryview(made)[at:])
        if not got:
            raise EOFError
        at += got
    return bytes(made)


def serve_parse_requests(line: socket.socket) -> None:
    """Parse mails until the other side closes."""
    line.sendall(READY)
    try:
        while _serve_one(line):
            pass
    except (EOFError, ConnectionError):
        return


def _serve_one(line: socket.socket) -> bool:
    """Parse one mail and send the result. Return False after running out of memory: the process is then better replaced."""
    words, octets = LENGTHS.unpack(receive_octets(line, LENGTHS.size))
    asked: dict[str, Any] = json.loads(receive_octets(line, words))
    limits = ParseLimits(**asked["limits"])
    _set_timers(limits.seconds, limits.clock)
    try:
        mail = receive_octets(line, octets)
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
    """Set the limits from now on for processor time and wall-clock time, in seconds; 0: none. The signals end the process by default."""
    signal.setitimer(signal.ITIMER_REAL, clock)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def confine_process(memory: int) -> None:
    """Limit the process to this much memory, and forbid writing files and core dumps."""
    for what, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    confine_process(ParseLimits.memory)
    with socket.socket(fileno=0) as standard_input:
        serve_parse_requests(standard_input)

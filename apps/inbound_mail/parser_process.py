"""Parses mails in a child process (`parser_worker.py`), and kills it when it takes too long. A child serves many mails.

Comes in: octets and envelope. Goes out: a `ReceivedMail`, `Unreadable` with the reason, or `OutOfTime` where the machine was too busy.
A mail can harm only the child.
"""

import json
import os
import signal
import socket
import sys
from dataclasses import asdict
from pathlib import Path
from subprocess import DEVNULL, Popen
from threading import Lock
from time import monotonic
from typing import Any, Final, Self

from apps.inbound_mail import ipc_codec, parser_worker
from apps.inbound_mail.message import ReceivedMail
from apps.inbound_mail.parse_limits import DIED, MIB, TOO_LARGE, TOO_MUCH_MEMORY, TOO_SLOW, OutOfTime, ParseLimits, Unreadable

ROOT: Final = Path(__file__).parents[2]
START_WITHIN: Final = 60.0  # seconds, also on a busy machine
GRACE: Final = 0.3  # seconds that the child gets beyond the limits, because it normally ends itself
MAILS: Final = 500  # after which a child is replaced
WORDS: Final = 16 * MIB  # octets that an answer may have besides files


class MailReader:
    """Reads mails in at most one child, started on demand. Threads take turns; after a fork, each process starts its own child.

    authserv_id: the name of our own receiving mail server, which is trusted to authenticate senders; "" for none.
    """

    def __init__(self, limits: ParseLimits = ParseLimits(), authserv_id: str = "") -> None:  # noqa: B008 - a frozen value
        self._limits, self._authserv_id = limits, authserv_id
        self._lock = Lock()
        self._child: _Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def read(self, octets: bytes, sender: str | None, recipients: list[str]) -> ReceivedMail:
        """Parse a mail. Raises Unreadable; OutOfTime, and OSError when no child can be started, which say nothing about the mail."""
        if len(octets) > self._limits.octets:
            raise Unreadable(TOO_LARGE)
        with self._lock:
            child = self._get_child()
            try:
                asked = {"sender": sender, "recipients": recipients, "authserv_id": self._authserv_id}
                return child.read(octets, asked, self._limits)
            finally:
                if child.worn:
                    self._end()

    def close(self) -> None:
        """End the child, if this process has one."""
        with self._lock:
            self._end()

    def _get_child(self) -> "_Child":
        if self._child and self._child.owner != os.getpid():
            self._child.abandon()
            self._child = None
        if self._child and self._child.is_gone():
            self._end()
        if self._child is None:
            self._child = _Child()
        return self._child

    def _end(self) -> None:
        if self._child and self._child.owner == os.getpid():
            self._child.end()
        self._child = None


class _Child:
    """A running child, and the socket to it. `worn`: it is dead, or should be replaced."""

    def __init__(self) -> None:
        self.owner, self.worn, self._mails = os.getpid(), False, 0
        self._line, its = socket.socketpair()
        with its:
            command = [sys.executable, "-E", "-s", "-m", parser_worker.__name__]
            self._process = Popen(command, stdin=its.fileno(), stdout=DEVNULL, stderr=DEVNULL, cwd=ROOT, env={}, start_new_session=True)
        self._line.settimeout(START_WITHIN)
        try:
            if self._line.recv(1) != parser_worker.READY:
                raise ChildProcessError("The mail parser does not start. To see why, run: python -m apps.inbound_mail.parser_worker")
        except OSError:
            self.end()
            raise

    def abandon(self) -> None:
        """Forget the child in a forked process: it belongs to the parent, which alone may talk to it and wait for it."""
        self._line.close()
        self._process.returncode = 0  # so that Popen does not wait for it here

    def is_gone(self) -> bool:
        """Return True if the child ended between two mails."""
        return self._process.poll() is not None

    def end(self) -> None:
        self.worn = True
        self._line.close()
        self._process.kill()
        self._process.wait()

    def read(self, octets: bytes, about: dict[str, Any], limits: ParseLimits) -> ReceivedMail:
        end = monotonic() + limits.clock + GRACE
        asked = json.dumps({**about, "limits": asdict(limits)}).encode()
        self.worn = True  # unless it answers
        try:
            self._send(parser_worker.LENGTHS.pack(len(asked), len(octets)) + asked, end)
            self._send(octets, end)
            words, files = parser_worker.LENGTHS.unpack(self._receive(parser_worker.LENGTHS.size, end))
            if words > WORDS or files > limits.octets:
                raise ValueError("the answer is larger than permitted")
            said = self._receive(words, end)
            if sum(sizes := ipc_codec.parse_file_sizes(said)) != files:
                raise ValueError("the files' lengths do not add up to the announced one")
            held = [self._receive(size, end) for size in sizes]
            mail = ipc_codec.unpack_mail(said, held)
        except TimeoutError as error:
            raise OutOfTime from error
        except (OSError, EOFError) as error:
            raise self._explain_death() from error
        except (ValueError, LookupError, TypeError) as error:
            raise Unreadable(DIED, f"{type(error).__name__}: {error}"[:200]) from error
        except Unreadable as reason:
            self._count_answer(reason.reason)
            raise
        self._count_answer()
        return mail

    def _count_answer(self, reason: str = "") -> None:
        self._mails += 1
        self.worn = self._mails >= MAILS or reason == TOO_MUCH_MEMORY

    def _explain_death(self) -> Unreadable | OutOfTime:
        """Return the reason for the child's death."""
        self._process.kill()
        code = self._process.wait()
        if -code == signal.SIGALRM:
            return OutOfTime()
        if -code == signal.SIGPROF:
            return Unreadable(TOO_SLOW)
        return Unreadable(DIED, f"signal {-code}" if code < 0 else f"exit {code}")

    def _send(self, octets: bytes, end: float) -> None:
        self._line.settimeout(max(end - monotonic(), 0.001))
        self._line.sendall(octets)  # the timeout applies to the whole call

    def _receive(self, length: int, end: float) -> bytes:
        made, at = bytearray(length), 0
        while at < length:
            self._line.settimeout(max(end - monotonic(), 0.001))
            got = self._line.recv_into(memoryview(made)[at:])
            if not got:
                raise EOFError
            at += got
        return bytes(made)

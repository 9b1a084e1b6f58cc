"""The way to an agent: a relay program's standard input and output, kept open, with a limit on every answer.

Comes in: requests of `firewall.wire`; goes out: replies, or `Unreachable` with a sentence. Which program relays depends on
the gateway's link; none of them is a shell, and no text from the database is more than one argument.
"""

import itertools
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import IO

from django.conf import settings

from apps.network.models import Gateway
from firewall import wire
from firewall.codec import WireError

PATIENCE = 20.0  # seconds without a single octet
WHOLE_PATIENCE = 120.0  # seconds until the answer is complete
READ_SIZE = 1 << 16


class Unreachable(Exception):  # noqa: N818 - a state of the world, not an error of the program
    """The gateway did not answer. The text says how."""


def command(gateway: Gateway) -> list[str]:
    """The program that relays to the gateway's agent."""
    socket = settings.GATEWAY_SOCKETS / f"{gateway.name}.sock"
    relay = [sys.executable, "-m", "gateway", "relay", "--socket", str(socket)]
    if gateway.link == Gateway.Link.LOCAL or not settings.LAB_NAME:  # without a lab, agents run on this machine itself
        return relay
    lab = ["--name", settings.LAB_NAME, "--state", str(settings.LAB_STATE)]
    return [sys.executable, "-m", "lab", *lab, "exec", gateway.name, "--", *relay]


class Channel:
    """One kept-open conversation with one agent. One question at a time; a fault closes it, the next question opens it anew."""

    def __init__(self, name: str, program: list[str]) -> None:
        self.name = name
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count(1)
        self._lock = Lock()
        self.sent = 0  # octets of the last request

    def ask(self, request: wire.Request) -> wire.Reply:
        """The agent's answer. Raises Unreachable; a channel that had been idle is opened anew once."""
        with self._lock:
            fresh = self._process is None or self._process.poll() is not None
            try:
                return self._converse(request)
            except Unreachable:
                self.close()
                if fresh:
                    raise
            try:
                return self._converse(request)
            except Unreachable:
                self.close()
                raise

    def _converse(self, request: wire.Request) -> wire.Reply:
        process = self._open()
        number = next(self._numbers)
        try:
            self._send(process, number, request)
            return wire.reply(self._receive(process, number))
        except (OSError, WireError) as error:
            raise Unreachable(self._last_words(process) or str(error)) from error

    def _open(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(self._program, stdin=pipe, stdout=pipe, stderr=pipe, cwd=settings.ROOT, start_new_session=True)
        return self._process

    def _send(self, process: subprocess.Popen[bytes], number: int, request: wire.Request) -> None:
        self.sent = 0
        for line in wire.lines(number, request):
            _pipe(process.stdin).write(line)
            self.sent += len(line)
        _pipe(process.stdin).flush()

    def _receive(self, process: subprocess.Popen[bytes], number: int) -> object:
        assembler = wire.Assembler()
        for line in _lines(_pipe(process.stdout).fileno()):
            answer = assembler.feed(line)
            if answer and answer[0] == number:
                return answer[1]
        raise WireError("the connection was closed")

    def _last_words(self, process: subprocess.Popen[bytes]) -> str:
        """What the relay said on standard error before it ended."""
        if process.poll() is None:
            return ""
        return _pipe(process.stderr).read(4096).decode(errors="replace").strip()

    def close(self) -> None:
        """End the relay; the agent goes on."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                _close(pipe)


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise WireError("the relay has no pipe")
    return pipe


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:  # what was buffered for a relay that is gone
        return


def _lines(descriptor: int) -> Iterator[bytes]:
    """Lines as they come. Raises WireError when nothing comes for too long, or too much without a line's end."""
    buffer, give_up = b"", time.monotonic() + WHOLE_PATIENCE
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while time.monotonic() < give_up:
            if not selector.select(PATIENCE):
                raise WireError(f"no answer within {PATIENCE:.0f} s")
            octets = os.read(descriptor, READ_SIZE)
            if not octets:
                return
            *complete, buffer = (buffer + octets).split(b"\n")
            yield from complete
            if len(buffer) > wire.MAX_LINE:
                raise WireError(f"a line longer than {wire.MAX_LINE} octets")
    raise WireError(f"no complete answer within {WHOLE_PATIENCE:.0f} s")


_channels: dict[int, Channel] = {}
_channels_lock = Lock()


def channel(gateway: Gateway) -> Channel:
    """This process's channel to the gateway; opened by the first question."""
    program = command(gateway)
    with _channels_lock:
        known = _channels.get(gateway.pk)
        if known is None or known._program != program:
            known = _channels[gateway.pk] = Channel(gateway.name, program)
        return known


def close_all() -> None:
    """End all relays of this process."""
    with _channels_lock:
        for known in _channels.values():
            known.close()
        _channels.clear()


@contextmanager
def fresh_channels() -> Iterator[Callable[[Gateway], Channel]]:
    """Channels of one's own, closed at the end: for commands and tests."""
    own: dict[int, Channel] = {}
    try:
        yield lambda gateway: own.setdefault(gateway.pk, Channel(gateway.name, command(gateway)))
    finally:
        for each in own.values():
            each.close()

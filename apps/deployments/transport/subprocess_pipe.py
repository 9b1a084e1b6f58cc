"""A running relay program: lines in, lines out, with a limit on every wait. Knows neither gateways nor messages."""

import os
import selectors
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

READ_SIZE = 1 << 16
LAST_WORDS = 8192  # octets
ENDING = 1.0  # seconds for a program to exit after it closed its output


class EndedError(Exception):
    """The program ended, or the other side hung up. The message is its standard error."""


class SilentError(Exception):
    """The program runs but made no progress in time. The message says what was awaited."""


class RelayProcess:
    """A program that starts at once and is killed by `close`."""

    def __init__(self, arguments: Sequence[str], directory: Path) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(arguments, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, cwd=directory, start_new_session=True)
        self._input, self._output, self._errors = map(_unblock, (self._process.stdin, self._process.stdout, self._process.stderr))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def send(self, line: bytes, patience: float) -> None:
        """Write the whole line. patience: seconds without progress. Raises EndedError or SilentError."""
        rest = memoryview(line)
        try:
            while rest:
                if not _is_ready(self._input, selectors.EVENT_WRITE, patience):
                    raise SilentError(f"it accepted no more data within {patience:.0f} s")
                with suppress(BlockingIOError):
                    rest = rest[os.write(self._input.fileno(), rest) :]
        except BrokenPipeError as error:
            raise EndedError(self._read_last_words()) from error

    def iter_lines(self, patience: float, longest: int) -> Iterator[bytes]:
        """Yield lines as they come. patience: seconds without an octet; longest: octets of a line.

        Raises EndedError at the end of the output, SilentError when a limit is exceeded.
        """
        buffer = b""
        while True:
            if not _is_ready(self._output, selectors.EVENT_READ, patience):
                raise SilentError(f"no answer within {patience:.0f} s")
            octets = os.read(self._output.fileno(), READ_SIZE)
            if not octets:
                raise EndedError(self._read_last_words())
            *complete, buffer = (buffer + octets).split(b"\n")
            yield from complete
            if len(buffer) > longest:
                raise SilentError(f"it sent a line longer than {longest} octets")

    def _read_last_words(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDING)
        try:
            return os.read(self._errors.fileno(), LAST_WORDS).decode(errors="replace")
        except BlockingIOError:
            return ""

    def close(self) -> None:
        """Kill the program and wait for its exit."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._input, self._output, self._errors):
            pipe.close()


def _unblock(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise TypeError("the relay was started without pipes")
    os.set_blocking(pipe.fileno(), False)
    return pipe


def _is_ready(pipe: IO[bytes], event: int, patience: float) -> bool:
    """Whether the pipe can be read or written within so many seconds."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, event)
        return bool(selector.select(patience))

"""What people see: lines of many processes, each with the aligned name of the one that spoke, and steps with their times."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

COLOURS = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)
RED, GREEN, FAINT = 31, 32, 2
LONGEST_LINE = 16_384


class Lines:
    """Cuts a stream of bytes into lines of text; a line longer than LONGEST_LINE is cut into several."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[str]:
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            yield line.rstrip(b"\r").decode(errors="replace")
        while len(self._rest) > LONGEST_LINE:
            head, self._rest = self._rest[:LONGEST_LINE], self._rest[LONGEST_LINE:]
            yield head.decode(errors="replace")

    def end(self) -> Iterator[str]:
        if self._rest:
            yield self._rest.decode(errors="replace")
        self._rest = b""


class Output:
    """Writes to one stream; in colour only if it is a terminal (and NO_COLOR is not set)."""

    def __init__(self, stream: TextIO | None = None, *, width: int = 10) -> None:
        self._stream = stream or sys.stdout
        self._width = width
        self._colour = self._stream.isatty() and not os.environ.get("NO_COLOR")
        self._names: dict[str, int] = {}

    def line(self, name: str, text: str) -> None:
        """A line that the named process wrote."""
        colour = self._names.setdefault(name, COLOURS[len(self._names) % len(COLOURS)])
        self.say(f"{self.paint(f'{name:<{self._width}} │', colour)} {text}")

    def say(self, text: str = "") -> None:
        # Whoever read us may be gone (`script/server | head`); processes must be stopped in order all the same.
        with suppress(BrokenPipeError, ValueError):
            self._stream.write(text + "\n")
            self._stream.flush()

    def paint(self, text: str, colour: int) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colour else text

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Shows what was done and how long it took, or that it failed."""
        started = time.monotonic()
        try:
            yield
        except BaseException:
            self.say(f"{self.paint('✗', RED)} {what}")
            raise
        self.say(f"{self.paint('✓', GREEN)} {what} {self.paint(f'{time.monotonic() - started:.1f} s', FAINT)}")

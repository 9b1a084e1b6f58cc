"""Terminal output: lines of many processes, each with the aligned name of its process, and steps with their durations."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

COLOURS = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)
RED, GREEN, FAINT = 31, 32, 2
LONGEST_LINE = 16_384
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAME_SECONDS, REMINDER_SECONDS = 0.1, 10.0
CLEAR_LINE = "\r\x1b[2K"


class LineSplitter:
    """Splits a stream of bytes into lines of text; a line longer than LONGEST_LINE is split into several."""

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
    """Writes to one stream, in colour only if it is a terminal and NO_COLOR is not set. Threads may share one."""

    def __init__(self, stream: TextIO | None = None, *, width: int = 10) -> None:
        self._stream = stream or sys.stdout
        self._width = width
        self._terminal = self._stream.isatty()
        self._colour = self._terminal and not os.environ.get("NO_COLOR")
        self._names: dict[str, int] = {}
        self._lock = threading.Lock()
        self._steps: list[tuple[str, float]] = []  # those in progress, with their start times
        self._moving = ""  # the line below all others, which shows them

    def write_line(self, name: str, text: str) -> None:
        """Print a line that the named process wrote."""
        colour = self._names.setdefault(name, COLOURS[len(self._names) % len(COLOURS)])
        self.say(f"{self.paint(f'{name:<{self._width}} │', colour)} {text}")

    def say(self, text: str = "") -> None:
        with self._lock:
            self._write(f"{CLEAR_LINE if self._moving else ''}{text}\n{self._moving}")

    def paint(self, text: str, colour: int) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colour else text

    @contextmanager
    def show_step(self, what: str) -> Iterator[None]:
        """Print that a step begins, show that it is running, and print how long it took, or that it failed.

        Several steps may run at once.
        """
        this, ended = (what, time.monotonic()), threading.Event()
        self._steps.append(this)
        sign = threading.Thread(target=self._show_progress, args=(this, ended), daemon=True)
        sign.start()
        try:
            yield
        except BaseException:
            self._end(this, sign, ended, f"{self.paint('✗', RED)} {what}")
            raise
        self._end(this, sign, ended, f"{self.paint('✓', GREEN)} {self._format_timed(*this, '.1f')}")

    def _end(self, this: tuple[str, float], sign: threading.Thread, ended: threading.Event, line: str) -> None:
        self._steps.remove(this)
        ended.set()
        sign.join()
        self.say(line)

    def _show_progress(self, this: tuple[str, float], ended: threading.Event) -> None:
        if self._terminal:
            self._show_moving_sign(ended)
        else:
            self._show_reminders(*this, ended)

    def _show_reminders(self, what: str, started: float, ended: threading.Event) -> None:
        self.say(f"· {what} …")
        while not ended.wait(REMINDER_SECONDS):
            self.say(f"· {what} … {time.monotonic() - started:.0f} s")

    def _show_moving_sign(self, ended: threading.Event) -> None:
        while True:
            self._move()
            if ended.wait(FRAME_SECONDS):
                break
        self._move()

    def _format_timed(self, what: str, started: float, digits: str = ".0f") -> str:
        return f"{what} {self.paint(f'{time.monotonic() - started:{digits}} s', FAINT)}"

    def _move(self) -> None:
        """Draw the line of all steps in progress anew, or clear it."""
        with self._lock:
            frame = self.paint(FRAMES[int(time.monotonic() / FRAME_SECONDS) % len(FRAMES)], GREEN)
            self._moving = "   ".join(f"{frame} {self._format_timed(*each)}" for each in self._steps)
            self._write(CLEAR_LINE + self._moving)

    def _write(self, text: str) -> None:
        # The reader of the pipe (`script/server | head`) or the terminal may be gone; processes must still be stopped in order.
        with suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()

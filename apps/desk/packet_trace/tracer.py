"""Asks trace questions in a child process (`tracer_program.py`), so that a web worker never holds a compiled ruleset.

A child serves many questions, compiles what changed since the last one, and ends by itself when nobody asks any more.
"""

import sys
from multiprocessing.connection import Pipe
from pathlib import Path
from subprocess import DEVNULL, Popen
from threading import Lock
from typing import Final

from django.utils import translation
from django.utils.translation import gettext as _

from apps.desk.packet_trace import tracer_program
from apps.desk.packet_trace.answer import TraceAnswer
from apps.desk.packet_trace.question import TraceQuestion

ROOT: Final = Path(__file__).parents[3]
PATIENCE: Final = 300.0  # seconds for an answer; the first one in a network of a million members takes a minute
ATTEMPTS: Final = 2  # the first child may end just when it is asked


class TracerUnavailable(Exception):  # noqa: N818 - a state of the world
    """No child answers. Its messages are in the log of the process that asked; the text says what to do."""

    def __str__(self) -> str:
        return _(
            "The process that traces packets does not answer. Ask again; if that does not help, read the log of the web server: "
            "in a large network it needs some hundred MiB of memory."
        )


class PacketTracer:
    """Asks at most one child, started on demand. Threads take turns."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._child: _Child | None = None

    def ask(self, question: TraceQuestion) -> TraceAnswer:
        """Return the answer as `answer_question` does, but without the elements of its rulesets.

        Raises what that raises, and TracerUnavailable.
        """
        with self._lock:
            reply = self._ask_child(question)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def _ask_child(self, question: TraceQuestion) -> TraceAnswer | Exception:
        for _attempt in range(ATTEMPTS):
            try:
                return self._get_child().ask(question, translation.get_language())
            except TracerUnavailable:
                self._end()
                raise
            except (EOFError, OSError):
                self._end()
        raise TracerUnavailable(f"ended {ATTEMPTS} times")

    def close(self) -> None:
        """End the child, if there is one."""
        with self._lock:
            self._end()

    def _get_child(self) -> "_Child":
        if self._child and self._child.is_gone():
            self._end()
        if self._child is None:
            self._child = _Child()
        return self._child

    def _end(self) -> None:
        if self._child:
            self._child.end()
        self._child = None


class _Child:
    """A running child, and the connection to it."""

    def __init__(self) -> None:
        self._line, its = Pipe()
        with its:
            command = [sys.executable, "-m", tracer_program.__name__]
            self._process = Popen(command, stdin=its.fileno(), stdout=DEVNULL, cwd=ROOT, start_new_session=True)

    def ask(self, question: TraceQuestion, language: str | None) -> TraceAnswer | Exception:
        """Return the answer. Raises EOFError or OSError when the child has ended, TracerUnavailable when it is silent for PATIENCE."""
        self._line.send((question, language))
        if not self._line.poll(PATIENCE):
            raise TracerUnavailable(f"silent for {PATIENCE:.0f} s")
        reply: TraceAnswer | Exception = self._line.recv()
        return reply

    def is_gone(self) -> bool:
        """Return True if the child has ended."""
        return self._process.poll() is not None

    def end(self) -> None:
        self._line.close()
        self._process.kill()
        self._process.wait()


tracer = PacketTracer()

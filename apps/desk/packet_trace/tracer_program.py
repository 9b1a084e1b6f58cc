"""Process that answers trace questions: `python -m apps.desk.packet_trace.tracer_program`, with a socket as its standard input.

It keeps the compiled rulesets, which take hundreds of MiB in a large network and never leave a process that compiled them once. It
ends when nobody has asked for IDLE_SECONDS, and when the other side closes.
"""

import os
import sys
import traceback
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Final

import django

if TYPE_CHECKING:
    from apps.desk.packet_trace.answer import TraceAnswer
    from apps.desk.packet_trace.question import TraceQuestion

IDLE_SECONDS: Final = 300.0


def serve_questions(line: Connection, idle_seconds: float) -> None:
    """Answer questions, each with its language, until the other side closes or none has come for so many seconds."""
    try:
        while line.poll(idle_seconds):
            question, language = line.recv()
            line.send(_answer(question, language))
    except (EOFError, BrokenPipeError):
        return


def _answer(question: "TraceQuestion", language: str) -> "TraceAnswer | Exception":
    """Return the answer without the elements of its rulesets, or the exception to raise in the process that asked."""
    from django.db import close_old_connections
    from django.utils import translation

    from apps.desk.packet_trace.answer import answer_question  # needs Django to be set up

    close_old_connections()
    try:
        with translation.override(language):
            return answer_question(question).drop_elements()
    except Exception as error:
        error.add_note(traceback.format_exc())
        return error
    finally:
        close_old_connections()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    with Connection(sys.stdin.fileno()) as standard_input:
        serve_questions(standard_input, IDLE_SECONDS)

"""A relay program, and the limits on it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

from apps.deployments.transport.subprocess_pipe import EndedError, RelayProcess, SilentError

SHORT = 0.1  # seconds


@contextmanager
def relay(program: str) -> Iterator[RelayProcess]:
    """Run a Python program as a relay."""
    running = RelayProcess([sys.executable, "-S", "-c", program], Path.cwd())
    try:
        yield running
    finally:
        running.close()


def test_lines_go_there_and_back() -> None:
    with relay("import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)") as echo:
        echo.send(b"one\n", 10)
        lines = echo.iter_lines(10, 100)
        assert next(lines) == b"ONE"
        echo.send(b"x" * 80 + b"\n", 10)
        assert next(lines) == b"X" * 80


def test_a_program_that_says_nothing_is_waited_for_no_longer_than_the_limit() -> None:
    with relay("import time; time.sleep(60)") as silent, pytest.raises(SilentError, match="no answer within"):
        next(silent.iter_lines(SHORT, 100))


def test_a_program_that_takes_nothing_is_waited_for_no_longer_than_the_limit() -> None:
    with relay("import time; time.sleep(60)") as silent, pytest.raises(SilentError, match="accepted no more data"):
        silent.send(b"x" * 10_000_000, SHORT)


def test_a_program_that_goes_on_saying_something_is_waited_for() -> None:
    with relay("while True: print('x', flush=True)") as endless:
        assert set(islice(endless.iter_lines(10, 100), 10_000)) == {b"x"}


def test_a_line_without_an_end_is_cut_off() -> None:
    with relay("while True: print('x' * 100, end='')") as endless, pytest.raises(SilentError, match="longer than 1000 octets"):
        next(endless.iter_lines(10, 1000))


def test_a_program_that_ended_is_quoted() -> None:
    with relay("import sys; sys.exit('no such socket')") as ended, pytest.raises(EndedError, match="no such socket"):
        next(ended.iter_lines(10, 100))
    assert not ended.is_alive


def test_writing_to_a_program_that_ended_says_so() -> None:
    with relay("import sys; sys.exit('refused')") as ended, pytest.raises(EndedError, match="refused"):
        ended.send(b"x" * 10_000_000, 10)

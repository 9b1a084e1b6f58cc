"""How the program behind `python -m lab race` opens, counts and closes connections, over the loopback interface."""

import socket
from collections.abc import Iterator
from time import monotonic_ns

import pytest

from lab.measure.connects import SECOND, ConnectionOpener

TIMEOUT = 60  # seconds


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


@pytest.fixture
def opener(listener: socket.socket) -> Iterator[ConnectionOpener]:
    made = ConnectionOpener("127.0.0.1", listener.getsockname()[1], parallel=3, timeout=TIMEOUT)
    with made.selector:
        yield made


def finish_all(opener: ConnectionOpener) -> None:
    while opener.pending:
        for key, _ in opener.selector.select(TIMEOUT):
            opener.finish(key.data, monotonic_ns())


def test_an_open_connection_is_counted_with_its_time_and_reset(opener: ConnectionOpener, listener: socket.socket) -> None:
    opener.open()
    finish_all(opener)
    told = opener.take_report(2.0)
    assert (told.seconds, told.errors, told.histogram.count) == (2.0, {}, 1)
    assert told.longest_ms > 0
    connection, _ = listener.accept()
    with connection, pytest.raises(ConnectionResetError):
        connection.recv(1)


def test_there_is_room_for_as_many_as_are_allowed_at_once(opener: ConnectionOpener) -> None:
    opener.open()
    assert opener.room == 2
    finish_all(opener)
    assert opener.room == 3


def test_a_refused_connection_is_an_error_by_the_kernels_words(opener: ConnectionOpener, listener: socket.socket) -> None:
    listener.close()
    opener.open()
    finish_all(opener)
    told = opener.take_report(1.0)
    assert (told.errors, told.histogram.count) == ({"Connection refused": 1}, 0)


def test_an_attempt_that_takes_too_long_is_given_up_as_timed_out(opener: ConnectionOpener) -> None:
    opener.open()
    deadline = opener.compute_deadline()
    assert deadline
    opener.give_up(deadline - 1)
    assert opener.room == 2
    opener.give_up(deadline)
    assert opener.room == 3
    assert opener.compute_deadline() is None
    assert opener.take_report(1.0).errors == {"Connection timed out": 1}


def test_a_deadline_is_that_of_the_oldest_attempt(opener: ConnectionOpener) -> None:
    before = monotonic_ns()
    opener.open()
    between = monotonic_ns()
    opener.open()
    deadline = opener.compute_deadline()
    assert deadline
    assert before <= deadline - TIMEOUT * SECOND <= between
    finish_all(opener)


def test_a_report_begins_anew(opener: ConnectionOpener) -> None:
    opener.open()
    finish_all(opener)
    opener.take_report(1.0)
    told = opener.take_report(0.0)
    assert (told.buckets, told.errors, told.longest_ms) == ({}, {}, 0.0)

"""Messages that the kernel sorts into columns are what was sent, whatever their number and length."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.message_columns import MessageColumns

MOST = 5


@contextmanager
def send(messages: list[bytes]) -> Iterator[socket.socket]:
    """Yield a socket on which these messages wait."""
    to, source = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with to, source:
        for each in messages:
            to.send(each)
        yield source


@given(st.data(), st.lists(st.integers(1, 20), min_size=1, max_size=4), st.integers(1, MOST + 2))
def test_each_column_has_that_part_of_every_message_and_what_follows_is_dropped(data: st.DataObject, widths: list[int], sent: int) -> None:
    whole = sum(widths)
    messages = [data.draw(st.binary(min_size=whole, max_size=whole + 30)) for _ in range(sent)]
    columns, starts = MessageColumns(widths, MOST), [sum(widths[:at]) for at in range(len(widths))]
    with send(messages) as source:
        for some in filter(None, (messages[:MOST], messages[MOST:])):
            assert columns.receive(source) == len(some)
            for part, (start, width) in enumerate(zip(starts, widths, strict=True)):
                assert columns.get_column(part, 0, len(some)) == b"".join(each[start : start + width] for each in some)


def test_where_nothing_waits_that_is_told() -> None:
    with send([]) as source, pytest.raises(BlockingIOError):
        MessageColumns([4], MOST).receive(source)

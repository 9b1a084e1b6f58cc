"""Things that are made on another thread come in order, one ahead, and fail where they would have failed."""

from collections.abc import Iterator
from threading import Event, current_thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ahead import iter_ahead
from tests.agent.client import PATIENCE


@given(st.lists(st.integers()))
def test_things_come_in_their_order(things: list[int]) -> None:
    assert list(iter_ahead(things)) == things


def test_the_next_thing_is_made_while_one_is_used_and_none_further() -> None:
    made = [Event() for _ in range(3)]

    def make() -> Iterator[str]:
        for each in made:
            each.set()
            yield current_thread().name

    things = iter_ahead(make())
    assert next(things) != current_thread().name
    assert made[1].wait(PATIENCE)
    assert not made[2].is_set()
    assert len(list(things)) == 2


def test_an_error_comes_where_its_thing_would() -> None:
    def make() -> Iterator[int]:
        yield 1
        raise KeyError("the second cannot be made")

    things = iter_ahead(make())
    assert next(things) == 1
    with pytest.raises(KeyError, match="the second"):
        next(things)

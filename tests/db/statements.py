"""Statements of a test's connection as moments at which something else can happen."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection


@contextmanager
def call_before(words: str, act: Callable[[], object]) -> Iterator[None]:
    """Call once, before the first statement with these words is executed, as another process could at that moment."""
    left = [act]

    def call_and_execute(execute: Any, sql: str, *given: Any) -> Any:
        if words in sql and left:
            left.pop()()
        return execute(sql, *given)

    with connection.execute_wrapper(call_and_execute):
        yield
    assert not left

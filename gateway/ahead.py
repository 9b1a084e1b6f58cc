"""Makes each of many things on another thread, while the one before is used.

Worth it where using one lets go of the interpreter's lock, as the kernel's work on a transaction does.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")  # Python 3.11 has no syntax for type parameters


def iter_ahead(things: Iterable[T]) -> Iterator[T]:
    """Yield the things in their order. One more than was asked for is made, or being made; an error comes where its thing would."""
    source = iter(things)
    with ThreadPoolExecutor(1, "ahead") as maker:
        following = maker.submit(_take, source)
        while some := following.result():
            following = maker.submit(_take, source)
            yield some[0]


def _take(source: Iterator[T]) -> tuple[T] | None:
    return next(((thing,) for thing in source), None)

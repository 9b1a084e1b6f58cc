"""Registry of what each page of staff reads for its frame: counts in the navigation, the running revision, what needs attention.

An app declares a queryset with `read_with_frame` and calls it as before. In a request for a whole page (`expect_frame`) the first call
reads all of them in one query; elsewhere, as in tasks and in requests that write, each is read alone. Queries are compiled once.
"""

from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import Any

from django.db.models import QuerySet

from apps.lib.database.compiled_query import CompiledQuery
from apps.lib.database.joint_reads import JointQuery
from apps.lib.web.cached_rows import RowReader
from apps.lib.web.request_cache import cache_per_request, is_cache_open, store_for_request

FRAME: list[RowReader[[], Any]] = []


class FrameReader[Row](RowReader[[], Row]):
    """A reader that reads the whole frame with its own rows, where one is expected."""

    def __call__(self) -> tuple[Row, ...]:
        if _is_frame_expected():
            read_frame()
        return super().__call__()

    def load(self) -> Iterable[Row]:
        return self._query.read()

    @cached_property
    def _query(self) -> CompiledQuery[Row]:
        return CompiledQuery(self.build())


def read_with_frame[Row](build: Callable[[], QuerySet[Any, Row]]) -> FrameReader[Row]:
    """Decorate a function that returns a queryset; then it returns the rows, read once for a page. They must not be changed.

    The queryset has a few rows and is compiled once for each process: what changes with time has to be an expression, such as Now().
    """
    reader = FrameReader(build)
    FRAME.append(reader)
    return reader


def expect_frame() -> None:
    """Say that this request shows a page with a frame."""
    store_for_request(_is_frame_expected, (), True)


@cache_per_request
def _is_frame_expected() -> bool:
    return False


def read_frame() -> None:
    """Read everything that is registered, for the rest of a request that reads. Elsewhere, do nothing."""
    if is_cache_open():
        _read_once()


@cache_per_request
def _read_once() -> None:
    for reader, rows in zip(FRAME, compile_frame(len(FRAME)).read(), strict=True):
        reader.store(rows)


@lru_cache(1)
def compile_frame(number: int) -> JointQuery:
    """Compile the query of all `number` registered readers: once, and anew after a further one was registered."""
    return JointQuery([reader.build() for reader in FRAME[:number]])

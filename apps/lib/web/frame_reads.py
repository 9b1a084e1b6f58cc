"""Registry of what each page of staff reads for its frame: counts in the navigation, the running revision, what needs attention.

An app declares a queryset with `read_with_frame` and calls it as before. Before a page's frame is built, `read_frame` reads all of
them in one query. Without it, as in tasks and in requests that write, each is read alone.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet

from apps.lib.database.joint_reads import JointQuery
from apps.lib.web.cached_rows import RowReader
from apps.lib.web.request_cache import cache_per_request, is_cache_open

FRAME: list[RowReader[[], Any]] = []


def read_with_frame[Row](build: Callable[[], QuerySet[Any, Row]]) -> RowReader[[], Row]:
    """Decorate a function that returns a queryset; then it returns the rows, read once for a page. They must not be changed.

    The queryset has a few rows and is compiled once for each process: what changes with time has to be an expression, such as Now().
    """
    reader = RowReader(build)
    FRAME.append(reader)
    return reader


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

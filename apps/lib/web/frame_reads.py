"""Registry of what each page of staff reads for its frame: counts in the navigation, the running revision, what needs attention.

An app declares a queryset with `read_with_frame` and calls it as before. Before a page's frame is built, `read_frame` reads all of
them in one query. Without it, as in tasks and in requests that write, each is read alone.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet

from apps.lib.database.joint_reads import JointQuery
from apps.lib.web.request_cache import cache_per_request, is_cache_open, store_for_request

type QuerysetBuilder = Callable[[], QuerySet[Any, Any]]
type RowReader = Callable[[], tuple[Any, ...]]
_registered: list[tuple[QuerysetBuilder, RowReader]] = []


def read_with_frame[Row](build: Callable[[], QuerySet[Any, Row]]) -> Callable[[], tuple[Row, ...]]:
    """Decorate a function that returns a queryset; then it returns the rows, read once for a page. They must not be changed.

    The queryset has a few rows and is compiled once for each process: what changes with time has to be an expression, such as Now().
    """

    def build_rows() -> tuple[Row, ...]:
        return tuple(build())

    build_rows.__name__, build_rows.__doc__ = build.__name__, build.__doc__
    read = cache_per_request(build_rows)
    _registered.append((build, read))
    return read


def read_frame() -> None:
    """Read everything that is registered, for the rest of a request that reads. Elsewhere, do nothing."""
    if is_cache_open():
        _read_once()


@cache_per_request
def _read_once() -> None:
    for (_build, read), rows in zip(_registered, _compile(len(_registered)).read(), strict=True):
        store_for_request(read, tuple(rows))


@lru_cache(1)
def _compile(_number: int) -> JointQuery:
    """Compile the query, and anew after a further queryset was registered."""
    return JointQuery([build() for build, _read in _registered])

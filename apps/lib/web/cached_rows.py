"""Rows that several parts of a page need: read once for a request, and on demand many kinds in one query.

A selector returns a queryset and is decorated with `cache_rows`; who calls it gets rows. A page that knows what its parts will ask for
names it to `read_ahead`. In tasks, and in requests that write, each call reads anew.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, update_wrapper
from typing import Any, Final

from django.db.models import Model, QuerySet

from apps.lib.database.joint_reads import JointQuery
from apps.lib.web.request_cache import cache_per_request, is_cache_open, is_cached, store_for_request

STAND_IN: Final = -(2**62)
"""Id that no row has."""


class RowReader[**P, Row]:
    """A function that returns the rows of a queryset, read once for a request. They must not be changed. build: returns the queryset."""

    def __init__(self, build: Callable[P, QuerySet[Any, Row]]) -> None:
        self.build = build
        update_wrapper(self, build)

        def read(*args: P.args, **kwargs: P.kwargs) -> tuple[Row, ...]:
            return tuple(self.load(*args, **kwargs))

        self._read = cache_per_request(read)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> tuple[Row, ...]:
        return self._read(*args, **kwargs)

    def load(self, *args: P.args, **kwargs: P.kwargs) -> Iterable[Row]:
        """Read the rows from the database."""
        return self.build(*args, **kwargs)

    def is_known(self, *args: Any) -> bool:
        """True if this request has read these rows."""
        return is_cached(self._read, args)

    def store(self, rows: Sequence[Row], *args: Any) -> None:
        """Keep the rows for the rest of the request, unless they are known already."""
        store_for_request(self._read, args, tuple(rows))


def cache_rows[**P, Row](build: Callable[P, QuerySet[Any, Row]]) -> RowReader[P, Row]:
    """Decorate a function that returns a queryset; then it returns the rows, read once for a request."""
    return RowReader(build)


def read_ahead[Subject: Model](subject: Subject, *readers: RowReader[[Subject], Any]) -> None:
    """Read what these functions return for the subject, as far as it is not known, in one query. Only in requests that read.

    The query is compiled once for each process, so the functions may use nothing of the subject but its id.
    """
    if is_cache_open() and (wanted := tuple(each for each in readers if not each.is_known(subject))):
        for reader, rows in zip(wanted, _compile(type(subject), wanted).read(subject.pk), strict=True):
            reader.store(rows, subject)


@lru_cache(100)
def _compile(model: type[Model], readers: tuple[RowReader[[Any], Any], ...]) -> JointQuery:
    """Compile the query for an object that stands for any other: all of its fields but the id would have to be read, and are not there."""
    stand_in = model.from_db("default", [model._meta.pk.attname], [STAND_IN])
    return JointQuery([each.build(stand_in) for each in readers], STAND_IN)

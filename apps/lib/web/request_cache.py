"""Per-request cache of read queries.

It only works within requests that read (GET, HEAD): other code may change data between two queries.
"""

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from functools import wraps

from django.http import HttpRequest, HttpResponse

_cached_answers: ContextVar[dict[Hashable, object] | None] = ContextVar("known", default=None)


def cache_per_request[**P, Value](ask: Callable[P, Value]) -> Callable[P, Value]:
    """Decorator that caches results by arguments for the rest of the request. Results must not be changed, nor evaluated lazily."""

    @wraps(ask)
    def asked(*args: P.args, **kwargs: P.kwargs) -> Value:
        known = _cached_answers.get()
        if known is None:
            return ask(*args, **kwargs)
        key = (ask, args, tuple(sorted(kwargs.items())))
        if key not in known:
            known[key] = ask(*args, **kwargs)
        return known[key]  # type: ignore[return-value]  # set by the same function

    return asked


def is_cache_open() -> bool:
    """True within a request that reads."""
    return _cached_answers.get() is not None


def store_for_request[Value](ask: Callable[[], Value], value: Value) -> None:
    """Store what a cached function without arguments would return. What it has returned already in this request stays."""
    known = _cached_answers.get()
    if known is not None:
        known.setdefault((ask.__wrapped__, (), ()), value)  # type: ignore[attr-defined]  # of functools.wraps


class RequestCacheMiddleware:
    """Middleware that opens a cache for each reading request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = _cached_answers.set({} if request.method in ("GET", "HEAD") else None)
        try:
            return self._get_response(request)
        finally:
            _cached_answers.reset(token)

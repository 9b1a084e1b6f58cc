"""Per-request cache of read queries.

It only works within requests that read (GET, HEAD): other code may change data between two queries.
"""

from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

_cached_answers: ContextVar[dict[Hashable, object] | None] = ContextVar("known", default=None)


def cache_per_request[**P, Value](ask: Callable[P, Value]) -> Callable[P, Value]:
    """Decorator that caches results by arguments for the rest of the request. Results must not be changed, nor evaluated lazily."""

    @wraps(ask)
    def asked(*args: P.args, **kwargs: P.kwargs) -> Value:
        known = _cached_answers.get()
        if known is None:
            return ask(*args, **kwargs)
        key = _build_key(ask, args, kwargs)
        if key not in known:
            known[key] = ask(*args, **kwargs)
        return known[key]  # type: ignore[return-value]  # set by the same function

    return asked


def is_cache_open() -> bool:
    """True within a request that reads."""
    return _cached_answers.get() is not None


def is_cached(asked: Callable[..., object], args: tuple[Any, ...]) -> bool:
    """True if this request has the cached function's result for these arguments."""
    return _build_key(asked.__wrapped__, args, {}) in (_cached_answers.get() or {})  # type: ignore[attr-defined]  # of functools.wraps


def store_for_request[Value](asked: Callable[..., Value], args: tuple[Any, ...], value: Value) -> None:
    """Store what the cached function would return for these arguments. What it has returned already in this request stays."""
    known = _cached_answers.get()
    if known is not None:
        known.setdefault(_build_key(asked.__wrapped__, args, {}), value)  # type: ignore[attr-defined]  # of functools.wraps


def _build_key(ask: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Hashable:
    return ask, args, tuple(sorted(kwargs.items()))


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

import pytest
from django.http import HttpRequest, HttpResponse

from apps.lib.web.request_cache import RequestCacheMiddleware, cache_per_request


class AskedError(Exception):
    """Error that a view raises in a test."""


def respond(method: str, numbers: list[int]) -> list[int]:
    """Return what a view gets in two requests when it asks for 3, 3, 5 and 3."""
    seen: list[int] = []

    @cache_per_request
    def next_after(start: int) -> int:
        numbers.append(start)
        return start + len(numbers)

    def view(_request: HttpRequest) -> HttpResponse:
        seen.extend(next_after(start) for start in (3, 3, 5, 3))
        return HttpResponse()

    request = HttpRequest()
    request.method = method
    RequestCacheMiddleware(view)(request)
    RequestCacheMiddleware(view)(request)
    return seen


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_page_asks_once_for_each_argument_and_the_next_page_again(method: str) -> None:
    asked: list[int] = []
    assert respond(method, asked) == [4, 4, 7, 4, 6, 6, 9, 6]
    assert asked == [3, 5, 3, 5]


def test_a_request_that_may_change_something_always_asks() -> None:
    asked: list[int] = []
    assert respond("POST", asked) == [4, 5, 8, 7, 8, 9, 12, 11]


def test_nothing_is_kept_outside_of_a_request_not_even_after_one_that_failed() -> None:
    asked: list[int] = []

    @cache_per_request
    def ask() -> int:
        asked.append(1)
        return len(asked)

    def view(_request: HttpRequest) -> HttpResponse:
        ask()
        raise AskedError

    request = HttpRequest()
    request.method = "GET"
    with pytest.raises(AskedError):
        RequestCacheMiddleware(view)(request)
    assert (ask(), ask()) == (2, 3)

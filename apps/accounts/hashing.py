"""Password hasher with limited concurrency: a hash occupies a processor for tenths of a second, and anyone can request one.

The limits hold for each process of the web server, of which there are two. Further hashes wait for their turn for at most PATIENCE
seconds, and beyond that requests get 429.
"""

from collections.abc import Callable
from threading import BoundedSemaphore
from typing import Final

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

AT_ONCE: Final = 1
WAITING: Final = 2
PATIENCE: Final = 5.0  # seconds
RETRY_AFTER: Final = "5"


class TooManyHashings(Exception):  # noqa: N818 - becomes an answer, is not an error
    """Raised while too many passwords are being hashed."""


class ConcurrencyLimiter:
    """Runs `at_once` calls, lets `waiting` others wait for up to PATIENCE seconds, and refuses more with TooManyHashings."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._inside, self._places = BoundedSemaphore(at_once), BoundedSemaphore(at_once + waiting)

    def run[T](self, work: Callable[[], T]) -> T:
        """Call `work` and return its result. Raises TooManyHashings."""
        if not self._places.acquire(blocking=False):
            raise TooManyHashings
        try:
            if not self._inside.acquire(timeout=PATIENCE):
                raise TooManyHashings
            try:
                return work()
            finally:
                self._inside.release()
        finally:
            self._places.release()


_limiter = ConcurrencyLimiter(AT_ONCE, WAITING)


class BoundedPBKDF2(PBKDF2PasswordHasher):
    """Django's default hasher with a limit. It keeps the algorithm's name, so stored passwords remain valid."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        return _limiter.run(lambda: super(BoundedPBKDF2, self).encode(password, salt, iterations))


class HashingLimitMiddleware:
    """Middleware: answers 429 while too many passwords are being hashed."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Django calls this for an exception that a view raised."""
        if not isinstance(error, TooManyHashings):
            return None
        why = _("Many people are signing in right now. Try again in a few seconds.")
        response = render(request, "429.html", {"why": why}, status=429)
        response["Retry-After"] = RETRY_AFTER
        return response

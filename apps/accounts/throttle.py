"""Request rates of the API: for a token, for a person with a session, and for a computer that tries keys.

Each has a virtual schedule (GCRA, ITU-T I.371, annex A): one number, kept in a slot of the cache, which has a fixed number of slots. So
neither many requests nor many keys take memory. Processes that check at the same instant may let a few more requests through.
"""

from dataclasses import dataclass
from time import time as now
from typing import Any

from django.conf import settings
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from apps.accounts.bounded_cache import get_bounded_cache
from apps.accounts.models import ApiToken


@dataclass(frozen=True)
class RequestRate:
    """A rate of `each_minute` requests on average, and `at_once` after a pause."""

    each_minute: float
    at_once: int

    def admit_request(self, name: str) -> float:
        """Count one request; return by how many seconds it comes too early, 0 if it may pass.

        A request that comes too early is not counted.
        """
        at, interval, early = now(), 60 / self.each_minute, 0.0

        def count(held: Any) -> tuple[float, float] | None:
            nonlocal early
            due = max(float(held or 0), at)
            early = max(due - at - interval * (self.at_once - 1), 0)
            return None if early else (due + interval, due + interval - at)

        get_bounded_cache().change(f"rate:{name}", count)
        return early


GUESSES = RequestRate(each_minute=60, at_once=60)
"""Unknown keys from one computer."""


def throttle_key_guessing(source: str) -> None:
    """Count an unknown key from this source (client_address.get_limit_key). Raises Throttled when there were too many."""
    wait = GUESSES.admit_request(f"key:{source}")
    if wait:
        raise Throttled(wait)


class ApiThrottle(BaseThrottle):
    """Answers 429 to callers who exceed API_RATE."""

    _wait: float | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        who = f"token:{request.auth.pk}" if isinstance(request.auth, ApiToken) else f"person:{request.user.pk}"
        rate = settings.API_RATE
        self._wait = RequestRate(rate, max(1, rate // 6)).admit_request(who)
        return not self._wait

    def wait(self) -> float | None:
        return self._wait

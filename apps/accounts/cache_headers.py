"""What browsers and proxies may keep: nothing that was made for somebody who has signed in."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse


class NoStoreMiddleware:
    """Middleware: `Cache-Control: no-store` for answers to requests with a session or a key, unless the view says otherwise.

    On a shared computer the back button shows no page of whoever has signed out.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES or "Authorization" in request.headers:
            response.headers.setdefault("Cache-Control", "no-store")
        return response

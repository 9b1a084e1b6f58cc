"""Cache headers: browsers and proxies store nothing that was made for a signed-in user."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse


class NoStoreMiddleware:
    """Middleware: sets `Cache-Control: no-store` on answers to requests with a session or a key, unless the view has set the header.

    So on a shared computer the back button shows no page of a user who has signed out.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES or "Authorization" in request.headers:
            response.headers.setdefault("Cache-Control", "no-store")
        return response

"""Gives each request an id: in all lines of the log that it causes, also in those of workers, and in its answer."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from structlog.contextvars import bound_contextvars

from apps.lib.log_context import REQUEST_HEADER, choose_request_id


class RequestIdMiddleware:
    """Binds the id while the request is answered, and tells it in the header `X-Request-ID`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        chosen = choose_request_id(request.headers.get(REQUEST_HEADER, ""))
        with bound_contextvars(request=chosen):
            response = self._get_response(request)
        response.headers[REQUEST_HEADER] = chosen
        return response

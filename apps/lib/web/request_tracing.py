"""Begins a trace for each request that may save a change. Only installed while NETZWART_TRACES_URL is set."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from apps.lib import trace_timing

WRITING_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class RequestTracingMiddleware:
    """Records writing requests by method, route and status. The path, its query and everything in it stay here."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method is None or request.method not in WRITING_METHODS:
            return self._get_response(request)
        with trace_timing.trace_request(request.method):
            response = self._get_response(request)
            _describe(request, request.method, response.status_code)
            return response


def _describe(request: HttpRequest, method: str, status: int) -> None:
    if match := request.resolver_match:
        trace_timing.rename_span(f"{method} {match.route}")
        trace_timing.add_facts(route=match.route)
    trace_timing.add_facts(status=status)
    if status >= 500:
        trace_timing.mark_failed(str(status))

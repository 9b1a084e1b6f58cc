"""Error responses of the web server itself, before Django: the same problems and pages as Django's, in the client's language."""

import json
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, parse_cookie
from django.template.loader import render_to_string
from django.utils import translation

from apps.events.wsgi_environ import build_variables
from apps.lib.api.problems import MEDIA_TYPE, build_problem_body


async def send_error_response(scope: Any, send: Any, status: int, why: Callable[[], str]) -> int:
    """Send the response and return its status. `why` returns the sentence in the active language."""
    of_api = scope["path"].startswith("/api/")
    with translation.override(_choose_language(scope)):
        text = (
            json.dumps(build_problem_body(status, why())) if of_api else render_to_string("refused.html", {"status": status, "why": why()})
        )
    data = text.encode()
    headers = [
        (b"content-type", MEDIA_TYPE.encode() if of_api else b"text/html; charset=utf-8"),
        (b"content-length", str(len(data)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-security-policy", b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; frame-ancestors 'none'"),
        *([(b"retry-after", b"5")] if status == 503 else []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data})
    return status


def _choose_language(scope: Any) -> str:
    request = HttpRequest()
    request.META = build_variables(scope["headers"])
    request.COOKIES = parse_cookie(request.META.get("HTTP_COOKIE", ""))
    return translation.get_language_from_request(request) or settings.LANGUAGE_CODE

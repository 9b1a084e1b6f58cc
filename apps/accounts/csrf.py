"""Answer to a request whose CSRF token is missing or old: most often somebody's session has ended while a page was open."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

LONG_ENOUGH = 20  # characters: what somebody has written, not what they have chosen
SECRET = ("password", "token", "code")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django passes it
    """A page that says so, shows what was written so that it can be copied, and leads back by the sign-in page."""
    context = {"next": _where_from(request), "written": list(_written(request))}
    return render(request, "403_csrf.html", context, status=403)


def _where_from(request: HttpRequest) -> str:
    """The path of the page with the form; empty if it is not ours."""
    referer = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(referer, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return urlsplit(referer).path if ours else ""


def _written(request: HttpRequest) -> Iterator[str]:
    for name, value in request.POST.items():
        if isinstance(value, str) and len(value) > LONG_ENOUGH and not any(word in name.lower() for word in SECRET):
            yield value

"""Answer to a request whose CSRF token is missing or old: most often the session ended while a page was open."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.accounts.return_after_sign_in import find_form_page

LONG_ENOUGH = 20  # characters: longer values were probably written, shorter ones chosen
SECRET = ("password", "token", "code")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django passes it
    """Render a page that explains this, shows the written texts so that they can be copied, and leads back through the sign-in page."""
    context = {"next": find_form_page(request), "written": list(_iter_written_texts(request))}
    return render(request, "403_csrf.html", context, status=403)


def _iter_written_texts(request: HttpRequest) -> Iterator[str]:
    for name, value in request.POST.items():
        if isinstance(value, str) and len(value) > LONG_ENOUGH and not any(word in name.lower() for word in SECRET):
            yield value

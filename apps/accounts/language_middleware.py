"""Language of pages: the account's choice, else the browser's, which LocaleMiddleware has found before."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation

from apps.accounts.models import User


def save_language(user: User, language: str) -> None:
    """Save the account's language; "": the browser's."""
    User.objects.filter(pk=user.pk).exclude(language=language).update(language=language)
    user.language = language


def save_request_language(request: HttpRequest, language: str) -> None:
    """Save the language that was chosen in the top bar, if the request is signed in."""
    if isinstance(request.user, User):
        save_language(request.user, language)


class LanguageMiddleware:
    """Middleware: activates the account's language. It belongs behind the middleware that authenticates."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if isinstance(request.user, User) and request.user.language:
            translation.activate(request.user.language)
            request.LANGUAGE_CODE = request.user.language
        return self._get_response(request)

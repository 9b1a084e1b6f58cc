"""In which language pages come: as the account says, else as the browser asks for. LocaleMiddleware has found the latter before."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation

from apps.accounts.models import User


def save_language(user: User, language: str) -> None:
    """Chosen from now on; "": as the browser asks for."""
    User.objects.filter(pk=user.pk).exclude(language=language).update(language=language)
    user.language = language


def save_request_language(request: HttpRequest, language: str) -> None:
    """The choice of the top bar."""
    if isinstance(request.user, User):
        save_language(request.user, language)


class LanguageMiddleware:
    """Middleware, behind the one that knows who has signed in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if isinstance(request.user, User) and request.user.language:
            translation.activate(request.user.language)
            request.LANGUAGE_CODE = request.user.language
        return self._get_response(request)

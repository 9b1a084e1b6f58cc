"""Language switch in the top bar: stores the choice in a cookie, and calls the registered savers."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

type LanguageSaver = Callable[[HttpRequest, str], None]
_language_savers: list[LanguageSaver] = []


def register_language_saver(remember: LanguageSaver) -> None:
    """Register a function that saves an account's language. Called in the ready() of an app."""
    _language_savers.append(remember)


@require_POST
def switch_language(request: HttpRequest) -> HttpResponseBase:
    """Switch to this language and return to the previous page."""
    chosen = request.POST.get("language", "")
    if chosen in dict(settings.LANGUAGES):
        for remember in _language_savers:
            remember(request, chosen)
    return set_language(request)

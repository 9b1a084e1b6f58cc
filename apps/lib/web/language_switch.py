"""The choice of a language in the top bar: kept in a cookie, and by whoever registers to remember it for a person."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

type LanguageSaver = Callable[[HttpRequest, str], None]
_language_savers: list[LanguageSaver] = []


def register_language_saver(remember: LanguageSaver) -> None:
    """Called in the ready() of an app that keeps a language for people."""
    _language_savers.append(remember)


@require_POST
def choose(request: HttpRequest) -> HttpResponseBase:
    """This language from now on; then back to where the person was."""
    chosen = request.POST.get("language", "")
    if chosen in dict(settings.LANGUAGES):
        for remember in _language_savers:
            remember(request, chosen)
    return set_language(request)

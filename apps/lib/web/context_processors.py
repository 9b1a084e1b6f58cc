"""Template context of every page: the theme, the navigation, and the gateways' running revision.

Navigation and running revision are lazy: a fragment without them needs no query.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Literal

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from apps.lib.ui.states import StateKind
from apps.lib.web import navigation

Theme = Literal["auto", "light", "dark"]
THEMES: tuple[Theme, ...] = ("auto", "light", "dark")
THEME_COOKIE = "theme"


@dataclass(frozen=True)
class RunningRevision:
    """The revision that the gateways run: `RunningRevision(StateKind.OK, "r4814", "on both gateways", url)`."""

    kind: StateKind
    revision: str
    words: str
    url: str = ""

    @property
    def stamp(self) -> str:
        """A hash that changes whenever the shown content changes."""
        return sha256("\n".join((self.kind, self.revision, self.words, self.url)).encode()).hexdigest()[:16]

    @property
    def icon(self) -> str:
        return {StateKind.OK: "ok", StateKind.MOVING: "moving", StateKind.WAIT: "wait", StateKind.WARN: "warn"}.get(self.kind, "error")


RunningLookup = Callable[[HttpRequest], RunningRevision | None]
_running_lookups: list[RunningLookup] = []


def register_running_lookup(say: RunningLookup) -> RunningLookup:
    """Register the lookup of the running revision, in the ready() of the app that owns it. The last one counts."""
    _running_lookups[:] = [say]
    return say


def find_running_revision(request: HttpRequest) -> RunningRevision | None:
    return _running_lookups[0](request) if _running_lookups else None


def get_theme(request: HttpRequest) -> Theme:
    chosen = request.COOKIES.get(THEME_COOKIE)
    return next((theme for theme in THEMES if theme == chosen), "auto")


def page(request: HttpRequest) -> dict[str, object]:
    user = getattr(request, "user", None)
    return {
        "theme": get_theme(request),
        "csrf_cookie": settings.CSRF_COOKIE_NAME,
        "navigation": SimpleLazyObject(partial(navigation.build_navigation, request, user)) if user else (),
        "events_url": settings.EVENTS_URL if settings.EVENTS_URL and user and user.is_authenticated else "",
        "running": SimpleLazyObject(partial(find_running_revision, request)),
    }

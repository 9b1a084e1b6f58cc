"""Template context of every page: the theme, the navigation, and the gateways' running revision.

Navigation and running revision are lazy: a fragment without them needs no query.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
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


ICONS = {StateKind.OK: "ok", StateKind.MOVING: "moving", StateKind.WAIT: "wait", StateKind.WARN: "warn"}


@dataclass(frozen=True)
class TopBarNote:
    """What is not as planned, beside the running revision: `TopBarNote(StateKind.WARN, "IPv6 on nat-1", url)`."""

    kind: StateKind
    words: str
    url: str

    @property
    def icon(self) -> str:
        return ICONS.get(self.kind, "error")


@dataclass(frozen=True)
class RunningRevision:
    """The revision that the gateways run: `RunningRevision(StateKind.OK, "r4814", "on both gateways", url)`."""

    kind: StateKind
    revision: str
    words: str
    url: str = ""
    note: TopBarNote | None = None

    @property
    def stamp(self) -> str:
        """A hash that changes whenever the shown content changes."""
        note = (self.note.kind, self.note.words, self.note.url) if self.note else ()
        return sha256("\n".join((self.kind, self.revision, self.words, self.url, *note)).encode()).hexdigest()[:16]

    @property
    def icon(self) -> str:
        return ICONS.get(self.kind, "error")


RunningLookup = Callable[[HttpRequest], RunningRevision | None]
NoteLookup = Callable[[HttpRequest], TopBarNote | None]
_running_lookups: list[RunningLookup] = []
_note_lookups: list[NoteLookup] = []


def register_running_lookup(say: RunningLookup) -> RunningLookup:
    """Register the lookup of the running revision, in the ready() of the app that owns it. The last one counts."""
    _running_lookups[:] = [say]
    return say


def register_note_lookup(say: NoteLookup) -> NoteLookup:
    """Register the lookup of the note beside the running revision, in the ready() of the app that owns it. The last one counts."""
    _note_lookups[:] = [say]
    return say


def find_running_revision(request: HttpRequest) -> RunningRevision | None:
    """Return the running revision with its note; None while no gateway has ever answered."""
    running = _running_lookups[0](request) if _running_lookups else None
    return replace(running, note=_note_lookups[0](request)) if running and _note_lookups else running


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

"""Which window of time an address of the REST API asks for. Parameters come in; a Window, or a refusal by parameter."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils.translation import gettext as _
from rest_framework import serializers

from apps.lib.api.filter_types import MOMENT, Kind, choice
from apps.lib.api.filters import Filter, Own
from apps.traffic import windows
from apps.traffic.rollup_planner import finest_kept
from apps.traffic.windows import DAY, FIVE_MINUTES, HOUR, Preset, Window

UNITS: Final = {"5min": FIVE_MINUTES, "hour": HOUR, "day": DAY}
MOST_POINTS: Final = 10_000
FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)

WINDOW: Final[dict[str, tuple[Kind, str]]] = {
    "window": (choice(tuple(Preset)), "how long it is, up to until: day, unless told"),
    "since": (MOMENT, "from this moment on, instead of window"),
    "until": (MOMENT, "up to this moment; now, unless told"),
}
UNIT: Final[dict[str, tuple[Kind, str]]] = {"unit": (choice(tuple(UNITS)), "how long a point is; by the window, unless told")}
IN_WINDOW: Final[dict[str, Filter | Own]] = {name: Own(kind, None, words) for name, (kind, words) in WINDOW.items()}
WORDS: Final = {name: words for name, (_kind, words) in (WINDOW | UNIT).items()}
WORDS_OF_SPAN: Final = {name: words for name, (_kind, words) in WINDOW.items()}


def asked_window(params: Mapping[str, str], now: datetime) -> Window:
    """The window that an address asks for. Raises ValidationError by parameter."""
    given = {name: _read(name, kind, params[name]) for name, (kind, _words) in (WINDOW | UNIT).items() if name in params}
    until = min(given.get("until", now), now)
    if until < FIRST:
        raise _wrong("until", _("Nothing was counted before %(year)d.") % {"year": FIRST.year})
    if "since" not in given:
        return _by(windows.ending(until, Preset(given.get("window", Preset.DAY))), given.get("unit", ""), now)
    if given["since"] >= until:
        raise _wrong("since", _("It has to begin before it ends, and before now."))
    return _by(windows.between(given["since"], until), given.get("unit", ""), now)


def _read(name: str, kind: Kind, text: str) -> Any:
    try:
        return kind.read(text)
    except ValueError as error:
        raise _wrong(name, str(error)) from error


def _by(window: Window, wanted: str, now: datetime) -> Window:
    """With points of this unit; "": such as fit the window, and are kept."""
    kept = finest_kept(window.since, now)
    unit: timedelta = UNITS[wanted] if wanted else max(window.unit, kept)
    if (window.until - window.since) / unit > MOST_POINTS:
        raise _wrong("unit", _("These are more than 10,000 points. Choose a longer unit or a shorter time."))
    if unit < kept:
        raise _wrong("unit", _("Usage so old is only kept by longer units. Choose one, or a later time."))
    return Window(window.since, window.until, unit)


def _wrong(name: str, sentence: str) -> serializers.ValidationError:
    return serializers.ValidationError({f"?{name}": [sentence]})

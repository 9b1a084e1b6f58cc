"""Parses the query parameters of the REST API that choose a window of time: returns a Window, or an error that names the parameter."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils.translation import gettext as _
from rest_framework import serializers

from apps.lib.api.filter_types import MOMENT, FilterType, build_choice_type
from apps.lib.api.filters import CustomFilter, Filter
from apps.traffic import windows
from apps.traffic.rollup_planner import find_finest_unit
from apps.traffic.windows import DAY, FIVE_MINUTES, HOUR, TimeWindow, WindowPreset

UNITS: Final = {"5min": FIVE_MINUTES, "hour": HOUR, "day": DAY}
MOST_POINTS: Final = 10_000
FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)

WINDOW: Final[dict[str, tuple[FilterType, str]]] = {
    "window": (build_choice_type(tuple(WindowPreset)), "the length of the window that ends at “until” (default: day)"),
    "since": (MOMENT, "from this moment on, instead of window"),
    "until": (MOMENT, "up to this moment (default: now)"),
}
UNIT: Final[dict[str, tuple[FilterType, str]]] = {
    "unit": (build_choice_type(tuple(UNITS)), "the length of a point (default: depends on the window)")
}
IN_WINDOW: Final[dict[str, Filter | CustomFilter]] = {name: CustomFilter(kind, None, words) for name, (kind, words) in WINDOW.items()}
WORDS: Final = {name: words for name, (_kind, words) in (WINDOW | UNIT).items()}
WORDS_OF_SPAN: Final = {name: words for name, (_kind, words) in WINDOW.items()}


def parse_window(params: Mapping[str, str], now: datetime) -> TimeWindow:
    """Return the window that the query parameters choose. Raise ValidationError, by parameter, when they choose none."""
    given = {name: _parse_parameter(name, kind, params[name]) for name, (kind, _words) in (WINDOW | UNIT).items() if name in params}
    until = min(given.get("until", now), now)
    if until < FIRST:
        raise _build_error("until", _("Nothing was counted before %(year)d.") % {"year": FIRST.year})
    if "since" not in given:
        return _apply_unit(
            windows.build_recent_window(until, WindowPreset(given.get("window", WindowPreset.DAY))), given.get("unit", ""), now
        )
    if given["since"] >= until:
        raise _build_error("since", _("“since” must be before “until”, and in the past."))
    return _apply_unit(windows.build_window(given["since"], until), given.get("unit", ""), now)


def _parse_parameter(name: str, kind: FilterType, text: str) -> Any:
    try:
        return kind.read(text)
    except ValueError as error:
        raise _build_error(name, str(error)) from error


def _apply_unit(window: TimeWindow, wanted: str, now: datetime) -> TimeWindow:
    """Return the window with points of this unit; "" chooses the window's own unit, or the finest that is still kept if that is longer."""
    kept = find_finest_unit(window.since, now)
    unit: timedelta = UNITS[wanted] if wanted else max(window.unit, kept)
    if (window.until - window.since) / unit > MOST_POINTS:
        raise _build_error("unit", _("That would be more than 10,000 points. Choose a longer unit or a shorter time."))
    if unit < kept:
        raise _build_error("unit", _("Usage this old is kept only in longer units. Choose one, or a later time."))
    return TimeWindow(window.since, window.until, unit)


def _build_error(name: str, sentence: str) -> serializers.ValidationError:
    return serializers.ValidationError({f"?{name}": [sentence]})

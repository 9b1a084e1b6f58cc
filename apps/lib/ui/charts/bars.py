"""A small chart of bars, from zero upwards: sums of months, each with what was allowed. Values in, places and words out."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.lib.ui import formats
from apps.lib.ui.charts import Unit
from apps.lib.ui.charts.drawing import Mark
from apps.lib.ui.charts.scale import ticks

FILLED = 0.64  # of the room that each has


@dataclass(frozen=True, slots=True)
class Bar:
    """name: below it, a few letters; words: in full. value: None where it is not known. limit: a line across it, or none."""

    name: str
    words: str
    value: formats.Number | None
    limit: formats.Number | None = None


@dataclass(frozen=True, slots=True)
class Box:
    """A bar as it is drawn: "37.5%" from the left, from the top, wide and high. words: what it says."""

    left: str
    top: str
    width: str
    height: str
    words: str


@dataclass(frozen=True, slots=True)
class Across:
    """A line at a limit: from where to where, and how far from the top."""

    left: str
    right: str
    top: str


@dataclass(frozen=True, slots=True)
class Bars:
    """What templates/lib/bars.html shows."""

    key: str
    ticks: list[Mark]
    marks: list[Mark]
    boxes: list[Box]
    limits: list[Across]
    summary: str


def drawn(key: str, title: str, bars: Sequence[Bar], unit: Unit) -> Bars:
    """key: an HTML id, once on a page. title: what the summary for those who do not see it begins with."""
    known = [(each.value, each) for each in bars if each.value is not None]
    scale = ticks(max([0, *(value for value, _bar in known), *(each.limit for each in bars if each.limit)]), unit)
    top, room = scale[-1].value, 100 / max(1, len(bars))

    def box(place: int, bar: Bar, value: formats.Number) -> Box:
        high = 100 * value / top
        left = room * (place + (1 - FILLED) / 2)
        return Box(_percent(left), _percent(100 - high), _percent(room * FILLED), _percent(high), f"{bar.words}: {_value(value, unit)}")

    return Bars(
        key=key,
        ticks=[Mark(_percent(100 - 100 * tick.value / top), tick.label) for tick in scale],
        marks=[Mark(_percent(room * (place + 0.5)), bar.name) for place, bar in enumerate(bars)],
        boxes=[box(place, bar, bar.value) for place, bar in enumerate(bars) if bar.value is not None],
        limits=[
            Across(_percent(room * place), _percent(room * (place + 1)), _percent(100 - 100 * bar.limit / top))
            for place, bar in enumerate(bars)
            if bar.limit
        ],
        summary=_summary(title, known, unit),
    )


def _summary(title: str, known: Sequence[tuple[formats.Number, Bar]], unit: Unit) -> str:
    if not known:
        return title
    value, bar = max(known, key=lambda one: one[0])
    return _("%(title)s. At most %(value)s, %(when)s.") % {"title": title, "value": _value(value, unit), "when": bar.words}


def _value(value: formats.Number, unit: Unit) -> str:
    return formats.scaled(value, unit.steps, whole=True) + unit.per


def _percent(part: float) -> str:
    return f"{round(part, 2):g}%"

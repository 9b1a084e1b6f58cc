"""Draws charts: SVG paths in a field of 1000 x 100, texts, table rows, and numbers for the browser.

Takes a Chart, returns a Drawing. Reads nothing else: the same chart gives the same drawing.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from html import escape
from itertools import groupby

from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone, get_current_timezone_name
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.lib.ui import formats
from apps.lib.ui.charts import Chart, ChartEvent, ChartLine
from apps.lib.ui.charts.clock import list_time_marks
from apps.lib.ui.charts.scale import Tick, build_ticks

WIDTH, HEIGHT = 1000, 100


@dataclass(frozen=True, slots=True)
class LineDrawing:
    """One line: its path and the area below it, each in as many pieces as the gaps leave."""

    name: str
    path: str
    area: str


@dataclass(frozen=True, slots=True)
class AxisMark:
    """A text at an axis, and its position ("37.5%")."""

    place: str
    words: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A time without readings: position and width in percent ("37.5%"), and its period in words."""

    place: str
    width: str
    words: str


@dataclass(frozen=True, slots=True)
class EventLine:
    """A vertical line: its position ("37.5%")."""

    place: str
    is_fault: bool


@dataclass(frozen=True, slots=True)
class ChartTableRow:
    """A bucket as a row of the table."""

    at: datetime
    words: str
    values: list[str]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The values that templates/lib/chart.html shows. Ticks and limit count from the top, marks and gaps from the left."""

    chart: Chart
    ticks: list[AxisMark]
    marks: list[AxisMark]
    strokes: list[LineDrawing]
    gaps: list[Gap]
    limit: AxisMark | None
    events: list[EventLine]
    summary: str
    rows: list[ChartTableRow]
    numbers: str

    @property
    def table_rows(self) -> SafeString:
        """The rows of the table as HTML. A template takes four times as long for them, which with hundreds of rows is most of a page."""
        return SafeString("".join(map(_render_table_row, self.rows)))


def draw_chart(chart: Chart) -> Drawing:
    """Draw everything that the page shows of a chart."""
    scale = build_ticks(chart.highest_value, chart.unit)
    top = scale[-1].value
    begin, end = _get_bounds(chart)
    places = [WIDTH * _compute_share(middle, begin, end) for middle in _list_middles(chart)]
    times = list_time_marks(begin, end)
    gaps = [(first, last, _describe_gap(chart, first, last)) for first, last in _iter_gaps(chart)]
    return Drawing(
        chart=chart,
        ticks=[AxisMark(_format_percent(1 - tick.value / top), tick.label) for tick in scale],
        marks=[AxisMark(_format_percent(_compute_share(at, begin, end)), words) for at, words in times],
        strokes=[_build_stroke(line, places, top) for line in chart.lines],
        gaps=[
            Gap(_format_percent(_compute_share(first, begin, end)), _format_percent((last - first) / (end - begin)), words)
            for first, last, words in gaps
        ],
        limit=AxisMark(_format_percent(1 - chart.threshold.value / top), chart.threshold.name) if chart.threshold else None,
        events=[EventLine(_format_percent(_compute_share(each.at, begin, end)), each.is_fault) for each in _list_shown_events(chart)],
        summary=_build_summary(chart),
        rows=_build_rows(chart),
        numbers=_render_numbers(chart, scale, times, gaps),
    )


def _get_bounds(chart: Chart) -> tuple[datetime, datetime]:
    return (chart.starts[0], chart.end) if chart.starts else (chart.end, chart.end)


def _list_shown_events(chart: Chart) -> list[ChartEvent]:
    begin, end = _get_bounds(chart)
    return [each for each in chart.events if begin <= each.at < end]


def _list_middles(chart: Chart) -> list[datetime]:
    """Return the middle of each bucket, where its value is drawn."""
    return [start + (end - start) / 2 for start, end in zip(chart.starts, chart.ends, strict=True)]


def _compute_share(at: datetime, begin: datetime, end: datetime) -> float:
    return (at - begin) / (end - begin)


def _format_percent(part: float) -> str:
    return f"{round(100 * part, 2):g}%"


# --- Lines


def _build_stroke(line: ChartLine, places: Sequence[float], top: float) -> LineDrawing:
    pieces = [
        [(place, HEIGHT - HEIGHT * value / top) for place, value in piece if value is not None]
        for read, piece in groupby(zip(places, line.values, strict=True), key=lambda point: point[1] is not None)
        if read
    ]
    return LineDrawing(line.name, " ".join(map(_render_path, pieces)), " ".join(map(_render_area, pieces)))


def _render_path(points: Sequence[tuple[float, float]]) -> str:
    """Return the path. A single point becomes a line of no length, which round line ends show as a dot."""
    first, *others = [f"{x:.1f} {y:.1f}" for x, y in points]
    return f"M{first}" + (f"L{' '.join(others)}" if others else "h0")


def _render_area(points: Sequence[tuple[float, float]]) -> str:
    if len(points) < 2:
        return ""
    return f"{_render_path(points)}L{points[-1][0]:.1f} {HEIGHT} {points[0][0]:.1f} {HEIGHT}z"


# --- Gaps


def _iter_gaps(chart: Chart) -> Iterator[tuple[datetime, datetime]]:
    """Yield beginning and end of each time in which no line has a value."""
    read = [any(line.values[at] is not None for line in chart.lines) for at in range(len(chart.starts))]
    for known, group in groupby(zip(chart.starts, chart.ends, read, strict=True), key=lambda bucket: bucket[2]):
        if not known:
            buckets = list(group)
            yield buckets[0][0], buckets[-1][1]


def _describe_gap(chart: Chart, first: datetime, last: datetime) -> str:
    return f"{_describe_missing(chart)}, {_format_period(first, last)}"


def _format_period(first: datetime, last: datetime) -> str:
    """Return a period: Mon 9 Nov, 08:15 to 13:15. The end has its day only if that differs."""
    zone = get_current_timezone()
    same = first.astimezone(zone).date() == last.astimezone(zone).date()
    until = formats.format_moment(last, last, with_seconds=False) if same else _format_time(last)
    return _("%(first)s to %(last)s") % {"first": _format_time(first), "last": until}


def _format_time(at: datetime) -> str:
    """Return Mon 9 Nov, 08:15, independent of the current day."""
    return _format_cached_time(at, get_current_timezone_name(), get_language())


@lru_cache(maxsize=4096)
def _format_cached_time(at: datetime, _zone: str, _language: str | None) -> str:
    """Cached: the charts of one page share a few hundred times."""
    return formats.format_weekday_and_time(at)


# --- Texts


def _build_summary(chart: Chart) -> str:
    """Return the maximum of each line and its time, for people who cannot see the chart."""
    said = [_describe_highest(chart, line) for line in chart.lines]
    return _("%(title)s. %(lines)s.") % {"title": chart.title, "lines": "; ".join(said)}


def _describe_highest(chart: Chart, line: ChartLine) -> str:
    read = [(value, start) for value, start in zip(line.values, chart.starts, strict=True) if value is not None]
    if not read:
        return f"{line.name}: {_describe_missing(chart)}"
    most, at = max(read, key=lambda one: one[0])
    return _("%(line)s: highest %(value)s, %(at)s") % {"line": line.name, "value": _format_value(chart, most), "at": _format_time(at)}


def _format_value(chart: Chart, value: formats.Number) -> str:
    return formats.format_scaled(value, chart.unit.steps, whole=True) + chart.unit.per


def _describe_missing(chart: Chart) -> str:
    return chart.missing or _("no reading")


def _render_table_row(row: ChartTableRow) -> str:
    cells = "".join([f'<td class="nw-num">{escape(value)}</td>' for value in row.values])
    return f'<tr><th scope="row">{escape(row.words)}</th>{cells}</tr>'


def _build_rows(chart: Chart) -> list[ChartTableRow]:
    missing = _describe_missing(chart)  # once: a chart without readings has hundreds of rows

    def format_reading(value: formats.Number | None) -> str:
        return missing if value is None else _format_value(chart, value)

    return [
        ChartTableRow(start, _format_time(start), [format_reading(line.values[place]) for line in chart.lines])
        for place, start in enumerate(chart.starts)
    ]


def _render_numbers(
    chart: Chart, scale: Sequence[Tick], times: Sequence[tuple[datetime, str]], gaps: Sequence[tuple[datetime, datetime, str]]
) -> str:
    """Return the data of the browser's own chart as JSON: seconds since 1970, values, and the texts of the axes."""
    begin, end = _get_bounds(chart)
    return json.dumps(
        {
            "from": begin.timestamp(),
            "to": end.timestamp(),
            "at": [middle.timestamp() for middle in _list_middles(chart)],
            "lines": [list(line.values) for line in chart.lines],
            "ticks": [[tick.value, tick.label] for tick in scale],
            "marks": [[at.timestamp(), words] for at, words in times],
            "gaps": [[first.timestamp(), last.timestamp()] for first, last, _words in gaps],
            "events": [[each.at.timestamp(), each.is_fault] for each in _list_shown_events(chart)],
            "limit": chart.threshold.value if chart.threshold else None,
        },
        separators=(",", ":"),
    )

"""Draws lines over the number of members as SVG: each factor of ten is as wide everywhere, and each line has its name at its end."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 380
LEFT, RIGHT, TOP, BOTTOM = 76, 190, 56, 50  # pixels around the plot; the names of the lines stand at its right
APART = 17  # pixels between two names
MOST_STEPS = 8
COLOURS = ("#1f5fbf", "#b3541e", "#2e7d4f", "#7a3e9d")  # each has a contrast of 4.5 to white and more
TEXT, FAINT, GRID = "#20242c", "#5a6270", "#dfe3e8"

type Point = tuple[float, float]
type Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class GrowthLine:
    """A line and its name. points: members and a value, ascending."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class GrowthChart:
    """A picture of lines. unit: of all values, in words. proportional: each factor of ten is as high everywhere; otherwise from 1 on."""

    title: str
    unit: str
    lines: Sequence[GrowthLine]
    proportional: bool = True


def draw(chart: GrowthChart) -> str:
    """Return the chart as an SVG document."""
    members = [point[0] for line in chart.lines for point in line.points]
    values = [point[1] for line in chart.lines for point in line.points]
    across = _build_scale(math.log10(min(members)), math.log10(max(members)), LEFT, WIDTH - RIGHT)
    lowest, highest, ticks = _choose_ticks(values, proportional=chart.proportional)
    up = _build_scale(lowest, highest, HEIGHT - BOTTOM, TOP)

    def place(point: Point) -> Point:
        return across(math.log10(point[0])), up(math.log10(point[1]) if chart.proportional else point[1])

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif" font-size="13" '
        'role="img" aria-labelledby="title">',
        f'<title id="title">{escape(chart.title)}, {escape(chart.unit)}, by the number of members</title>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="16" y="26" font-size="15" font-weight="600" fill="{TEXT}">{escape(chart.title)}</text>',
        f'<text x="16" y="44" fill="{FAINT}">{escape(chart.unit)}</text>',
        *_iter_grid(sorted(set(members)), across, [(up(at), label) for at, label in ticks]),
    ]
    ends = _spread_names([place(line.points[-1])[1] for line in chart.lines])
    for line, colour, end in zip(chart.lines, COLOURS, ends, strict=False):
        parts += _iter_line(line, colour, [place(point) for point in line.points], end)
    return "\n".join([*parts, "</svg>", ""])


def _build_scale(first: float, last: float, begin: float, end: float) -> Scale:
    span = (last - first) or 1
    return lambda value: begin + (value - first) / span * (end - begin)


def _choose_ticks(values: Sequence[float], *, proportional: bool) -> tuple[float, float, list[tuple[float, str]]]:
    """Return the lowest and the highest place of the axis, and the places of its labels."""
    if proportional:
        first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return first, last, [(at, format_number(10.0**at)) for at in range(first, last + 1)]
    step = _choose_step(max(values) - 1)
    steps = max(math.ceil((max(values) - 1) / step), 1)
    return 1, 1 + steps * step, [(1 + number * step, f"{1 + number * step:,g}") for number in range(steps + 1)]


def _choose_step(span: float) -> float:
    """Return a step of 1, 2 or 5 times a power of ten, of which at most MOST_STEPS make up the span."""
    power = 10.0 ** math.floor(math.log10(max(span, 0.1) / MOST_STEPS))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power * MOST_STEPS >= span)


def format_number(value: float) -> str:
    """Return the number as people write it: 1,000,000 or 0.01."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _iter_grid(sizes: Sequence[float], across: Scale, rows: Sequence[tuple[float, str]]) -> Iterator[str]:
    right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM
    for y, label in rows:
        yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="{GRID}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="{FAINT}">{label}</text>'
    for size in sizes:
        x = across(math.log10(size))
        yield f'<path d="M{x:.1f} {TOP}V{floor}" stroke="{GRID}"/>'
        yield f'<text x="{x:.1f}" y="{floor + 20}" text-anchor="middle" fill="{FAINT}">{format_number(size)}</text>'
    yield f'<text x="{(LEFT + right) / 2:.1f}" y="{HEIGHT - 10}" text-anchor="middle" fill="{FAINT}">members</text>'


def _iter_line(line: GrowthLine, colour: str, places: Sequence[Point], end: float) -> Iterator[str]:
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>'
    yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)
    x = max(WIDTH - RIGHT + 10, places[-1][0] + 10)
    value = format_value(line.points[-1][1])
    yield f'<text x="{x:.1f}" y="{end + 4:.1f}" fill="{colour}">{escape(line.name)}: {value}</text>'


def format_value(value: float) -> str:
    """Return a measured value with two digits that matter, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def _spread_names(heights: Sequence[float]) -> list[float]:
    """Return heights near these, in the same order, that are at least APART from each other."""
    found = dict[int, float]()
    last = -math.inf
    for number in sorted(range(len(heights)), key=lambda each: heights[each]):
        last = found[number] = max(heights[number], last + APART)
    return [found[number] for number in range(len(heights))]

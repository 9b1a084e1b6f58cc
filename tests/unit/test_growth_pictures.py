import re
from itertools import pairwise
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.growth import pictures
from benchmarks.growth.line_chart import APART, GrowthChart, GrowthLine, draw

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
SVG = "{http://www.w3.org/2000/svg}"
VALUES = st.floats(0.001, 1e6)


def test_the_pictures_of_the_documentation_show_what_was_written_down() -> None:
    drawn = {name: draw(chart) for name, chart in pictures.build_charts(pictures.read_record()).items()}
    shown = {path.name: path.read_text() for path in pictures.DRAWN.glob("growth-*.svg")}
    assert shown == drawn, "run “script/bench growth --draw”"


@given(st.lists(st.lists(VALUES, min_size=5, max_size=5), min_size=1, max_size=4), st.booleans())
def test_every_line_is_inside_the_picture_and_no_name_is_on_another(measured: list[list[float]], proportional: bool) -> None:
    above_one = [[max(value, 1.0) for value in values] for values in measured]
    lines = [GrowthLine(f"line {number} & more", list(zip(SIZES, values, strict=True))) for number, values in enumerate(above_one)]
    drawn = draw(GrowthChart("A title", "seconds", lines, proportional=proportional))
    root = ElementTree.fromstring(drawn)  # noqa: S314  our own text
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    points = [tuple(map(float, each.split(","))) for line in root.iter(f"{SVG}polyline") for each in line.attrib["points"].split()]
    assert len(points) == 5 * len(lines)
    assert all(0 <= x <= width and 0 <= y <= height for x, y in points)
    names = sorted(float(each.attrib["y"]) for each in root.iter(f"{SVG}text") if re.match(r"line \d & more: ", each.text or ""))
    assert len(names) == len(lines)
    assert all(after - before >= APART - 0.2 for before, after in pairwise(names))

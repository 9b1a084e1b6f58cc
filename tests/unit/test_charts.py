"""Charts: scales, marks of time, lines with gaps, summaries in words."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone, translation
from hypothesis import given
from hypothesis import strategies as st

from apps.lib.ui.charts import RATE, VOLUME, Chart, ChartLine, ChartUnit, Threshold
from apps.lib.ui.charts.clock import list_time_marks
from apps.lib.ui.charts.drawing import draw_chart
from apps.lib.ui.charts.scale import build_ticks
from apps.lib.ui.formats import OCTETS, SPACE

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = timedelta(hours=1)
BEGIN = datetime(2026, 11, 9, 0, tzinfo=BERLIN)


@pytest.fixture(autouse=True, scope="module")
def berlin() -> Iterator[None]:
    with translation.override("en"), timezone.override("Europe/Berlin"):
        yield


def labels(most: float, unit: ChartUnit) -> list[str]:
    return [tick.label.replace(SPACE, " ") for tick in build_ticks(most, unit)]


def chart(*values: float | None, second: Sequence[float | None] = (), **more: object) -> Chart:
    lines = [ChartLine("down", values), *([ChartLine("up", second)] if second else [])]
    starts = [BEGIN + HOUR * place for place in range(len(values))]
    return Chart("traffic", "Traffic", starts, BEGIN + HOUR * len(values), lines, **more)  # type: ignore[arg-type]  # unit, threshold


@pytest.mark.parametrize(
    ("most", "unit", "expected"),
    [
        (2.9e9, ChartUnit(OCTETS, "/h"), ["0", "1 GB/h", "2 GB/h", "3 GB/h"]),
        (16e9, VOLUME, ["0", "5 GB", "10 GB", "15 GB", "20 GB"]),
        (1.5e6, RATE, ["0", "0.5 Mbit/s", "1.0 Mbit/s", "1.5 Mbit/s"]),
        (4, VOLUME, ["0", "1 B", "2 B", "3 B", "4 B"]),
        (1, VOLUME, ["0", "1 B"]),
        (0, VOLUME, ["0", ""]),
        (1e21, VOLUME, ["0", "500 EB", "1,000 EB"]),
    ],
)
def test_a_scale_has_few_round_steps_in_one_unit(most: float, unit: ChartUnit, expected: list[str]) -> None:
    assert labels(most, unit) == expected


@given(st.floats(min_value=1e-3, max_value=1e20))
def test_a_scale_begins_at_zero_and_holds_what_is_shown_without_wasting_more_than_half(most: float) -> None:
    values = [tick.value for tick in build_ticks(most, VOLUME)]
    assert values[0] == 0
    assert 2 <= len(values) <= 5
    assert most <= values[-1] * (1 + 1e-6)
    assert values[-1] <= max(2.5 * most, 1)


def test_a_day_has_marks_each_six_hours_of_the_clock_on_the_wall_also_as_it_is_set_back() -> None:
    begin = datetime(2026, 10, 24, 21, tzinfo=UTC)  # 23:00 CEST; at 03:00 the clock is set back
    assert [(at.astimezone(UTC).hour, words) for at, words in list_time_marks(begin, begin + timedelta(hours=24))] == [
        (22, "00:00"),
        (5, "06:00"),
        (11, "12:00"),
        (17, "18:00"),
    ]


def test_an_hour_has_marks_each_quarter() -> None:
    begin = BEGIN + timedelta(hours=23, minutes=10)
    assert [words for _at, words in list_time_marks(begin, begin + HOUR)] == ["23:15", "23:30", "23:45", "00:00"]


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (7, ["Mon 9", "Tue 10", "Wed 11", "Thu 12", "Fri 13", "Sat 14", "Sun 15"]),
        (30, ["9 Nov", "16 Nov", "23 Nov", "30 Nov", "7 Dec"]),
        (100, ["Dec", "Jan", "Feb"]),
    ],
)
def test_longer_times_have_days_weeks_and_months(days: int, expected: list[str]) -> None:
    assert [words for _at, words in list_time_marks(BEGIN, BEGIN + timedelta(days=days))] == expected


def test_a_line_goes_through_the_middle_of_each_bucket() -> None:
    drawing = draw_chart(chart(0, 100, 50, 200))
    assert drawing.strokes[0].path == "M125.0 100.0L375.0 50.0 625.0 75.0 875.0 0.0"
    assert drawing.strokes[0].area == "M125.0 100.0L375.0 50.0 625.0 75.0 875.0 0.0L875.0 100 125.0 100z"


def test_a_gap_interrupts_the_line_and_is_named_and_never_zero() -> None:
    drawing = draw_chart(chart(100, 100, None, None, 100))
    assert drawing.strokes[0].path == "M100.0 0.0L300.0 0.0 M900.0 0.0h0"
    assert [(gap.place, gap.width, gap.words) for gap in drawing.gaps] == [("40%", "40%", "no reading, Mon 9 Nov, 02:00 to 04:00")]
    assert [row.values[0].replace(SPACE, " ") for row in drawing.rows] == ["100 B", "100 B", "no reading", "no reading", "100 B"]


def test_a_gap_of_one_line_alone_is_no_gap_of_the_chart() -> None:
    assert draw_chart(chart(1, None, 3, second=[1, 2, 3])).gaps == []


def test_the_summary_says_the_most_of_each_line_and_when() -> None:
    said = draw_chart(chart(1e9, 3e9, second=[2e6, None])).summary.replace(SPACE, " ")
    assert said == "Traffic. down: highest 3.00 GB, Mon 9 Nov, 01:00; up: highest 2.00 MB, Mon 9 Nov, 00:00."


def test_a_threshold_is_inside_the_chart_even_above_all_numbers() -> None:
    limit = draw_chart(chart(10, threshold=Threshold("quota", 100))).limit
    assert limit is not None
    assert (limit.place, limit.words) == ("0%", "quota")


def test_the_browser_gets_the_same_numbers() -> None:
    numbers = json.loads(draw_chart(chart(1, None, second=[3, None])).numbers)
    assert numbers["lines"] == [[1, None], [3, None]]
    assert numbers["at"] == [(BEGIN + HOUR / 2).timestamp(), (BEGIN + 1.5 * HOUR).timestamp()]
    assert numbers["gaps"] == [[(BEGIN + HOUR).timestamp(), (BEGIN + 2 * HOUR).timestamp()]]


def test_nothing_at_all_is_drawn_as_nothing() -> None:
    drawing = draw_chart(chart())
    assert (drawing.rows, drawing.marks, drawing.gaps) == ([], [], [])
    assert drawing.summary == "Traffic. down: no reading."


@pytest.mark.parametrize("lines", [(), (ChartLine("a", [1]), ChartLine("b", [1]), ChartLine("c", [1])), (ChartLine("a", [1, 2]),)])
def test_a_chart_has_one_or_two_lines_with_a_number_for_each_bucket(lines: tuple[ChartLine, ...]) -> None:
    with pytest.raises(ValueError, match="chart traffic: "):
        Chart("traffic", "Traffic", [BEGIN], BEGIN + HOUR, lines)

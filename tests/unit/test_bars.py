"""Bar charts of months: positions, limits and words."""

from collections.abc import Iterator

import pytest
from django.utils import translation

from apps.lib.ui.charts import VOLUME
from apps.lib.ui.charts.bars import Bar, draw_bars
from apps.lib.ui.formats import SPACE


@pytest.fixture(autouse=True, scope="module")
def english() -> Iterator[None]:
    with translation.override("en"):
        yield


def test_bars_stand_on_zero_each_in_its_room_and_what_is_unknown_has_none() -> None:
    made = draw_bars("months", "Traffic", [Bar("Oct", "October", None), Bar("Nov", "November", 5e9)], VOLUME)
    [box] = made.boxes
    assert (box.left, box.width, box.top, box.height) == ("59%", "32%", "16.67%", "83.33%")
    assert [mark.place for mark in made.marks] == ["25%", "75%"]
    assert box.words.replace(SPACE, " ") == "November: 5.00 GB"


def test_a_limit_is_a_line_across_its_own_bar_and_inside_the_chart() -> None:
    made = draw_bars("months", "Traffic", [Bar("Oct", "October", 1e9), Bar("Nov", "November", 5e9, 10e9)], VOLUME)
    [line] = made.limits
    assert (line.left, line.right, line.top) == ("50%", "100%", "0%")
    assert [box.height for box in made.boxes] == ["10%", "50%"]


def test_the_summary_says_the_most_and_when_and_nothing_where_nothing_is_known() -> None:
    bars = [Bar("Oct", "October", 7e9), Bar("Nov", "November", 5e9)]
    assert draw_bars("months", "Traffic", bars, VOLUME).summary.replace(SPACE, " ") == "Traffic. Highest: 7.00 GB, October."
    assert draw_bars("months", "Traffic", [Bar("Oct", "October", None)], VOLUME).summary == "Traffic"

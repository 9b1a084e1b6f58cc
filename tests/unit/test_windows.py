"""Windows of time, and the comparison of a member's traffic in words."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import translation

from apps.lib.ui.formats import SPACE
from apps.traffic.usage_panel import describe_change
from apps.traffic.windows import DAY, FIVE_MINUTES, HOUR, RATES, WindowPreset, build_recent_window, build_window, parse_preset

NOW = datetime(2026, 11, 21, 16, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("preset", "since", "buckets"),
    [
        (WindowPreset.HOUR, datetime(2026, 11, 21, 15, 10, tzinfo=UTC), 12),
        (WindowPreset.DAY, datetime(2026, 11, 20, 16, 10, tzinfo=UTC), 288),
        (WindowPreset.WEEK, datetime(2026, 11, 14, 17, tzinfo=UTC), 168),
        (WindowPreset.MONTH, datetime(2026, 10, 23, tzinfo=UTC), 30),
        (WindowPreset.YEAR, datetime(2025, 11, 22, tzinfo=UTC), 365),
    ],
)
def test_a_preset_ends_now_with_the_bucket_that_is_under_way_as_its_last(preset: WindowPreset, since: datetime, buckets: int) -> None:
    window = build_recent_window(NOW, preset)
    assert (window.since, window.until, window.preset) == (since, NOW, preset)
    assert -(-(window.until - window.since) // window.unit) == buckets


def test_a_month_of_throughput_has_finer_buckets() -> None:
    assert build_recent_window(NOW, WindowPreset.MONTH, RATES).unit == 4 * HOUR


@pytest.mark.parametrize(
    ("length", "unit"), [(HOUR, FIVE_MINUTES), (2 * DAY, FIVE_MINUTES), (3 * DAY, HOUR), (14 * DAY, HOUR), (15 * DAY, DAY)]
)
def test_a_chosen_window_has_as_fine_buckets_as_are_still_readable(length: timedelta, unit: timedelta) -> None:
    assert build_window(NOW - length, NOW).unit == unit


@pytest.mark.parametrize(("text", "preset"), [("year", WindowPreset.YEAR), ("", WindowPreset.DAY), ("'; DROP TABLE", WindowPreset.DAY)])
def test_a_text_that_is_not_a_preset_means_the_last_day(text: str, preset: WindowPreset) -> None:
    assert parse_preset(text) is preset


@pytest.mark.parametrize(
    ("now", "before", "said"),
    [
        (1200, 1000, "20 % more than in the 7 days before (1.00 kB)."),
        (500, 1000, "50 % less than in the 7 days before (1.00 kB)."),
        (1001, 1000, "As much as in the 7 days before (1.00 kB)."),
        (99_000, 1000, "More than ten times as much as in the 7 days before (1.00 kB)."),
        (0, 1000, "100 % less than in the 7 days before (1.00 kB)."),
        (500, 0, "No traffic in the 7 days before."),
    ],
)
def test_the_comparison_is_a_sentence(now: int, before: int, said: str) -> None:
    with translation.override("en"):
        assert describe_change(now, before, "the 7 days before").replace(SPACE, " ") == said

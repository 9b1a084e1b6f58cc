"""Availability of services: the judgement of probes, and days of the network's time zone."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.gateways.packet_probes.judgement import ProbeVerdict
from apps.status.availability.bookkeeping import iter_days
from apps.status.availability.judgement import SLOW_MS, CarrierProbes, combine_levels, judge_carrier
from apps.status.availability.models import ServiceDay, ServiceLevel
from apps.status.availability.selectors import DayLevel, compute_reached_share, judge_day

MOMENTS = st.integers(0, 2 * 366 * 86_400).map(lambda seconds: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))
SECONDS = st.floats(0, 86_400)


@pytest.mark.parametrize(
    ("verdict", "median_ms", "level"),
    [
        (ProbeVerdict.PASSES, 3.0, ServiceLevel.FINE),
        (ProbeVerdict.PASSES, SLOW_MS, ServiceLevel.DEGRADED),
        (ProbeVerdict.PASSES, None, ServiceLevel.FINE),
        (ProbeVerdict.LOSSY, 3.0, ServiceLevel.DEGRADED),
        (ProbeVerdict.LOST, None, ServiceLevel.DOWN),
        (ProbeVerdict.NOT_PROBED, None, ServiceLevel.UNKNOWN),
        (ProbeVerdict.STALE, 3.0, ServiceLevel.UNKNOWN),
    ],
)
def test_what_probes_have_shown_is_a_level(verdict: ProbeVerdict, median_ms: float | None, level: ServiceLevel) -> None:
    assert judge_carrier(CarrierProbes(verdict, median_ms)) is level


@given(st.lists(st.sampled_from(ServiceLevel)))
def test_the_worst_gateway_counts_and_what_is_not_known_is_never_called_fine(levels: list[ServiceLevel]) -> None:
    found = combine_levels(levels)
    assert (found is ServiceLevel.DOWN) == (ServiceLevel.DOWN in levels)
    assert (found is ServiceLevel.FINE) == (set(levels) == {ServiceLevel.FINE})


@given(MOMENTS, st.timedeltas(timedelta(0), timedelta(days=4)))
def test_a_time_is_divided_into_days_without_losing_a_second(begin: datetime, lasted: timedelta) -> None:
    days = list(iter_days(begin, begin + lasted))
    assert sum(seconds for _day, seconds in days) == pytest.approx(lasted.total_seconds(), abs=1e-3)
    assert [day for day, _seconds in days] == sorted({day for day, _seconds in days})
    assert all(0 < seconds <= 25 * 3600 for _day, seconds in days)


def test_the_days_of_a_clock_change_have_23_and_25_hours(settings: object) -> None:
    settings.TIME_ZONE = "Europe/Berlin"  # type: ignore[attr-defined]  # pytest-django's
    spring = dict(iter_days(datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 3, 30, 12, tzinfo=UTC)))
    autumn = dict(iter_days(datetime(2026, 10, 24, 12, tzinfo=UTC), datetime(2026, 10, 26, 12, tzinfo=UTC)))
    assert spring[date(2026, 3, 29)] == 23 * 3600 and autumn[date(2026, 10, 25)] == 25 * 3600


@given(SECONDS, SECONDS, SECONDS)
def test_a_share_is_told_when_an_hour_is_known_and_is_whole_only_if_nothing_was_missing(fine: float, degraded: float, down: float) -> None:
    row = ServiceDay(service="ipv4", day=date(2026, 11, 12), fine=fine, degraded=degraded, down=down)
    share = compute_reached_share([row])
    if fine + degraded + down < 3600:
        assert share is None
    else:
        assert share is not None and 0 <= share <= 1 and (share < 1 or down < 1e-9 * (fine + degraded))


@pytest.mark.parametrize(
    ("fine", "degraded", "down", "level"),
    [
        (0, 0, 0, DayLevel.UNKNOWN),
        (80_000, 0, 59, DayLevel.FINE),
        (80_000, 60, 59, DayLevel.DEGRADED),
        (80_000, 9_000, 60, DayLevel.DOWN),
    ],
)
def test_a_day_is_drawn_by_its_worst_noticeable_time(fine: float, degraded: float, down: float, level: DayLevel) -> None:
    assert judge_day(ServiceDay(fine=fine, degraded=degraded, down=down)) is level


def test_a_day_without_a_row_is_not_known() -> None:
    assert judge_day(None) is DayLevel.UNKNOWN

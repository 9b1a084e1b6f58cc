"""The end that a form means: a choice and a time beside each other, of which a browser always sends both."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from apps.bans.forms import EndForm

END = datetime(2099, 10, 25, 1, 30, 42, 7, tzinfo=UTC)
SHOWN = "2099-10-25T02:30"  # in the night in which the clock goes back, for the second time
ENTERED, MEANT = "2099-12-01T12:00", datetime(2099, 12, 1, 11, tzinfo=UTC)


@pytest.fixture(autouse=True)
def berlin() -> Iterator[None]:
    with timezone.override(ZoneInfo("Europe/Berlin")):
        yield


def build_form(term: str, until: str, end: datetime | None) -> EndForm:
    """Return the form as sent, of something with this end, or of something new."""
    return EndForm({"term": term, "until": until}, initial={"term": "at", "until": end} if end else {})


def compute_end(term: str, until: str, end: datetime | None) -> datetime | None:
    form = build_form(term, until, end)
    assert form.is_valid(), form.errors
    return form.compute_end()


@pytest.mark.parametrize(
    ("term", "until", "end"),
    [("at", SHOWN, END), ("at", ENTERED, MEANT), ("never", SHOWN, None), ("never", ENTERED, None), ("never", "", None)],
)
def test_a_present_end_stays_unless_the_choice_or_the_time_was_changed(term: str, until: str, end: datetime | None) -> None:
    assert compute_end(term, until, END) == end


@pytest.mark.parametrize(("term", "until", "end"), [("never", "", None), ("never", ENTERED, MEANT), ("at", ENTERED, MEANT)])
def test_without_a_present_end_a_time_counts_unless_another_choice_was_made(term: str, until: str, end: datetime | None) -> None:
    assert compute_end(term, until, None) == end


@pytest.mark.parametrize(("until", "present"), [("", None), (ENTERED, None), (SHOWN, END), (ENTERED, END), ("", END)])
def test_a_while_that_was_chosen_counts_whatever_the_time_says(until: str, present: datetime | None) -> None:
    before = timezone.now()
    end = compute_end("30d", until, present)
    assert end and before <= end - timedelta(days=30) <= timezone.now()


def test_the_page_fills_in_the_present_end_to_the_minute() -> None:
    assert f'value="{SHOWN}"' in str(EndForm(initial={"term": "at", "until": END})["until"])


@pytest.mark.parametrize("present", [None, END])
def test_a_certain_time_has_to_be_entered(present: datetime | None) -> None:
    assert list(build_form("at", "", present).errors) == ["until"]


def test_another_time_in_the_hour_that_comes_twice_is_the_later_one() -> None:
    assert compute_end("at", "2099-10-25T02:45", END) == datetime(2099, 10, 25, 1, 45, tzinfo=UTC)

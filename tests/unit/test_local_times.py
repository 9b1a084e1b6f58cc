"""Times without an offset, as people enter them and scripts send them: which one is meant when the clock shows it twice, or never."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone, translation
from rest_framework import serializers

from apps.lib.api.fields import MomentField
from apps.lib.local_time import list_meanings
from apps.lib.ui.local_time_field import LocalTimeField, choose_meaning
from apps.network.forms import HolderLookupForm

BERLIN = ZoneInfo("Europe/Berlin")
TWICE, SKIPPED = datetime(2026, 10, 25, 2, 30), datetime(2027, 3, 28, 2, 30)  # noqa: DTZ001  # as a clock on the wall shows it
EARLIER, LATER = datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class SpanForm(forms.Form):
    """A form with a beginning and an end."""

    begins = LocalTimeField()
    ends = LocalTimeField(is_end=True)


@pytest.fixture(autouse=True)
def berlin() -> Iterator[None]:
    with timezone.override(BERLIN):
        yield


def clean(begins: str, ends: str, initial: dict[str, datetime] | None = None) -> tuple[datetime, datetime]:
    form = SpanForm({"begins": begins, "ends": ends}, initial=initial)
    assert form.is_valid(), form.errors
    return form.cleaned_data["begins"], form.cleaned_data["ends"]


def test_a_clock_shows_a_time_once_twice_or_never() -> None:
    noon = datetime(2026, 10, 25, 12)  # noqa: DTZ001
    assert list_meanings(noon, BERLIN) == [datetime(2026, 10, 25, 11, tzinfo=UTC)]
    assert list_meanings(TWICE, BERLIN) == [EARLIER, LATER]
    assert list_meanings(SKIPPED, BERLIN) == []
    assert len(list_meanings(datetime(1, 1, 1), BERLIN)) == len(list_meanings(datetime(9999, 12, 31, 23), BERLIN)) == 1  # noqa: DTZ001


@pytest.mark.parametrize(
    ("now", "begins"), [(EARLIER - MINUTE, EARLIER), (EARLIER + MINUTE, EARLIER), (LATER - MINUTE, EARLIER), (LATER, LATER)]
)
def test_a_beginning_is_the_later_time_that_has_come_and_an_end_the_later(now: datetime, begins: datetime) -> None:
    assert choose_meaning(TWICE, now, is_end=False) == begins
    assert choose_meaning(TWICE, now, is_end=True) == LATER


def test_a_form_takes_a_time_that_the_clock_shows_twice() -> None:
    past = datetime(2024, 10, 27, 1, 30, tzinfo=UTC)
    assert clean("2024-10-27T02:30", "2024-10-27T02:30") == (past, past)
    coming = datetime(2099, 10, 25, 1, 30, tzinfo=UTC)
    assert clean("2099-10-25T02:30", "2099-10-25T02:30") == (coming - timedelta(hours=1), coming)


@pytest.mark.parametrize("given", [EARLIER, LATER, LATER + timedelta(seconds=42, microseconds=7)])
def test_what_the_page_filled_in_means_exactly_that(given: datetime) -> None:
    page = SpanForm(initial={"begins": given, "ends": given})
    assert page["begins"].value() and 'value="2026-10-25T02:30"' in str(page["begins"])
    assert clean("2026-10-25T02:30", "2026-10-25T02:30", {"begins": given, "ends": given}) == (given, given)


@pytest.mark.parametrize(
    ("language", "words"), [("en", "02:30 does not exist on this day"), ("de", "02:30 Uhr gibt es an diesem Tag nicht")]
)
def test_a_time_that_the_clock_skips_is_refused_with_a_sentence(language: str, words: str) -> None:
    with translation.override(language):
        form = SpanForm({"begins": "2027-03-28T02:30", "ends": "2027-03-28T02:30"})
        assert [words in error for error in (*form.errors["begins"], *form.errors["ends"])] == [True, True]


@pytest.mark.parametrize("text", ["2026-10-25", "02:30", "2026-13-25T02:30", "2026-02-30T02:30", "x"])
def test_what_is_no_time_is_refused_as_before(text: str) -> None:
    try:
        expected = forms.DateTimeField().clean(text)
    except ValidationError:
        assert list(SpanForm({"begins": text, "ends": "2026-10-25T02:30"}).errors) == ["begins"]
    else:
        assert clean(text, "2026-10-25T02:30")[0] == expected


def look_up(**given: str) -> HolderLookupForm:
    form = HolderLookupForm({"address": "198.51.100.7", "reason": "abuse 4711", **given})
    form.full_clean()
    return form


def test_a_lookup_takes_the_later_time_and_offers_the_earlier() -> None:
    later = datetime(2024, 10, 27, 1, 30, 15, tzinfo=UTC)
    form = look_up(at="2024-10-27T02:30:15")
    assert form.get_moment(timezone.now()) == later
    assert "the earlier one, Sun 27 Oct 2024, 02:30 CEST" in str(form["is_earlier"].label)
    assert look_up(at="2024-10-27T02:30:15", is_earlier="on").get_moment(timezone.now()) == later - timedelta(hours=1)


def test_a_lookup_offers_nothing_for_a_time_that_the_clock_shows_once() -> None:
    for form in (look_up(at="2024-10-27T03:30:15", is_earlier="on"), look_up(at="x"), look_up(), HolderLookupForm()):
        assert "is_earlier" not in form.fields
    assert look_up(at="2024-10-27T03:30:15", is_earlier="on").get_moment(timezone.now()) == datetime(2024, 10, 27, 2, 30, 15, tzinfo=UTC)


@pytest.mark.parametrize("shown", [TWICE, SKIPPED])
def test_the_api_asks_for_the_offset_of_a_time_that_the_clock_shows_twice_or_never(shown: datetime) -> None:
    with pytest.raises(serializers.ValidationError, match="Send it with its offset"):
        MomentField().run_validation(shown.isoformat())
    assert MomentField().run_validation("2026-10-25T02:30:00+01:00") == LATER
    assert MomentField().run_validation("2026-10-25T02:30:00+02:00") == EARLIER
    assert MomentField().run_validation("2026-10-25T12:30:00") == datetime(2026, 10, 25, 11, 30, tzinfo=UTC)

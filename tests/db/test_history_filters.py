"""The history of the whole network: by day and by words, with names that people know."""

from datetime import timedelta

import pytest
from django.db import models
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.audit.selectors import HistoryFilter, history
from apps.audit.trail import trails
from tests import rows
from tests.db.pages import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_kind_of_thing_has_a_name_of_its_own_in_the_filter() -> None:
    names = [trail.name for trail in trails()]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_no_thing_is_called_by_its_class_and_number() -> None:
    nameless = [trail.key for trail in trails() if trail.words is str and trail.model.__str__ is models.Model.__str__]
    assert nameless == []


def test_a_token_is_called_by_its_name(network: rows.Network) -> None:
    tokens.create(user=network.admin, name="nightly backup")
    assert "nightly backup" in {entry.detail for entry in history()[0]}


def test_only_the_days_that_were_asked_for_are_shown(network: rows.Network) -> None:
    today = timezone.localdate()
    assert history(HistoryFilter(since=today, until=today))[0]
    assert not history(HistoryFilter(until=today - timedelta(days=1)))[0]
    assert not history(HistoryFilter(since=today + timedelta(days=1)))[0]


def test_words_find_what_a_row_was_called_and_what_it_held(network: rows.Network) -> None:
    found = {f"{entry.title}: {entry.detail}" for entry in history(HistoryFilter(text="10.16.0.10"))[0]}
    assert "Address added: 10.16.0.10" in found
    assert all("10.16.0.10" in each for each in found)
    assert not history(HistoryFilter(text="10.16.0.10 nobody"))[0]


def test_the_page_keeps_what_was_asked_for(network: rows.Network) -> None:
    mara: Client = signed_in(network.admin)
    page = text(mara.get("/history/?q=m1&since=2026-01-01&until=nonsense"))
    assert 'value="2026-01-01"' in page and 'value="m1"' in page and "Show everything" in page

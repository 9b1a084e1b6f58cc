"""The history of the whole network: filtered by day and by words, with names that people know."""

from datetime import date, timedelta

import pytest
from django.db import models
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.audit.selectors import HistoryFilter, list_history, list_row_history
from apps.audit.trail import list_trails
from apps.members.models import Room, Site
from apps.nat.models import Move
from apps.network.models import GatewayGroup
from apps.tickets.models import Ticket
from tests import factories
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_kind_of_thing_has_a_name_of_its_own_in_the_filter() -> None:
    names = [trail.name for trail in list_trails()]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_no_thing_is_called_by_its_class_and_number() -> None:
    nameless = [trail.key for trail in list_trails() if trail.words is str and trail.model.__str__ is models.Model.__str__]
    assert nameless == []


def test_a_token_is_called_by_its_name(network: factories.Network) -> None:
    tokens.create_token(user=network.admin, name="nightly backup")
    assert "nightly backup" in {entry.detail for entry in list_history()[0]}


def test_only_the_days_that_were_asked_for_are_shown(network: factories.Network) -> None:
    today = timezone.localdate()
    assert list_history(HistoryFilter(since=today, until=today))[0]
    assert not list_history(HistoryFilter(until=today - timedelta(days=1)))[0]
    assert not list_history(HistoryFilter(since=today + timedelta(days=1)))[0]


def test_words_find_what_a_row_was_called_and_what_it_held(network: factories.Network) -> None:
    found = {f"{entry.title}: {entry.detail}" for entry in list_history(HistoryFilter(text="10.16.0.10"))[0]}
    assert "Address added: 10.16.0.10" in found
    assert all("10.16.0.10" in each for each in found)
    assert not list_history(HistoryFilter(text="10.16.0.10 nobody"))[0]


def test_the_page_keeps_what_was_asked_for(network: factories.Network) -> None:
    mara: Client = signed_in(network.admin)
    page = text(mara.get("/history/?q=m1&since=2026-01-01&until=nonsense"))
    assert 'value="2026-01-01"' in page and 'value="m1"' in page and "Show everything" in page


def test_who_is_named_in_a_change_is_named_as_people_know_them(network: factories.Network) -> None:
    ticket = Ticket.objects.create(subject="router")
    Ticket.objects.filter(pk=ticket.pk).update(assignee=network.admin)
    [(field, before, after)] = [change for entry in list_row_history(ticket) for change in entry.changes if change[0] == "assignee"]
    assert (field, before, after) == ("assignee", "none", "Mara Lindqvist")


def test_a_move_is_called_by_where_to_and_its_day(network: factories.Network) -> None:
    member = network.residents["m1"].member
    room = Room.objects.create(site=Site.objects.create(name="House A", code="A"), floor=1, name="101")
    given = {"member": member, "on": date(2026, 12, 1), "by": network.admin}
    Move.objects.create(room=room, **given)
    Move.objects.filter(member=member).update(state=Move.State.DROPPED)
    Move.objects.create(pool=network.private, **given)
    named = [entry.detail for entry in list_history(HistoryFilter(kind="nat.move"))[0] if entry.title == "Move added"]
    assert named == ["to another address on 1 Dec 2026", "to A-101 on 1 Dec 2026"]


def test_no_field_of_a_change_needs_the_form_around_it_to_be_understood(network: factories.Network) -> None:
    GatewayGroup.objects.filter(pk=network.group.pk).update(removal_least=3, removal_share=5)
    changes = {name: (before, after) for entry in list_row_history(network.group) for name, before, after in entry.changes}
    assert changes["number of removals from which a second person must agree"] == ("10", "3")
    assert changes["share of removals above which a second person must agree, in percent"] == ("20", "5")


@pytest.mark.parametrize("day", ["0001-01-01", "1899-12-31", "2200-01-01", "9999-12-31"])
def test_a_day_that_cannot_be_meant_filters_nothing(network: factories.Network, day: str) -> None:
    mara = signed_in(network.admin)
    all_of_them = mara.get("/history/")
    for name in ("since", "until"):
        found = mara.get(f"/history/?{name}={day}")
        assert (found.status_code, found.context["entries"]) == (200, all_of_them.context["entries"])

"""The functions that triggers call for each row: no exception block, and what the packages' own versions do."""

from typing import Any

import pghistory
import pgtrigger
import pytest
from django.db import connection

from apps.lib.database.trigger_functions import FUNCTIONS
from apps.members.models import Member
from tests import factories

pytestmark = pytest.mark.django_db


def fetch(query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def list_events(member: Member) -> list[Any]:
    """Return the recorded states of the member, in order."""
    return list(Member.pgh_event_model.objects.filter(pgh_obj_id=member.pk).order_by("pgh_id"))  # type: ignore[attr-defined]  # made by pghistory


def test_none_of_them_opens_a_subtransaction_for_a_row() -> None:
    names = [line.split("(")[0].split()[-1] for line in FUNCTIONS.splitlines() if "CREATE OR REPLACE FUNCTION" in line]
    sources: dict[str, str] = dict(
        fetch("SELECT proname, prosrc FROM pg_proc WHERE proname ^@ '_pg' AND pronamespace = 'public'::regnamespace")
    )
    assert sources.keys() == set(names)
    assert not [name for name, source in sources.items() if "EXCEPTION" in source.upper()]


def test_a_change_without_a_context_is_recorded_without_one() -> None:
    member = factories.member()
    [event] = list_events(member)
    assert event.pgh_context is None


def test_all_changes_of_one_context_have_it_with_its_latest_metadata() -> None:
    with pghistory.context(cause="first"):
        member = factories.member()
        pghistory.context(cause="second")
        Member.objects.filter(pk=member.pk).update(note="moved")
    contexts = {event.pgh_context_id for event in list_events(member)}
    assert fetch("SELECT metadata->>'cause', count(*) OVER () FROM pghistory_context") == [("second", 1)]
    assert len(contexts) == 1
    assert None not in contexts


def test_a_setting_that_was_local_to_an_earlier_transaction_counts_for_nothing() -> None:
    """It is empty then, not missing."""
    with connection.cursor() as cursor:
        for name in ("pgtrigger.ignore", "pghistory.context_id", "pghistory.context_metadata"):
            cursor.execute("SELECT set_config(%s, '', true)", [name])
    member = factories.member()
    assert len(list_events(member)) == 1


def test_a_trigger_that_is_named_is_ignored() -> None:
    member = factories.member()
    with pgtrigger.ignore("members.Member:update_update"):
        Member.objects.filter(pk=member.pk).update(note="unseen")
    Member.objects.filter(pk=member.pk).update(note="seen")
    assert [event.note for event in list_events(member)][1:] == ["seen"]

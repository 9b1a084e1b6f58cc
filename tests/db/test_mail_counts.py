"""The number of mails in each state, which triggers keep: true whatever is written and however, and summed up by retention."""

from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.mail.models import Message, MessageCount
from apps.mail.retention import sum_up_counts
from apps.mail.selectors import STATES, count_mails
from tests import factories
from tests.db.page_client import signed_in, text

_numbers = count(1)
ENDED = ("sent", "failed", "discarded")


def build_mail(state: str = "waiting") -> Message:
    number, ended = next(_numbers), None if state == "waiting" else timezone.now()
    given = {"to": "a@example.org", "language": "en", "subject": f"Mail {number}", "text": "x", "sender": "b@example.org"}
    return Message(**given, message_id=f"<{number}@counts>", state=state, ended=ended)


def write_some(state: str, number: int) -> None:
    Message.objects.bulk_create([build_mail(state) for _each in range(number)])


def write_and_take_back(state: str, number: int) -> None:
    with transaction.atomic():
        write_some(state, number)
        transaction.set_rollback(True)


def remove_some(state: str, number: int) -> None:
    Message.objects.filter(pk__in=list(Message.objects.filter(state=state)[:number].values_list("pk", flat=True))).delete()


def end_all_that_wait(state: str, _number: int) -> None:
    Message.objects.filter(state="waiting").update(state=state, ended=None if state == "waiting" else timezone.now())


def save_all(_state: str, _number: int) -> None:
    for row in Message.objects.all():
        row.save()


def sum_up(_state: str, _number: int) -> None:
    sum_up_counts(timezone.now(), 1)


WAYS: list[Callable[[str, int], None]] = [write_some, write_and_take_back, remove_some, end_all_that_wait, save_all, sum_up]
STEPS = st.lists(st.tuples(st.sampled_from(WAYS), st.sampled_from(("waiting", *ENDED)), st.integers(0, 4)), max_size=8)


def count_rows() -> dict[str, int]:
    found = Counter(Message.objects.values_list("state", flat=True))
    return {state: found[state] if state != "all" else found.total() for state in STATES}


class TestMailCounts(TestCase):
    @settings(deadline=None)
    @given(steps=STEPS)
    def test_the_number_is_that_of_the_rows_whatever_was_written(self, steps: list[tuple[Any, str, int]]) -> None:
        for write, state, number in steps:
            write(state, number)
        assert {state: count_mails(state) for state in STATES} == count_rows()


@pytest.mark.django_db
def test_a_wrong_number_is_right_after_the_next_sum() -> None:
    write_some("sent", 2)
    MessageCount.objects.create(state="sent", number=70)
    MessageCount.objects.create(state="failed", number=1)
    sum_up_counts(timezone.now(), 1)
    assert list(MessageCount.objects.values_list("state", "number")) == [("sent", 2)]


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["sent", "all"])
def test_the_outbox_says_how_many_there_are_and_counts_none(state: str) -> None:
    write_some("sent", 120)
    staff = signed_in(factories.user("other"))
    with CaptureQueriesContext(connection) as captured:
        page = text(staff.get(reverse("mail:outbox"), {"state": state, "page": "3"}))
    assert "Rows 101–120 of 120" in page
    of_mails = [each["sql"] for each in captured if "COUNT(" in each["sql"] and 'FROM "mail_message"' in each["sql"]]
    assert [each for each in of_mails if "json_agg" not in each] == [], "beside the failed ones, which every page counts in its frame"


@pytest.mark.django_db
def test_a_search_in_the_outbox_counts_what_it_finds() -> None:
    write_some("sent", 60)
    found = Message.objects.order_by("-pk").first()
    assert found
    page = text(signed_in(factories.user("other")).get(reverse("mail:outbox"), {"state": "sent", "q": found.subject}))
    assert found.subject in page and "of 60" not in page

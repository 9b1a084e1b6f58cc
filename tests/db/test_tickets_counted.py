"""Numbers of tickets that were opened, solved and open, computed from the history, and their chart."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.members.models import Member
from apps.tickets import own_tickets, period_counts, services
from apps.tickets.models import Period, Ticket
from apps.tickets.trend import compute_ticket_summary
from tests import factories
from tests.db.page_client import queries, signed_in, text

DAY = timedelta(days=1)


@pytest.fixture
def mara(db: None) -> User:
    return factories.user("mara")


@pytest.fixture
def selin(db: None) -> Member:
    return factories.member(user=factories.user("selin", staff=False))


@pytest.fixture
def now() -> datetime:
    """Noon of today, so that no test runs across midnight."""
    return timezone.localtime().replace(hour=12, minute=0, second=0, microsecond=0)


def open_ticket(member: Member) -> Ticket:
    assert member.user
    return own_tickets.open_own_ticket(member=member, subject="No network", text="?", by=member.user)


def set_event_times(ticket: Ticket, *moments: datetime) -> None:
    """Set the times of the ticket's events in their order. The first is its opening."""
    events = Ticket.pgh_event_model.objects.filter(pgh_obj_id=ticket.pk).order_by("pgh_id")  # type: ignore[attr-defined]
    for event, at in zip(events, moments, strict=True):
        type(event).objects.filter(pk=event.pk).update(pgh_created_at=at)


def set_states(ticket: Ticket, *states: str) -> None:
    for state in states:
        Ticket.objects.filter(pk=ticket.pk).update(state=state)


def read_counts(name: str, now: datetime) -> dict[date, Any]:
    return {each.begins: each for each in period_counts.list_period_counts(name, now)}


def test_days_say_what_came_was_solved_and_stayed_open(selin: Member, now: datetime) -> None:
    first, second, third = open_ticket(selin), open_ticket(selin), open_ticket(selin)
    set_states(first, "waiting", "solved")
    set_states(second, "solved", "reopened")
    set_event_times(first, now - 5 * DAY, now - 5 * DAY, now - 3 * DAY)
    set_event_times(second, now - 5 * DAY, now - 4 * DAY, now - 2 * DAY)
    set_event_times(third, now)
    days = read_counts("month", now)
    today = timezone.localdate(now)
    seen = [
        (each.opened, each.solved, each.reopened, each.open) for each in (days[today - timedelta(days=back)] for back in range(6, -1, -1))
    ]
    assert seen == [(0, 0, 0, 0), (2, 0, 0, 2), (0, 1, 0, 1), (0, 1, 0, 0), (0, 0, 1, 1), (0, 0, 0, 1), (1, 0, 0, 2)]
    assert len(days) == 30 and period_counts.list_period_counts("month", now)[-1].begins == today


def test_weeks_begin_on_monday_and_say_the_same_as_their_days(selin: Member, now: datetime) -> None:
    for back in (0, 3, 9, 16):
        ticket = open_ticket(selin)
        set_states(ticket, "solved")
        set_event_times(ticket, now - back * DAY, now - back * DAY + timedelta(minutes=1))
    weeks = read_counts("year", now)
    assert len(weeks) == 53 and all(day.weekday() == 0 for day in weeks)
    assert sum(each.opened for each in weeks.values()) == sum(each.solved for each in weeks.values()) == 4
    for back in (9, 16):
        day = timezone.localdate(now - back * DAY)
        assert weeks[day - timedelta(days=day.weekday())].opened >= 1


def test_the_first_answer_counts_on_the_day_it_was_given(selin: Member, mara: User, now: datetime) -> None:
    for minutes in (10, 20, 60):
        ticket = open_ticket(selin)
        services.answer_ticket(ticket=ticket, text="Which port?", by=mara)
        opened = now - 2 * DAY
        Ticket.objects.filter(pk=ticket.pk).update(opened_at=opened, first_answered_at=opened + timedelta(minutes=minutes))
    split_off = open_ticket(selin)  # split off with an earlier answer, so both times are equal
    Ticket.objects.filter(pk=split_off.pk).update(opened_at=opened, first_answered_at=opened)
    found = read_counts("month", now)[timezone.localdate(now - 2 * DAY)]
    assert (found.answered, found.median) == (3, 1200)


def test_what_is_over_is_counted_once_and_today_each_time(selin: Member, now: datetime) -> None:
    set_event_times(open_ticket(selin), now - DAY)
    assert period_counts.store_all_past_periods(now) == 29 + 52 and period_counts.store_all_past_periods(now) == 0
    set_event_times(open_ticket(selin), now)
    Period.objects.filter(unit="day", begins=timezone.localdate(now - 2 * DAY)).delete()
    days = read_counts("month", now)
    assert (days[timezone.localdate(now - DAY)].opened, days[timezone.localdate(now)].opened) == (1, 1)
    assert Period.objects.filter(unit="day").count() == 29


def test_a_day_is_kept_only_when_nothing_of_it_can_still_be_committed(db: None) -> None:
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    period_counts.store_ended_periods("day", period_counts.list_first_days("day", 2, midnight), midnight + timedelta(minutes=5))
    assert not Period.objects.exists()
    period_counts.store_ended_periods("day", period_counts.list_first_days("day", 2, midnight), midnight + timedelta(minutes=11))
    assert Period.objects.get().begins == timezone.localdate(midnight) - timedelta(days=1)


def test_the_database_keeps_no_week_that_begins_in_its_middle_and_no_day_twice(db: None) -> None:
    given = {"opened": 0, "solved": 0, "reopened": 0, "answered": 0}
    monday = datetime(2026, 11, 16, tzinfo=UTC).date()
    Period.objects.create(unit="week", begins=monday, **given)
    for unit, begins in (("week", monday), ("week", monday + timedelta(days=1)), ("year", monday)):
        with pytest.raises(IntegrityError), transaction.atomic():
            Period.objects.create(unit=unit, begins=begins, **given)


def test_a_day_without_a_first_answer_is_called_that_and_no_reading(selin: Member, mara: User) -> None:
    open_ticket(selin)
    page = text(signed_in(mara).get("/tickets/chart/"))
    assert "no first answer" in page and "no reading" not in page.lower()


def test_who_answers_sees_on_the_dashboard_what_waits_and_how_many_are_open(selin: Member, mara: User, now: datetime) -> None:
    oldest, newer, answered, solved = (open_ticket(selin) for _each in range(4))
    for ticket, states, back in ((oldest, (), 3), (newer, (), 0), (answered, ("waiting",), 0), (solved, ("solved",), 0)):
        set_states(ticket, *states)
        set_event_times(ticket, *[now - back * DAY] * (1 + len(states)))
        Ticket.objects.filter(pk=ticket.pk).update(touched_at=now - back * DAY)
    found = compute_ticket_summary(now)
    assert (found.ours, found.theirs, found.open_count, found.more, found.came, found.solved, found.oldest) == (2, 1, 3, 2, 3, 1, oldest)
    page = text(signed_in(mara).get("/"))
    assert f'href="/tickets/{oldest.pk}/"' in page and "2 more since midnight" in page and 'href="/tickets/chart/"' in page


def test_who_does_not_answer_sees_no_tickets_on_the_dashboard(selin: Member) -> None:
    open_ticket(selin)
    assert "more since midnight" not in text(signed_in(factories.user("ada", roles=["auditor"])).get("/"))


def test_without_tickets_the_dashboard_says_that_nobody_waits(mara: User) -> None:
    page = text(signed_in(mara).get("/"))
    assert "no ticket waits for us" in page and "as many as at midnight" in page


def test_each_change_of_a_ticket_counts_from_the_state_before_it(selin: Member, now: datetime) -> None:
    """Also if the previous event is before the counted period, or several events are within it."""
    ticket = open_ticket(selin)
    set_states(ticket, "solved", "reopened", "solved", "reopened", "solved")
    set_event_times(ticket, now - 90 * DAY, now - 60 * DAY, now - 4 * DAY, now - 3 * DAY, now - 3 * DAY, now - 2 * DAY)
    days = read_counts("month", now)
    seen = [(each.opened, each.solved, each.reopened) for each in (days[timezone.localdate(now - back * DAY)] for back in (4, 3, 2))]
    assert seen == [(0, 0, 1), (0, 1, 1), (0, 1, 0)]


def test_the_page_draws_tables_and_hands_out_the_same_numbers(selin: Member, mara: User) -> None:
    client, member = signed_in(mara), selin
    client.get("/")
    open_ticket(member)
    page = text(client.get("/tickets/chart/"))
    assert "1 new in this period" in page and page.count("Show as table") == 3
    assert text(client.get("/tickets/chart/?window=year")).count("data-chart") == 3
    lines = b"".join(client.get("/tickets/chart.csv").streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert lines[0].endswith("begins,opened,solved,reopened,open,first_answered,median_seconds_to_first_answer")
    assert lines[-1] == f"{timezone.localdate().isoformat()},1,0,0,1,0,"
    few = queries(client, "/tickets/chart/")
    for _more in range(5):
        open_ticket(member)
    assert queries(client, "/tickets/chart/") == few

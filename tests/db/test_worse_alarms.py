"""What becomes worse is told again, by mail and to each channel that it concerns: each time that it lasts, and seldom if it flaps."""

from datetime import timedelta

from django.utils import timezone

from apps.alarms import services as alarms
from apps.alarms.lifecycle import REPORT_AFTER
from apps.alarms.models import Alarm
from tests import factories
from tests.db.test_alarm_channels import add, titles
from tests.db.test_alarms import HOUR, MINUTE, SECOND, break_gateway, fill_disk, look_after, mend_gateway, running, subjects

__all__ = ["running"]  # a fixture


def test_what_becomes_worse_is_told_again_once_that_lasts(running: factories.Network) -> None:
    fill_disk()
    look_after(MINUTE)
    alarm = Alarm.objects.get()
    alarms.mark_seen(alarm=alarm, by=running.admin)
    break_gateway()
    look_after(REPORT_AFTER)
    alarm.refresh_from_db()
    assert (alarm.severity, len(subjects())) == ("critical", 1) and alarm.seen, "it may be for a moment"
    look_after(REPORT_AFTER)
    look_after(HOUR)
    worse = Alarm.objects.get()
    assert (worse.severity, worse.seen, len(subjects())) == ("critical", None, 2)


def test_what_was_worse_for_a_moment_is_not_told_again(running: factories.Network) -> None:
    fill_disk()
    look_after(MINUTE)
    alarms.mark_seen(alarm=Alarm.objects.get(), by=running.admin)
    for _time in range(2):
        break_gateway()
        look_after(0 * SECOND)
        mend_gateway()
        look_after(MINUTE)
    alarm = Alarm.objects.get()
    assert (alarm.severity, alarm.seen_by, len(subjects())) == ("warning", running.admin, 1)


def test_what_is_gone_for_a_moment_before_it_is_told_that_it_is_worse_has_not_lasted(running: factories.Network) -> None:
    fill_disk()
    look_after(MINUTE)
    break_gateway()
    look_after(0 * SECOND)
    Alarm.objects.update(gone=timezone.now())
    look_after(REPORT_AFTER)
    assert len(subjects()) == 1
    look_after(REPORT_AFTER)
    assert len(subjects()) == 2


def test_who_presses_seen_while_it_is_worse_has_seen_that(running: factories.Network) -> None:
    fill_disk()
    look_after(MINUTE)
    break_gateway()
    look_after(0 * SECOND)
    alarms.mark_seen(alarm=Alarm.objects.get(), by=running.admin)
    Alarm.objects.update(seen=timezone.now())  # the database's now is when the test began
    look_after(REPORT_AFTER)
    assert len(subjects()) == 2 and Alarm.objects.get().seen_by == running.admin


def test_what_becomes_worse_again_and_again_is_told_later(running: factories.Network) -> None:
    fill_disk()
    look_after(MINUTE)
    for _time in range(3):
        break_gateway()
        look_after(0 * SECOND)
        look_after(MINUTE)
        mend_gateway()
        look_after(MINUTE)
    assert len(subjects()) == 4
    break_gateway()
    look_after(0 * SECOND)
    look_after(14 * MINUTE)
    assert len(subjects()) == 4
    look_after(MINUTE)
    assert len(subjects()) == 5


def test_what_became_worse_long_ago_does_not_delay_what_becomes_worse_now(running: factories.Network) -> None:
    fill_disk()
    look_after(MINUTE)
    for _time in range(4):
        break_gateway()
        look_after(0 * SECOND)
        look_after(MINUTE)
        mend_gateway()
        look_after(HOUR)
    assert len(subjects()) == 5
    assert len(Alarm.objects.get().worsenings) <= 3, "what is old is forgotten"


def test_what_becomes_worse_in_a_silence_is_told_again_when_that_is_over(running: factories.Network) -> None:
    fill_disk()
    look_after(MINUTE)
    alarms.silence_alarms(key="", until=timezone.now() + HOUR, reason="a new disk", by=running.admin)
    break_gateway()
    look_after(30 * MINUTE)
    assert len(subjects()) == 1
    look_after(31 * MINUTE)
    look_after(MINUTE)
    assert len(subjects()) == 2


# --- Channels


def test_each_time_that_an_alarm_becomes_critical_is_told_and_what_gets_better_is_not(running: factories.Network) -> None:
    every, night = add(running), add(running, name="Night", only_critical=True)
    fill_disk()
    look_after(MINUTE)
    for _outage in range(2):
        break_gateway()
        look_after(0 * SECOND)
        look_after(1 * MINUTE)
        look_after(1 * MINUTE)
        mend_gateway()
        look_after(timedelta(days=1))
    assert Alarm.objects.get().severity == "warning"
    assert [each.severity for each in every.messages.order_by("pk")] == ["warning", "critical", "critical"]
    assert [each.severity for each in night.messages.order_by("pk")] == ["critical", "critical"]


def test_what_was_critical_for_a_moment_is_not_told(running: factories.Network) -> None:
    channel = add(running)
    fill_disk()
    look_after(MINUTE)
    break_gateway()
    look_after(0 * SECOND)
    look_after(10 * SECOND)
    mend_gateway()
    look_after(MINUTE)
    assert len(titles(channel)) == 1


def test_a_channel_that_waits_is_not_told_again_of_what_got_better_meanwhile(running: factories.Network) -> None:
    channel = add(running, after_minutes=15)
    fill_disk()
    look_after(MINUTE)
    look_after(15 * MINUTE)
    assert len(titles(channel)) == 1
    break_gateway()
    look_after(0 * SECOND)
    look_after(MINUTE)
    mend_gateway()
    look_after(20 * MINUTE)
    assert Alarm.objects.get().turn == 1 and len(titles(channel)) == 1


def test_a_second_channel_waits_anew_when_what_was_seen_becomes_worse(running: factories.Network) -> None:
    first, second = add(running), add(running, name="Phone", after_minutes=15)
    fill_disk()
    look_after(MINUTE)
    alarms.mark_seen(alarm=Alarm.objects.get(), by=running.admin)
    look_after(HOUR)
    break_gateway()
    look_after(0 * SECOND)
    look_after(MINUTE)
    look_after(14 * MINUTE)
    assert (len(titles(first)), len(titles(second))) == (2, 0)
    look_after(1 * MINUTE)
    assert len(titles(second)) == 1


def test_a_second_channel_is_told_of_what_nobody_has_seen_although_it_becomes_worse_again_and_again(running: factories.Network) -> None:
    second = add(running, name="Phone", after_minutes=15)
    fill_disk()
    look_after(MINUTE)
    for _time in range(4):
        break_gateway()
        look_after(0 * SECOND)
        look_after(5 * MINUTE)
        mend_gateway()
        look_after(MINUTE)
    assert len(titles(second)) == 1

"""What is sent to channels is still true: no beginning of what is over, no end of what was not told, and nothing in quiet hours."""

from datetime import time, timedelta

from django.utils import timezone

from apps.alarms.channels import services
from apps.alarms.channels.models import AlarmChannel, ChannelMessage
from apps.alarms.channels.sender import has_due_messages, send_due_messages
from apps.alarms.channels.services import ChannelFacts
from apps.alarms.models import Alarm
from tests import factories
from tests.db.test_alarm_channels import State, add, titles
from tests.db.test_alarms import HOUR, MINUTE, SECOND, break_gateway, fill_disk, look_after, mend_gateway, running

__all__ = ["running"]  # a fixture


def refuse(_target: str, _title: str, _text: str) -> str:
    return "it is away"


def send_all(passed: timedelta = 0 * SECOND) -> list[str]:
    """Send what is due after this time; return what was sent."""
    sent: list[str] = []

    def take(_target: str, title: str, _text: str) -> str:
        sent.append(title.partition(":")[0])
        return ""

    send_due_messages(send=take, clock=lambda: timezone.now() + passed)
    return sent


def end_alarm() -> None:
    mend_gateway()
    look_after(0 * SECOND)
    look_after(2 * MINUTE)
    assert Alarm.objects.get().ended


def test_what_is_over_before_it_was_sent_is_not_sent_and_neither_is_its_end(running: factories.Network) -> None:
    add(running)
    break_gateway()
    look_after(MINUTE)
    send_due_messages(send=refuse)
    end_alarm()
    assert send_all() == [] and send_all(2 * HOUR) == []
    assert not ChannelMessage.objects.exclude(state=State.FAILED).exists()


def test_what_was_given_up_is_not_told_to_be_over(running: factories.Network) -> None:
    add(running)
    break_gateway()
    look_after(MINUTE)
    ChannelMessage.objects.update(state=State.FAILED, ended=timezone.now())
    end_alarm()
    assert len(titles()) == 1


def test_an_end_waits_for_the_beginning_that_a_worker_is_sending(running: factories.Network) -> None:
    add(running)
    break_gateway()
    look_after(MINUTE)
    ChannelMessage.objects.update(claimed_until=timezone.now() + HOUR)
    end_alarm()
    assert send_all() == [] and not has_due_messages(timezone.now())
    ChannelMessage.objects.filter(event="began").update(state=State.SENT, ended=timezone.now())
    assert send_all() == ["Over"]


def switch(channel: AlarmChannel, running: factories.Network, *, active: bool) -> None:
    version = AlarmChannel.objects.get(pk=channel.pk).version
    services.change_channel(channel=channel, version=version, facts=ChannelFacts(channel.name, active=active), by=running.admin)


def test_what_waits_when_a_channel_is_switched_off_is_not_sent_when_it_is_switched_on(running: factories.Network) -> None:
    channel = add(running)
    break_gateway()
    look_after(MINUTE)
    switch(channel, running, active=False)
    end_alarm()
    switch(channel, running, active=True)
    look_after(MINUTE)
    assert send_all() == []


def test_what_is_still_open_when_a_channel_is_switched_on_is_told(running: factories.Network) -> None:
    channel = add(running)
    break_gateway()
    look_after(MINUTE)
    switch(channel, running, active=False)
    look_after(MINUTE)
    switch(channel, running, active=True)
    look_after(MINUTE)
    assert send_all() == ["Alarm"]


def test_what_is_tried_again_in_quiet_hours_waits_for_their_end_unless_it_is_critical(running: factories.Network) -> None:
    now = timezone.localtime().replace(hour=12, minute=0)  # an hour that each day has once
    channel = add(running)
    fill_disk()
    look_after(MINUTE)
    AlarmChannel.objects.update(quiet_from=time(11), quiet_until=time(13))
    services.send_test(channel=channel, by=running.admin)
    ChannelMessage.objects.update(due=now)
    assert send_all(now - timezone.now()) == ["Test of the channel Matrix"]
    assert timezone.localtime(ChannelMessage.objects.get(event="began").due).time() == time(13)
    ChannelMessage.objects.filter(event="began").update(due=now, severity="critical")
    assert send_all(now - timezone.now()) == ["Alarm"]

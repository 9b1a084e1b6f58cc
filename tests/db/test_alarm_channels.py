"""Channels for alarms: what is told to which of them and when, with a real service that takes it, refuses it, or hangs up."""

import json
from datetime import time, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.db.models import F
from django.test import Client
from django.utils import timezone
from django.utils.translation import override

from apps.accounts import tokens
from apps.alarms import services as alarms
from apps.alarms.channels import apprise_client, services
from apps.alarms.channels.models import AlarmChannel, ChannelMessage
from apps.alarms.channels.sender import has_due_messages, send_due_messages
from apps.alarms.channels.services import ChannelFacts
from apps.alarms.channels.target_encryption import decrypt_target
from apps.alarms.channels.writing import is_due
from apps.alarms.duty.escalation import DutyRule
from apps.alarms.models import Alarm
from apps.lib.errors import Conflict, Problem
from apps.operations import pruning
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.test_alarms import HOUR, MINUTE, SECOND, break_gateway, look_after, mend_gateway, running
from tests.webhook_receiver import Receiver, receiving

__all__ = ["running"]
State = ChannelMessage.State


def add(network: factories.Network, target: str = "json://127.0.0.1:9/x", **given: Any) -> AlarmChannel:
    facts = ChannelFacts(name=given.pop("name", "Matrix"), target=target, **given)
    return services.add_channel(facts=facts, by=network.admin)


def build_target(receiver: Receiver) -> str:
    """Return apprise's address of the receiver."""
    return f"json://{urlsplit(receiver.url).netloc}/alarms"


def titles(channel: AlarmChannel | None = None) -> list[str]:
    rows = ChannelMessage.objects.order_by("pk")
    return list((rows.filter(channel=channel) if channel else rows).values_list("title", flat=True))


def test_an_alarm_arrives_at_a_real_service_and_so_does_its_end(running: factories.Network) -> None:
    with receiving() as receiver:
        add(running, build_target(receiver))
        break_gateway()
        look_after(0 * SECOND)
        look_after(1 * MINUTE)
        send_due_messages()
        mend_gateway()
        look_after(1 * MINUTE)
        look_after(2 * MINUTE)
        send_due_messages()
        said = [json.loads(body) for _headers, body in receiver.came]
    about = Alarm.objects.get().title
    assert [each["title"] for each in said] == [f"Alarm: {about}", f"Over: {about}"]
    assert "no route to host" in said[0]["message"] and "/gateways/" in said[0]["message"]
    assert set(ChannelMessage.objects.values_list("state", flat=True)) == {State.SENT}


def test_each_look_writes_a_message_once(running: factories.Network) -> None:
    add(running)
    break_gateway()
    for _look in range(4):
        look_after(1 * MINUTE)
    assert len(titles()) == 1


def test_an_alarm_that_stays_open_for_months_is_told_once(running: factories.Network) -> None:
    add(running)
    break_gateway()
    look_after(MINUTE)
    ChannelMessage.objects.update(state=State.SENT, ended=timezone.now() - timedelta(days=31))
    pruning.prune_all()
    look_after(SECOND)
    assert len(titles()) == 1
    mend_gateway()
    look_after(0 * SECOND)
    look_after(2 * MINUTE)
    pruning.prune_all()
    assert [each.partition(":")[0] for each in titles()] == ["Alarm", "Over"], "without the first, the second would not be sent"


def test_a_channel_in_german_speaks_german(running: factories.Network) -> None:
    add(running, language="de")
    break_gateway()
    look_after(0 * SECOND)
    look_after(1 * MINUTE)
    with override("de"):
        assert titles() == [f"Alarm: {Alarm.objects.get().title}"]
        assert "antwortet" in titles()[0]


def test_a_second_channel_is_told_when_nobody_has_seen_it_in_time(running: factories.Network) -> None:
    first, second = add(running), add(running, name="Phone", after_minutes=15)
    break_gateway()
    look_after(0 * SECOND)
    look_after(1 * MINUTE)
    look_after(14 * MINUTE)
    assert (len(titles(first)), len(titles(second))) == (1, 0)
    look_after(1 * MINUTE)
    assert len(titles(second)) == 1


def test_a_second_channel_waits_from_when_the_first_was_told(running: factories.Network) -> None:
    first, second = add(running), add(running, name="Phone", after_minutes=15)
    alarms.silence_alarms(key="", until=timezone.now() + HOUR, reason="maintenance", by=running.admin)
    break_gateway()
    look_after(30 * MINUTE)
    look_after(31 * MINUTE)
    look_after(14 * MINUTE)
    assert (len(titles(first)), len(titles(second))) == (1, 0)
    look_after(1 * MINUTE)
    assert len(titles(second)) == 1


def test_what_somebody_takes_care_of_does_not_escalate(running: factories.Network) -> None:
    add(running, after_minutes=15)
    break_gateway()
    look_after(0 * SECOND)
    alarms.mark_seen(alarm=Alarm.objects.get(), by=running.admin)
    look_after(20 * MINUTE)
    assert titles() == []


def test_a_channel_that_was_not_told_of_an_alarm_is_not_told_that_it_is_over(running: factories.Network) -> None:
    add(running, after_minutes=60)
    break_gateway()
    look_after(0 * SECOND)
    look_after(2 * MINUTE)
    mend_gateway()
    look_after(1 * MINUTE)
    look_after(2 * MINUTE)
    assert Alarm.objects.get().ended
    assert titles() == []


def test_a_silence_holds_for_channels_too(running: factories.Network) -> None:
    add(running)
    alarms.silence_alarms(key="", until=timezone.now() + timedelta(hours=1), reason="maintenance", by=running.admin)
    break_gateway()
    look_after(0 * SECOND)
    look_after(1 * MINUTE)
    assert titles() == []


def test_an_end_in_a_silence_is_told_after_it(running: factories.Network) -> None:
    add(running)
    break_gateway()
    look_after(MINUTE)
    alarms.silence_alarms(key="", until=timezone.now() + HOUR, reason="maintenance", by=running.admin)
    mend_gateway()
    look_after(0 * SECOND)
    look_after(2 * MINUTE)
    assert len(titles()) == 1
    look_after(HOUR)
    look_after(MINUTE)
    assert [each.partition(":")[0] for each in titles()] == ["Alarm", "Over"]


def test_what_began_anew_in_a_silence_is_told_after_the_end_of_what_was_before(running: factories.Network) -> None:
    add(running)
    break_gateway()
    look_after(MINUTE)
    alarms.silence_alarms(key="", until=timezone.now() + HOUR, reason="maintenance", by=running.admin)
    mend_gateway()
    look_after(0 * SECOND)
    look_after(2 * MINUTE)
    break_gateway()
    look_after(HOUR)
    look_after(MINUTE)
    assert [each.partition(":")[0] for each in titles()] == ["Alarm", "Over", "Alarm"]


def test_quiet_hours_hold_warnings_and_let_critical_alarms_through(running: factories.Network) -> None:
    now = timezone.localtime().replace(hour=12)  # an hour that each day has once
    channel = add(running, quiet_from=(now - timedelta(hours=1)).time(), quiet_until=(now + timedelta(hours=1)).time())
    alarm = Alarm(severity="warning", began=now - timedelta(minutes=5), texts={})
    assert not is_due(channel, alarm, 0, DutyRule(None, 10), now)
    assert is_due(channel, alarm, 0, DutyRule(None, 10), now + timedelta(hours=1, seconds=1))
    alarm.severity = "critical"
    assert is_due(channel, alarm, 0, DutyRule(None, 10), now)


def test_only_critical_alarms_reach_a_channel_that_wants_no_others(running: factories.Network) -> None:
    add(running, only_critical=True)
    break_gateway()
    look_after(0 * SECOND)
    look_after(1 * MINUTE)
    assert [each.severity for each in ChannelMessage.objects.all()] == ["critical"]


def test_a_service_that_refuses_is_tried_again_later_and_named(running: factories.Network) -> None:
    with receiving(answers=[500, 200]) as receiver:
        channel = add(running, build_target(receiver))
        break_gateway()
        look_after(0 * SECOND)
        look_after(1 * MINUTE)
        send_due_messages()
        row = ChannelMessage.objects.get()
        channel.refresh_from_db()
        assert (row.state, row.tries) == (State.WAITING, 1)
        assert channel.failing_since and "500" in channel.error
        assert "500" in text(signed_in(running.admin).get("/alarms/channels/"))
        send_due_messages()
        assert len(receiver.came) == 1, "it is not due yet"
        ChannelMessage.objects.update(due=timezone.now())
        send_due_messages()
    row.refresh_from_db()
    channel.refresh_from_db()
    assert row.state == State.SENT
    assert channel.failing_since is None and channel.error == ""


def test_a_message_from_while_the_clock_was_ahead_is_sent_when_it_is_right_again(running: factories.Network) -> None:
    with receiving(answers=[500, 200]) as receiver:
        add(running, build_target(receiver))
        break_gateway()
        look_after(0 * SECOND)
        look_after(1 * MINUTE)
        ChannelMessage.objects.update(written=F("written") + 2 * HOUR, due=F("due") + 2 * HOUR)
        assert has_due_messages(timezone.now())
        send_due_messages()
        assert len(receiver.came) == 1 and not has_due_messages(timezone.now()), "it has its pause"
        send_due_messages(clock=lambda: timezone.now() + MINUTE)
    assert ChannelMessage.objects.get().state == State.SENT


def test_a_message_is_given_up_after_a_day(running: factories.Network) -> None:
    add(running)
    break_gateway()
    look_after(0 * SECOND)
    look_after(1 * MINUTE)
    ChannelMessage.objects.update(written=F("written") - timedelta(days=1))
    send_due_messages()
    row = ChannelMessage.objects.get()
    assert row.state == State.FAILED and row.error


def test_a_worker_that_died_leaves_its_message_to_the_next(running: factories.Network) -> None:
    add(running)
    services.send_test(channel=AlarmChannel.objects.get(), by=running.admin)
    sent: list[str] = []

    def die(_target: str, _title: str, _text: str) -> str:
        raise KeyboardInterrupt

    def take(_target: str, title: str, _text: str) -> str:
        sent.append(title)
        return ""

    with pytest.raises(KeyboardInterrupt):
        send_due_messages(send=die)
    send_due_messages(send=take)
    assert sent == []
    send_due_messages(send=take, clock=lambda: timezone.now() + timedelta(minutes=3))
    assert sent == ["Test of the channel Matrix"]


def test_a_channel_that_fails_keeps_no_other_waiting(running: factories.Network) -> None:
    with receiving() as receiver:
        add(running, name="A dead one")
        add(running, build_target(receiver), name="Phone")
        for channel in AlarmChannel.objects.all():
            services.send_test(channel=channel, by=running.admin)
        send_due_messages()
        assert len(receiver.came) == 1
    assert {each.channel.name: each.state for each in ChannelMessage.objects.all()} == {"A dead one": State.FAILED, "Phone": State.SENT}


def test_a_failure_that_the_database_cannot_hold_is_recorded_all_the_same(running: factories.Network) -> None:
    channel = add(running)
    services.send_test(channel=channel, by=running.admin)

    def fail(_target: str, _title: str, _text: str) -> str:
        raise ValueError("what\0is this")

    send_due_messages(send=fail)
    channel.refresh_from_db()
    assert channel.error == "ValueError: what\N{REPLACEMENT CHARACTER}is this" and channel.failing_since
    assert ChannelMessage.objects.get().claimed_until is None


def test_an_address_is_stored_encrypted_and_shown_without_its_secrets(running: factories.Network) -> None:
    channel = add(running, "matrix://netzwart:correcthorse@matrix.example.org/#alarms")
    assert "correcthorse" not in channel.target + channel.shown
    assert decrypt_target(channel).count("correcthorse") == 1
    client = signed_in(running.admin)
    for page in ("/alarms/channels/", f"/alarms/channels/{channel.pk}/"):
        assert "correcthorse" not in text(client.get(page)) and "matrix://netzwart" in text(client.get(page))


def test_addresses_survive_a_new_secret_key(running: factories.Network, settings: LazySettings) -> None:
    channel, old = add(running), settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another", [old]
    call_command("reencrypt")
    settings.SECRET_KEY_FALLBACKS = []
    channel.refresh_from_db()
    assert decrypt_target(channel) == "json://127.0.0.1:9/x"


def test_without_its_key_a_channel_says_what_to_do(running: factories.Network, settings: LazySettings) -> None:
    services.send_test(channel=add(running), by=running.admin)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another", []
    send_due_messages()
    assert "enter it again" in AlarmChannel.objects.get().error


@pytest.mark.parametrize(
    ("changed", "fieldname"),
    [
        ({"target": "nonsense://x"}, "target"),
        ({"target": ""}, "target"),
        ({"name": "  "}, "name"),
        ({"name": "Matrix"}, "name"),
        ({"after_minutes": 1441}, "after_minutes"),
        ({"quiet_from": time(22)}, "quiet_until"),
    ],
)
def test_nonsense_is_refused_with_its_field(running: factories.Network, changed: dict[str, Any], fieldname: str) -> None:
    add(running)
    with pytest.raises(Problem) as refused:
        services.add_channel(facts=ChannelFacts(**{"name": "Other", "target": "json://127.0.0.1:9/x"} | changed), by=running.admin)
    assert refused.value.fieldname == fieldname
    assert AlarmChannel.objects.count() == 1


def test_the_database_refuses_half_quiet_hours(running: factories.Network) -> None:
    channel = add(running)
    with pytest.raises(IntegrityError), transaction.atomic():
        AlarmChannel.objects.filter(pk=channel.pk).update(quiet_from=timezone.localtime().time())


def test_an_outdated_version_is_a_conflict(running: factories.Network) -> None:
    channel = add(running)
    services.change_channel(channel=channel, version=1, facts=ChannelFacts(name="Ours"), by=running.admin)
    with pytest.raises(Conflict):
        services.change_channel(channel=channel, version=1, facts=ChannelFacts(name="Mine"), by=running.admin)
    assert decrypt_target(AlarmChannel.objects.get()) == "json://127.0.0.1:9/x"


def test_a_channel_is_added_tested_changed_and_removed_on_pages(running: factories.Network, client: Client) -> None:
    mara = signed_in(running.admin)
    assert "No channels yet" in text(mara.get("/alarms/channels/"))
    given = {"name": "Phone", "target": "json://127.0.0.1:9/x", "after_minutes": "15", "language": "de", "active": "on"}
    assert mara.post("/alarms/channels/add/", given | {"target": "x"}).status_code == 422
    assert mara.post("/alarms/channels/add/", given).status_code == 302
    row = AlarmChannel.objects.get()
    mara.post(f"/alarms/channels/{row.pk}/test/")
    assert "On its way" in text(mara.get("/alarms/channels/"))
    mara.post(f"/alarms/channels/{row.pk}/", given | {"name": "Night", "target": "", "version": "1"})
    assert (AlarmChannel.objects.get().name, AlarmChannel.objects.get().shown) == ("Night", row.shown)
    assert "1 waiting message" in text(mara.get(f"/alarms/channels/{row.pk}/remove/"))
    mara.post(f"/alarms/channels/{row.pk}/remove/")
    assert not AlarmChannel.objects.exists()


def test_a_channel_by_api_never_tells_its_address(running: factories.Network, client: Client) -> None:
    _token, key = tokens.create_token(user=running.admin, name="script")
    headers = {"Authorization": f"Bearer {key}"}
    given = {
        "name": "Phone",
        "target": "matrix://netzwart:correcthorse@matrix.example.org/#alarms",
        "quiet_from": "23:00",
        "quiet_until": "07:00",
    }
    made = client.post("/api/alarms/channels/", given, content_type="application/json", headers=headers)
    assert made.status_code == 201 and "correcthorse" not in text(made)
    path = f"/api/alarms/channels/{made.json()['id']}/"
    assert client.post(f"{path}test/", {}, content_type="application/json", headers=headers).status_code == 200
    changed = client.patch(path, {"only_critical": True}, content_type="application/json", headers=headers | {"If-Match": made["ETag"]})
    assert changed.status_code in (200, 412)
    moved = client.patch(path, {"target": "jsons://netzwart:s3cret@127.0.0.1/x"}, content_type="application/json", headers=headers)
    assert moved.status_code == 200 and "s3cret" not in text(moved)
    assert decrypt_target(AlarmChannel.objects.get()) == "jsons://netzwart:s3cret@127.0.0.1/x"
    assert client.delete(path, headers=headers).status_code == 204


def test_a_reason_contains_no_address() -> None:
    target = "json://netzwart:correcthorse@127.0.0.1:9/x"
    assert "correcthorse" not in apprise_client.send_message(target, "title", "text")

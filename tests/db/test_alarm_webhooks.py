"""Webhooks tell of alarms at the same moments as mails, signed, and only where the owner may see them."""

import json
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

from django.conf import LazySettings
from django.utils import timezone

from apps.accounts.models import User
from apps.alarms import services as alarms
from apps.alarms.lifecycle import REPORT_AFTER
from apps.alarms.models import Alarm
from apps.alarms.watch import watch_alarms
from apps.deployments.models import GatewayState
from apps.mail.services import switch_notice_off
from apps.webhooks import delivery_sender, services
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.services import EndpointFacts
from apps.webhooks.signing import compute_signature, derive_secret
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.test_alarms import MINUTE, SECOND, break_gateway, fill_disk, look_after, mend_gateway, running, subjects
from tests.db.test_planned_work_silences import end_the_window, work
from tests.webhook_receiver import receiving

__all__ = ["running"]  # a fixture
HOUR = timedelta(hours=1)


def hook(by: User, name: str = "Door", url: str = "https://hooks.example.org/", **changes: Any) -> Endpoint:
    return services.add_webhook(facts=EndpointFacts(name, url, **changes), by=by)[0]


def bodies() -> list[dict[str, Any]]:
    rows = Delivery.objects.filter(event__startswith="alarm.").order_by("id")
    return [json.loads(body) for body in rows.values_list("body", flat=True)]


def events() -> list[str]:
    return [each["event"] for each in bodies()]


def test_an_alarm_that_lasts_is_told_once_and_once_that_it_is_over(running: factories.Network) -> None:
    hook(running.admin, kinds=["alarm"])
    break_gateway()
    watch_alarms(timezone.now())
    look_after(REPORT_AFTER - 10 * SECOND)
    assert events() == []
    look_after(10 * SECOND)
    look_after(HOUR)
    [began] = bodies()
    [told] = began["alarms"]
    alarm = Alarm.objects.get()
    assert (began["event"], began["object"], told["id"], told["severity"]) == ("alarm.began", None, alarm.pk, "critical")
    assert told["title"].startswith("IPv4 has no primary") and told["gateways"] == [running.gateways[0].pk] and told["gone"] is None
    assert told["url"].endswith(f"/api/alarms/alarms/{alarm.pk}/") and told["page"].endswith(alarm.path)
    assert signed_in(running.admin).get("/api" + told["url"].partition("/api")[2]).json()["key"] == told["key"]
    mend_gateway()
    watch_alarms(timezone.now())
    look_after(2 * MINUTE)
    assert events() == ["alarm.began", "alarm.over"] and bodies()[1]["alarms"][0]["gone"]


def test_what_was_over_soon_is_not_told(running: factories.Network) -> None:
    hook(running.admin)
    break_gateway()
    watch_alarms(timezone.now())
    mend_gateway()
    look_after(30 * SECOND)
    look_after(2 * MINUTE)
    assert Alarm.objects.get().ended and events() == []


def test_all_that_begins_at_one_look_is_one_event_in_the_owners_language(running: factories.Network) -> None:
    hook(running.admin)
    hook(factories.user("jonas", language="de"), "German")
    break_gateway()
    GatewayState.objects.filter(gateway__name="nat-2").update(disk="The disk is full.")
    watch_alarms(timezone.now())
    look_after(MINUTE)
    english, german = bodies()
    assert [len(each["alarms"]) for each in (english, german)] == [2, 2]
    assert "nat-1 antwortet dem Portal" in str(german["alarms"]) and "nat-1 has not answered" in str(english["alarms"])


def test_silences_and_planned_work_hold_it_back_and_what_is_left_is_told_then(running: factories.Network) -> None:
    hook(running.admin)
    silence = alarms.silence_alarms(key="", until=timezone.now() + HOUR, reason="rewiring", by=running.admin)
    break_gateway()
    look_after(30 * MINUTE)
    alarms.end_silence(silence=silence, by=running.admin)
    work(running)
    look_after(MINUTE)
    assert events() == []
    end_the_window(HOUR)
    look_after(MINUTE)
    assert events() == ["alarm.began"]


def test_what_becomes_worse_is_told_again_once_that_lasts(running: factories.Network) -> None:
    hook(running.admin)
    fill_disk()
    watch_alarms(timezone.now())
    look_after(MINUTE)
    break_gateway()
    look_after(0 * SECOND)
    assert len(events()) == 1
    look_after(REPORT_AFTER)
    assert [each["alarms"][0]["severity"] for each in bodies()] == ["warning", "critical"]


def test_what_was_told_and_ends_during_planned_work_is_told_to_be_over_after_it(running: factories.Network) -> None:
    hook(running.admin)
    break_gateway()
    look_after(MINUTE)
    work(running)
    mend_gateway()
    look_after(0 * SECOND)
    look_after(2 * MINUTE)
    assert Alarm.objects.get().ended and events() == ["alarm.began"]
    end_the_window(HOUR)
    end_the_window(MINUTE)
    assert events() == ["alarm.began", "alarm.over"]


def test_it_is_told_although_nobody_reads_mails(running: factories.Network) -> None:
    hook(running.admin)
    switch_notice_off(address="mara@lindenhof.example", notice="alarms")
    break_gateway()
    watch_alarms(timezone.now())
    look_after(MINUTE)
    look_after(MINUTE)
    assert (events(), subjects()) == (["alarm.began"], [])


def test_only_what_a_webhook_wants_and_its_owner_may_see_is_queued(running: factories.Network) -> None:
    hook(running.admin, "others", kinds=["member"])
    hook(running.admin, "ends", events=["removed"])
    hook(running.admin, "paused", active=False)
    left = factories.user("tom")
    hook(left, "left")
    User.objects.filter(pk=left.pk).update(roles=["member"])
    break_gateway()
    watch_alarms(timezone.now())
    look_after(MINUTE)
    assert events() == []
    mend_gateway()
    watch_alarms(timezone.now())
    look_after(2 * MINUTE)
    assert [(each.endpoint.name, each.event) for each in Delivery.objects.all()] == [("ends", "alarm.over")]


def test_without_a_webhook_then_a_later_one_is_not_told_of_what_is_old(running: factories.Network) -> None:
    break_gateway()
    watch_alarms(timezone.now())
    look_after(MINUTE)
    hook(running.admin)
    look_after(MINUTE)
    assert events() == []


def test_it_is_delivered_signed_and_tried_again(running: factories.Network, settings: LazySettings) -> None:
    settings.WEBHOOK_HTTP, settings.WEBHOOK_NETWORKS = True, [ip_network("127.0.0.0/8")]
    with receiving(answers=[503, 200]) as receiver:
        endpoint = hook(running.admin, url=receiver.url)
        break_gateway()
        watch_alarms(timezone.now())
        look_after(MINUTE)
        delivery_sender.send_due_deliveries()
        delivery_sender.send_due_deliveries(lambda: timezone.now() + HOUR)
    (headers, body), (_headers, again) = receiver.came
    signature = headers["X-Netzwart-Signature"]
    at = signature.split(",")[0].removeprefix("t=")
    assert body == again and json.loads(body)["event"] == headers["X-Netzwart-Event"] == "alarm.began"
    assert signature == compute_signature(derive_secret(endpoint.salt), int(at), body)
    assert Delivery.objects.get().state == Delivery.State.SENT


def test_what_the_owner_may_not_see_any_more_is_dropped_before_it_is_sent(running: factories.Network, settings: LazySettings) -> None:
    settings.WEBHOOK_HTTP, settings.WEBHOOK_NETWORKS = True, [ip_network("127.0.0.0/8")]
    with receiving() as receiver:
        hook(factories.user("tom"), url=receiver.url)
        break_gateway()
        watch_alarms(timezone.now())
        look_after(MINUTE)
        User.objects.filter(username="tom").update(roles=["member"])
        delivery_sender.send_due_deliveries()
    assert receiver.came == [] and Delivery.objects.get().state == Delivery.State.DROPPED


def test_the_kind_is_among_those_to_choose_from(running: factories.Network) -> None:
    assert 'value="alarm"' in signed_in(running.admin).get("/webhooks/add/").content.decode()
    assert "Alarms" in text(signed_in(running.admin).get("/webhooks/add/"))

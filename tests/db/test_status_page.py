"""The public status page: what was seen and told, its feeds, subscriptions with a confirmed address, and mails that go out once."""

import json
import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.utils import timezone
from django.utils.translation import override
from icalendar import Calendar

from apps.accounts.models import User
from apps.gateways.health.models import HealthFinding
from apps.gateways.packet_probes.models import ProbeStatus
from apps.mail.models import Message, SwitchedOff
from apps.mail.services import switch_notice_off
from apps.status.availability.bookkeeping import LONGEST_GAP, note_levels
from apps.status.availability.models import ServiceDay, ServiceLevel, ServiceState
from apps.status.availability.observation import observe_services
from apps.status.incidents import services
from apps.status.incidents.models import Incident, IncidentUpdate
from apps.status.network_services import NetworkService
from apps.status.page.status_view import build_status_view
from apps.status.retention import prune_subscriptions
from apps.status.subscriptions import mails
from apps.status.subscriptions.models import Subscription
from apps.status.subscriptions.services import NOBODY, ask_for_subscription, build_token, confirm_subscription
from tests import factories
from tests.db.page_client import text
from tests.db.test_incidents import HOUR, announce, describe, say

SECOND = timedelta(seconds=1)
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def mara(db: None) -> User:
    return factories.user("mara")


@pytest.fixture(autouse=True)
def forget_requests() -> Iterator[None]:
    """Begin without addresses that asked too often."""
    cache.clear()
    yield
    cache.clear()


def note(level: ServiceLevel, at: Any, service: NetworkService = NetworkService.IPV4) -> None:
    note_levels({service: level}, at)


def subscribe(address: str, language: str = "en") -> Subscription:
    ask_for_subscription(address=address, language=language)
    made = Subscription.objects.get(address=address)
    confirm_subscription(subscription=made)
    Message.objects.all().delete()
    return made


def write_all_mails() -> None:
    while mails.write_pending_mails():
        continue


def letters() -> list[tuple[str, str]]:
    return list(Message.objects.filter(template="status_update").order_by("to").values_list("to", "subject"))


@pytest.mark.django_db
def test_seconds_are_added_to_the_day_as_what_was_seen_before() -> None:
    noon = timezone.now().replace(hour=11)
    note(ServiceLevel.FINE, noon)
    note(ServiceLevel.DOWN, noon + 15 * SECOND)
    note(ServiceLevel.DOWN, noon + 45 * SECOND)
    note(ServiceLevel.FINE, noon + 60 * SECOND)
    note(ServiceLevel.FINE, noon + 50 * SECOND)  # a late worker adds nothing
    day, state = ServiceDay.objects.get(), ServiceState.objects.get()
    assert (day.fine, day.down, day.degraded) == (15, 45, 0)
    assert (state.level, state.since, state.noted) == ("fine", noon + 60 * SECOND, noon + 60 * SECOND)


@pytest.mark.django_db
def test_what_is_seen_counts_after_the_clock_was_ahead() -> None:
    noon = timezone.now().replace(hour=11)
    note(ServiceLevel.FINE, noon + 2 * HOUR)
    note(ServiceLevel.FINE, noon)
    state = ServiceState.objects.get()
    assert (state.level, state.since, state.noted) == ("fine", noon, noon) and not ServiceDay.objects.exists()
    note(ServiceLevel.DOWN, noon + 10 * SECOND)
    note(ServiceLevel.DOWN, noon + 25 * SECOND)
    day, state = ServiceDay.objects.get(), ServiceState.objects.get()
    assert (day.fine, day.down, state.level, state.since) == (10, 15, "down", noon + 10 * SECOND)


@pytest.mark.django_db
@pytest.mark.parametrize(("service", "down"), [(NetworkService.IPV4, 0), (NetworkService.PORTAL, 600)])
def test_a_time_without_a_look_is_not_known_but_the_portal_was_away(service: NetworkService, down: int) -> None:
    noon = timezone.now().replace(hour=11)
    note(ServiceLevel.FINE, noon, service)
    note(ServiceLevel.FINE, noon + 2 * LONGEST_GAP, service)
    assert sum(ServiceDay.objects.values_list("down", flat=True)) == down and not ServiceDay.objects.exclude(fine=0).exists()


def test_probes_of_the_gateways_that_carry_a_family_decide(network: factories.Network) -> None:
    now = timezone.now()
    probed = {"family": 4, "at": now, "since": now, "recent": [2_000] * 5, "lost_echoes": [0] * 5}
    carrier, standby = sorted(network.gateways, key=lambda gateway: not gateway.carries4)
    ProbeStatus.objects.create(gateway=carrier, state="passed", answered=now, **probed)
    ProbeStatus.objects.create(gateway=standby, state="lost", failures=9, **probed)
    observe_services(now)
    assert dict(ServiceState.objects.values_list("service", "level")) == {"ipv4": "fine", "ipv6": "unknown", "portal": "fine"}
    ProbeStatus.objects.filter(gateway=carrier).update(state="lost", failures=2)
    observe_services(now + SECOND)
    assert ServiceState.objects.get(pk="ipv4").level == "down"


def test_a_cable_to_members_that_is_out_counts_although_probes_come_back(network: factories.Network) -> None:
    now = timezone.now()
    carrier = next(each for each in network.gateways if each.carries4)
    probed = {"family": 4, "at": now, "since": now, "recent": [2_000] * 5, "lost_echoes": [0] * 5}
    ProbeStatus.objects.create(gateway=carrier, state="passed", answered=now, **probed)
    cable = {"links": "lan0", "missing": "", "carries": 1.0, "sync": 0.0, "probe": 0.0}
    HealthFinding.objects.create(gateway=carrier, rule="link_down", kind="bad", evidence=cable, since=now, at=now, times=9)
    observe_services(now)
    assert ServiceState.objects.get(pk="ipv4").level == "down"
    HealthFinding.objects.update(evidence=cable | {"carries": 0.0, "probe": 1.0})
    observe_services(now + SECOND)
    assert ServiceState.objects.get(pk="ipv4").level == "fine"


def test_the_page_says_what_was_seen_when_nobody_has_told_anything(mara: User) -> None:
    now = timezone.now()
    assert "No fault is known" in build_status_view(now).summary
    note_levels(dict.fromkeys(NetworkService, ServiceLevel.FINE), now)
    assert build_status_view(now).summary == "All works."
    note_levels({NetworkService.IPV6: ServiceLevel.DOWN}, now + SECOND)
    view = build_status_view(now + SECOND)
    assert view.summary.startswith("Internet IPv6: not reachable since") and view.kind == "bad"
    for clock in (now + 2 * LONGEST_GAP, now - 2 * LONGEST_GAP):  # what was noted is old, or was noted while the clock was ahead
        stale = build_status_view(clock)
        assert "No fault is known" in stale.summary and {line.state.word for line in stale.services} == {"not known"}
    services.open_incident(facts=describe(), first=say(), by=mara)
    told = build_status_view(now + SECOND)
    assert told.summary.startswith("Slow in houses A to F since") and told.follows == "We see it, too, and are looking."
    assert [line.state.word for line in told.services] == ["slow or unstable", "not reachable", "fine"]


def test_planned_work_is_planned_then_under_way_and_then_late(mara: User) -> None:
    work = announce(mara, impact="none")
    assert [told.incident for told in build_status_view(timezone.now()).planned] == [work]
    under_way = build_status_view(work.began + SECOND)
    assert under_way.summary.startswith("nat-1 gets a new kernel") and under_way.kind == "moving"
    assert build_status_view(work.began + 2 * HOUR).open[0].phase == "overdue"


@pytest.mark.django_db
def test_ninety_days_are_drawn_with_words_for_each() -> None:
    today = timezone.localdate()
    ServiceDay.objects.create(service="ipv4", day=today - timedelta(days=2), fine=86_400 - 1_300, down=1_300)
    ServiceDay.objects.create(service="ipv4", day=date(2020, 1, 1), down=86_400)
    line = build_status_view(timezone.now()).services[0]
    assert len(line.bars) == 90 and sum(bar.level == "unknown" for bar in line.bars) == 89
    assert line.bars[-3].level == "down" and "not reachable for 21" in line.bars[-3].words and line.reached == "98.49\u202f%"


def test_the_page_is_read_without_signing_in_in_both_languages(mara: User) -> None:
    services.open_incident(facts=describe(title_de="Langsam"), first=say(text_de="Wir suchen."), by=mara)
    english, german = (text(Client(headers={"Accept-Language": code}).get("/status/")) for code in ("en", "de"))
    assert "Slow in houses A to F" in english and "We see it, too" in english
    assert "Langsam" in german and "Wir suchen." in german and "Netzstatus" in german


def test_feeds_hold_the_same_for_programs(mara: User) -> None:
    slow = services.open_incident(facts=describe(), first=say(), by=mara)
    services.post_update(incident=slow, facts=say("found", "A loop & a <router>."), by=mara)
    work = announce(mara)
    services.post_update(incident=work, facts=say("called_off", "Another day."), by=mara)
    feed = ElementTree.fromstring(Client().get("/status/atom.xml").content)  # noqa: S314 - our own document
    entries = [(each.findtext(f"{ATOM}title"), each.findtext(f"{ATOM}summary")) for each in feed.iter(f"{ATOM}entry")]
    assert (
        "Slow in houses A to F (cause found)",
        "<p>Internet IPv4: all houses</p>\n\n<p>A loop &amp; a &lt;router&gt;.</p>",
    ) in entries and len(entries) == 4
    ids = [each.findtext(f"{ATOM}id") for each in feed.iter(f"{ATOM}entry")]
    assert len(set(ids)) == 4 and all(ids)
    events: list[Any] = list(Calendar.from_ical(Client().get("/status/calendar.ics").content).walk("VEVENT"))
    assert {str(each["SUMMARY"]): str(each["STATUS"]) for each in events} == {
        "Slow in houses A to F": "CONFIRMED",
        "nat-1 gets a new kernel": "CANCELLED",
    }
    assert all(each.decoded("DTEND") > each.decoded("DTSTART") for each in events)
    summary = json.loads(Client().get("/status/status.json").content)
    assert summary["status"]["indicator"] == "minor" and summary["incidents"][0]["status"] == "identified"
    assert summary["scheduled_maintenances"][0]["status"] == "cancelled"
    services.post_update(incident=slow, facts=say("over", "Between us: it was the cat.", public=False), by=mara)
    ended = json.loads(Client().get("/status/status.json").content)["incidents"][0]
    assert ended["status"] == "resolved" and ended["resolved_at"] and len(ended["incident_updates"]) == 2
    assert [each["status"] for each in summary["components"]] == ["degraded_performance", "unknown", "unknown"]


@pytest.mark.django_db
def test_a_subscription_needs_the_link_in_the_mail_and_says_nothing_about_other_addresses() -> None:
    client = Client()
    first = client.post("/status/subscribe/", {"address": "Ada@example.org", "language": "en"})
    row, mail = Subscription.objects.get(), Message.objects.get()
    assert mail.to == "Ada@example.org" and row.confirmed is None
    path = re.search(r"https?://[^/]+(/status/subscribe/\S+/)", mail.text)
    assert path
    assert "Get updates by mail?" in text(client.get(path[1])) and Subscription.objects.get().confirmed is None
    assert "gets updates" in text(client.post(path[1])) and Subscription.objects.get().confirmed is not None
    again = client.post("/status/subscribe/", {"address": "ada@EXAMPLE.org", "language": "de"})
    assert Message.objects.count() == 1 and Subscription.objects.count() == 1
    told = [re.sub("(?i)ada@example.org", "", text(page)) for page in (first, again)]
    assert told[0][told[0].index("<main") :] == told[1][told[1].index("<main") :]


@pytest.mark.django_db
@pytest.mark.parametrize("token", ["x", "1:2:3", "1", f"{'9' * 30}:x:y"])
def test_a_link_that_is_wrong_is_said(token: str) -> None:
    assert Client().get(f"/status/subscribe/{token}/").status_code == 404


@pytest.mark.django_db
def test_nobody_fills_a_mailbox_or_the_table() -> None:
    for _try in range(3):
        ask_for_subscription(address="ada@example.org", language="en")
    assert Message.objects.count() == 1
    Message.objects.update(written=timezone.now() - timedelta(minutes=9))
    ask_for_subscription(address="ADA@example.org", language="en")
    assert Message.objects.count() == 1
    Message.objects.update(written=timezone.now() - timedelta(minutes=11))
    ask_for_subscription(address="ada@example.org", language="en")
    assert Message.objects.count() == 2
    answers = [Client().post("/status/subscribe/", {"address": f"a{n}@example.org", "language": "en"}) for n in range(8)]
    assert [each.status_code for each in answers] == [200] * 5 + [422] * 3 and "Too many addresses" in text(answers[-1])


@pytest.mark.django_db
def test_a_computer_with_many_addresses_of_one_network_asks_no_more_often() -> None:
    def ask(source: str, number: int) -> int:
        given = {"address": f"b{number}@example.org", "language": "en"}
        return Client().post("/status/subscribe/", given, REMOTE_ADDR=source).status_code

    assert [ask(f"2001:db8:5:1:{n:x}::1", n) for n in range(7)] == [200] * 5 + [422] * 2
    assert ask("2001:db8:5:2::1", 8) == 200


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["", "ada", "ada@", "a@b@c", f"{'a' * 300}@example.org"])
def test_what_is_no_address_is_refused(address: str) -> None:
    answered = Client().post("/status/subscribe/", {"address": address, "language": "en"})
    assert answered.status_code == 422 and not Subscription.objects.exists()


def test_subscribers_get_each_update_once_in_their_language_and_can_end_it(mara: User) -> None:
    subscribe("ada@example.org")
    subscribe("bernd@example.org", "de")
    ask_for_subscription(address="unconfirmed@example.org", language="en")
    Message.objects.all().delete()
    services.open_incident(facts=describe(title_de="Langsam"), first=say(text_de="Wir suchen."), by=mara)
    for _round in range(3):
        write_all_mails()
    with override("de"):
        stage = str(IncidentUpdate.Stage.LOOKING.label)
    assert letters() == [("ada@example.org", "Slow in houses A to F (looking for the cause)"), ("bernd@example.org", f"Langsam ({stage})")]
    ended = Message.objects.get(to="ada@example.org")
    assert Client().post(ended.unsubscribe.partition("/mail")[1] + ended.unsubscribe.partition("/mail")[2]).status_code == 200
    assert SwitchedOff.objects.filter(address="ada@example.org", notice="status").exists()
    services.post_update(incident=Incident.objects.get(), facts=say("over", "Mended."), by=mara)
    write_all_mails()
    assert [to for to, _subject in letters()].count("ada@example.org") == 1 and len(letters()) == 3
    Subscription.objects.update(asked=timezone.now() - timedelta(days=8))
    assert prune_subscriptions(timezone.now(), 100) == 2
    assert [each.address for each in Subscription.objects.all()] == ["bernd@example.org"]


def test_who_has_ended_it_may_subscribe_again(mara: User) -> None:
    row = subscribe("ada@example.org")
    SwitchedOff.objects.create(address="ada@example.org", notice="status")
    ask_for_subscription(address="ada@example.org", language="en")
    assert Message.objects.get().template == "status_confirm"
    Client().post(f"/status/subscribe/{build_token(row)}/")
    services.open_incident(facts=describe(), first=say(), by=mara)
    write_all_mails()
    assert len(letters()) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("ended", [False, True])
def test_who_asks_again_after_a_week_has_time_to_follow_the_new_link(ended: bool) -> None:
    if ended:
        subscribe("ada@example.org")
        SwitchedOff.objects.create(address="ada@example.org", notice="status")
    else:
        ask_for_subscription(address="ada@example.org", language="en")
    before = timezone.now() - timedelta(days=8)
    Subscription.objects.update(asked=before)
    Message.objects.update(written=before)
    ask_for_subscription(address="ada@example.org", language="en")
    assert prune_subscriptions(timezone.now(), 100) == 0
    page = Client().post(f"/status/subscribe/{build_token(Subscription.objects.get())}/")
    assert "gets updates" in text(page) and Subscription.objects.get().confirmed and not SwitchedOff.objects.exists()


def test_a_subscription_that_is_over_leaves_no_address_behind(mara: User) -> None:
    for address in ("ada@example.org", "bernd@example.org"):
        subscribe(address)
    services.open_incident(facts=describe(), first=say(), by=mara)
    write_all_mails()
    Message.objects.update(state="sent", ended=timezone.now())
    ask_for_subscription(address="Eve@example.org", language="en")
    switch_notice_off(address="ADA@example.org", notice="status")
    Subscription.objects.update(asked=timezone.now() - timedelta(days=8))
    assert prune_subscriptions(timezone.now(), 1) == 1 and prune_subscriptions(timezone.now(), 100) == 1
    assert set(Message.objects.values_list("to", "template")) == {(NOBODY, "status_update"), ("bernd@example.org", "status_update")}
    assert [each.to for each in Message.objects.filter(text="", unsubscribe="")] == [NOBODY]
    assert Subscription.objects.get().address == "bernd@example.org"


def test_a_worker_that_dies_in_between_neither_loses_nor_repeats_a_mail(mara: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mails, "AT_ONCE", 2)
    readers = [f"r{number}@example.org" for number in range(5)]
    for reader in readers:
        subscribe(reader)
    services.open_incident(facts=describe(), first=say(), by=mara)
    assert mails.write_pending_mails()
    with pytest.raises(RuntimeError), transaction.atomic():
        mails.write_pending_mails()
        raise RuntimeError("killed before its transaction ended")
    assert len(letters()) == 2
    write_all_mails()
    assert [to for to, _subject in letters()] == readers
    assert IncidentUpdate.objects.get().mailed is not None


def test_an_update_without_mail_sends_none(mara: User) -> None:
    subscribe("ada@example.org")
    services.open_incident(facts=describe(), first=say(notify=False), by=mara)
    write_all_mails()
    assert letters() == []

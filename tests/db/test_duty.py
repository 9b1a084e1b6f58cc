"""The duty rota: shifts that people enter, take over and give back; whose alarm it is first; and the feed to subscribe to."""

from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest
from django.core import signing
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.test import Client
from django.utils import timezone
from icalendar import Calendar

from apps.accounts import tokens
from apps.accounts.models import User
from apps.alarms import services as alarms
from apps.alarms.channels.models import ChannelMessage
from apps.alarms.channels.services import ChannelFacts, add_channel
from apps.alarms.duty import rota_feed, services
from apps.alarms.duty.forms import ShiftForm
from apps.alarms.duty.models import DutyFeed, DutyShift
from apps.alarms.duty.selectors import find_on_duty, read_rota
from apps.alarms.models import Alarm
from apps.alarms.watch import watch_alarms
from apps.audit.selectors import list_row_history
from apps.lib.errors import Conflict, Problem
from apps.lib.web.path_redaction import redact_path
from apps.mail.models import Message
from apps.mail.services import switch_notice_off
from tests import factories
from tests.db.page_client import queries, signed_in, text
from tests.db.test_alarms import MINUTE, break_gateway, look_after, mend_gateway, running, set_clock_back

__all__ = ["running"]  # a fixture
HOUR = timedelta(hours=1)


@pytest.fixture
def jonas(running: factories.Network) -> User:
    User.objects.filter(pk=factories.user("jonas").pk).update(email="jonas@lindenhof.example")
    return User.objects.get(username="jonas")


def shift(person: User, begins: timedelta, ends: timedelta) -> DutyShift:
    now = timezone.now()
    return services.add_shift(person=person, begins=now + begins, ends=now + ends, by=person)


def receivers() -> list[str]:
    return [each.to.partition("@")[0] for each in Message.objects.order_by("pk")]


# --- Who is told


def test_the_person_on_duty_is_told_first_and_the_others_if_nobody_has_seen_it(running: factories.Network, jonas: User) -> None:
    shift(jonas, -HOUR, HOUR)
    break_gateway()
    watch_alarms(timezone.now())
    look_after(MINUTE)
    assert receivers() == ["jonas"] and "You are on duty." in Message.objects.get().text
    look_after(9 * MINUTE)
    assert receivers() == ["jonas"]
    look_after(MINUTE)
    look_after(HOUR)
    assert receivers() == ["jonas", "mara"] and "Jonas Lindqvist is on duty" in Message.objects.get(to__startswith="mara").text


def test_what_was_told_while_the_clock_was_ahead_is_told_to_the_others_in_time(running: factories.Network, jonas: User) -> None:
    shift(jonas, -HOUR, HOUR)
    break_gateway()
    watch_alarms(timezone.now())
    look_after(MINUTE)
    set_clock_back(2 * HOUR)
    look_after(0 * MINUTE)
    look_after(9 * MINUTE)
    assert receivers() == ["jonas"]
    look_after(MINUTE)
    assert receivers() == ["jonas", "mara"]


def test_what_somebody_has_seen_is_told_to_nobody_else_and_its_end_to_those_who_were_told(running: factories.Network, jonas: User) -> None:
    shift(jonas, -HOUR, 3 * HOUR)
    break_gateway()
    watch_alarms(timezone.now())
    look_after(MINUTE)
    alarms.mark_seen(alarm=Alarm.objects.get(), by=jonas)
    look_after(HOUR)
    mend_gateway()
    watch_alarms(timezone.now())
    look_after(2 * MINUTE)
    assert receivers() == ["jonas", "jonas"] and Alarm.objects.get().ended


def test_whoever_comes_on_duty_is_told_what_is_still_open(running: factories.Network, jonas: User) -> None:
    shift(running.admin, -HOUR, 5 * MINUTE)
    shift(jonas, 5 * MINUTE, HOUR)
    break_gateway()
    watch_alarms(timezone.now())
    look_after(MINUTE)
    alarms.mark_seen(alarm=Alarm.objects.get(), by=running.admin)
    DutyShift.objects.update(begins=F("begins") - 6 * MINUTE, ends=F("ends") - 6 * MINUTE)
    look_after(MINUTE)
    look_after(MINUTE)
    assert receivers() == ["mara", "jonas"]


@pytest.mark.parametrize("why", ["nobody", "switched off", "no address", "left"])
def test_if_nobody_is_on_duty_or_gets_mails_there_everybody_is_told_at_once(running: factories.Network, jonas: User, why: str) -> None:
    if why != "nobody":
        shift(jonas, -HOUR, HOUR)
    factories.user("tom")
    User.objects.filter(username="tom").update(email="tom@lindenhof.example")
    if why == "switched off":
        switch_notice_off(address=jonas.email, notice="alarms")
    if why == "no address":
        User.objects.filter(pk=jonas.pk).update(email="not an address")
    if why == "left":
        User.objects.filter(pk=jonas.pk).update(roles=["helpdesk"])
    break_gateway()
    watch_alarms(timezone.now())
    look_after(MINUTE)
    look_after(HOUR)
    assert sorted(receivers()) == sorted(["mara", "tom", *(["jonas"] if why == "nobody" else [])])


def test_a_persons_channel_is_told_first_while_they_are_on_duty_and_else_like_the_others(running: factories.Network, jonas: User) -> None:
    for person in (running.admin, jonas, None):
        facts = ChannelFacts(person.username if person else "everybody", "json://127.0.0.1:9/x", person=person)
        add_channel(facts=facts, by=running.admin)
    shift(jonas, -HOUR, HOUR)
    break_gateway()
    watch_alarms(timezone.now())
    look_after(MINUTE)
    assert set(ChannelMessage.objects.values_list("channel__name", flat=True)) == {"jonas", "everybody"}
    look_after(10 * MINUTE)
    assert set(ChannelMessage.objects.values_list("channel__name", flat=True)) == {"jonas", "everybody", "mara"}


def test_a_persons_channel_waits_from_when_the_person_on_duty_was_told(running: factories.Network, jonas: User) -> None:
    for person in (running.admin, jonas):
        add_channel(facts=ChannelFacts(person.username, "json://127.0.0.1:9/x", person=person), by=running.admin)
    shift(jonas, -HOUR, 3 * HOUR)
    alarms.silence_alarms(key="", until=timezone.now() + HOUR, reason="rewiring", by=jonas)
    break_gateway()
    look_after(30 * MINUTE)
    look_after(31 * MINUTE)
    assert set(ChannelMessage.objects.values_list("channel__name", flat=True)) == {"jonas"}
    look_after(10 * MINUTE)
    assert set(ChannelMessage.objects.values_list("channel__name", flat=True)) == {"jonas", "mara"}


def test_a_silence_also_holds_back_what_would_be_told_to_the_others(running: factories.Network, jonas: User) -> None:
    shift(jonas, -HOUR, 3 * HOUR)
    break_gateway()
    watch_alarms(timezone.now())
    look_after(MINUTE)
    alarms.silence_alarms(key="", until=timezone.now() + HOUR, reason="rewiring", by=jonas)
    look_after(30 * MINUTE)
    assert receivers() == ["jonas"]
    look_after(31 * MINUTE)
    assert receivers() == ["jonas", "mara"]


# --- Shifts


def test_a_shift_is_taken_over_and_given_back(running: factories.Network, jonas: User) -> None:
    mine = shift(running.admin, -HOUR, HOUR)
    [taken] = services.take_over(shift=mine, by=jonas)
    found = find_on_duty(timezone.now())
    assert found and (found.person, found.until) == (jonas, mine.ends)
    with pytest.raises(Conflict):
        services.take_over(shift=mine, by=factories.user("tom"))
    with pytest.raises(Problem):
        services.take_over(shift=taken, by=jonas)
    services.remove_shift(shift=taken, by=jonas)
    found = find_on_duty(timezone.now())
    assert found and found.person == running.admin


def test_only_what_still_counts_of_a_shift_is_taken_over(running: factories.Network, jonas: User) -> None:
    long = shift(running.admin, -HOUR, 10 * HOUR)
    shift(factories.user("tom"), 2 * HOUR, 4 * HOUR)
    before, after = services.take_over(shift=long, by=jonas)
    assert (before.ends, after.ends) == (DutyShift.objects.get(person__username="tom").begins, long.ends)
    names = [each.person.username for each in read_rota(timezone.now(), timezone.now() + 9 * HOUR).turns if each.person]
    assert names == ["jonas", "tom", "jonas"]


def test_a_shift_has_an_end_that_is_to_come_and_a_person_who_operates_the_network(running: factories.Network, jonas: User) -> None:
    helper = factories.user("tom", roles=["helpdesk"])
    for person, begins, ends, field in (
        (helper, HOUR, 2 * HOUR, "person"),
        (jonas, 2 * HOUR, HOUR, "ends"),
        (jonas, -2 * HOUR, -HOUR, "ends"),
        (jonas, HOUR, 33 * 24 * HOUR, "ends"),
        (jonas, 399 * 24 * HOUR, 400 * 24 * HOUR, "ends"),
    ):
        with pytest.raises(Problem) as refused:
            shift(person, begins, ends)
        assert refused.value.fieldname == field
    with pytest.raises(IntegrityError), transaction.atomic():
        DutyShift.objects.create(person=jonas, begins=timezone.now(), ends=timezone.now() - HOUR)
    with pytest.raises(IntegrityError), transaction.atomic():
        DutyShift.objects.create(person=jonas, begins=timezone.now(), ends=timezone.now() + HOUR, uid="of no calendar")


@pytest.mark.django_db(transaction=True)
def test_of_two_who_take_over_the_same_shift_at_once_one_gets_it() -> None:
    mara, others = factories.user("mara"), [factories.user("jonas"), factories.user("tom")]
    mine, begin, outcomes = shift(mara, -HOUR, HOUR), Barrier(2), list[str]()

    def take(person: User) -> None:
        begin.wait(30)
        try:
            services.take_over(shift=mine, by=person)
            outcomes.append("taken")
        except Conflict:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [Thread(target=take, args=[each]) for each in others]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(outcomes) == ["refused", "taken"] and DutyShift.objects.count() == 2


# --- Pages


def test_the_pages_say_who_is_on_duty_and_warn_of_gaps(running: factories.Network, jonas: User) -> None:
    mara = signed_in(running.admin)
    assert "No rota yet" in text(mara.get("/alarms/duty/")) and "on duty" not in text(mara.get("/"))
    shift(jonas, -HOUR, 24 * HOUR)
    shift(running.admin, 48 * HOUR, 72 * HOUR)
    for path in ("/alarms/duty/", "/alarms/", "/"):
        assert "On duty: Jonas Lindqvist until" in text(mara.get(path)), path
    assert "there are 2 times in which nobody is on duty" in text(mara.get("/alarms/duty/"))
    DutyShift.objects.filter(person=jonas).delete()
    assert "Nobody is on duty." in text(mara.get("/alarms/duty/")) and "nobody on duty" in text(mara.get("/"))


def test_the_page_says_if_the_person_on_duty_gets_no_mails(running: factories.Network) -> None:
    shift(factories.user("tom"), -HOUR, HOUR)
    assert "Tom Lindqvist is on duty and gets no mails about alarms." in text(signed_in(running.admin).get("/alarms/duty/"))


def test_a_volunteer_enters_takes_over_and_removes_shifts_on_the_page(running: factories.Network, jonas: User) -> None:
    client, begins = signed_in(jonas), (timezone.localtime() + timedelta(days=1)).replace(hour=12)  # an hour that each day has once
    given = {"person": running.admin.pk, "begins": f"{begins:%Y-%m-%dT%H:%M}", "ends": f"{begins + 2 * HOUR:%Y-%m-%dT%H:%M}"}
    assert client.post("/alarms/duty/shifts/add/", given | {"ends": given["begins"]}).status_code == 422
    assert client.post("/alarms/duty/shifts/add/", given).status_code == 302
    mine = DutyShift.objects.get()
    assert "Take over this shift" in text(client.get("/alarms/duty/"))
    assert "The shift is yours." in text(client.post(f"/alarms/duty/shifts/{mine.pk}/take/", follow=True))
    assert "somebody has taken it over meanwhile" in text(client.post(f"/alarms/duty/shifts/{mine.pk}/take/", follow=True))
    taken = DutyShift.objects.get(person=jonas)
    assert "Remove the shift of Jonas Lindqvist" in text(client.get(f"/alarms/duty/shifts/{taken.pk}/remove/"))
    assert client.post(f"/alarms/duty/shifts/{taken.pk}/remove/").status_code == 302
    assert DutyShift.objects.get() == mine and list_row_history(mine)


def test_a_shift_begins_and_ends_in_the_hour_that_the_clock_shows_twice(jonas: User) -> None:
    form = ShiftForm({"person": jonas.pk, "begins": "2099-10-25T02:30", "ends": "2099-10-25T02:30"})
    assert form.is_valid(), form.errors
    second = datetime(2099, 10, 25, 1, 30, tzinfo=UTC)
    assert (form.cleaned_data["begins"], form.cleaned_data["ends"]) == (second - HOUR, second)


def test_more_shifts_cost_the_page_no_more_queries(running: factories.Network, jonas: User) -> None:
    mara = signed_in(running.admin)
    shift(jonas, -HOUR, HOUR)
    few = queries(mara, "/alarms/duty/")
    for number in range(1, 9):
        shift(jonas if number % 2 else running.admin, number * HOUR, (number + 1) * HOUR)
    assert queries(mara, "/alarms/duty/") <= few


# --- The feed


def test_the_rota_is_subscribed_to_by_a_secret_link_that_can_be_replaced(running: factories.Network, jonas: User) -> None:
    shift(jonas, -HOUR, HOUR)
    client = signed_in(running.admin)
    assert "Make an address" in text(client.get("/alarms/duty/"))
    client.post("/alarms/duty/link/")
    link = rota_feed.build_feed_url(running.admin)
    assert link in text(client.get("/alarms/duty/"))
    path = "/alarms/" + link.partition("/alarms/")[2]
    answer = Client().get(path)
    [event] = Calendar.from_ical(answer.content).walk("VEVENT")
    assert (answer["Content-Type"], str(event["SUMMARY"])) == ("text/calendar; charset=utf-8", "On duty: Jonas Lindqvist")
    assert redact_path(path) == "/alarms/duty/feed/…/duty.ics"
    client.post("/alarms/duty/link/")
    assert Client().get(path).status_code == 404 and rota_feed.build_feed_url(running.admin) != link


def test_a_link_that_is_forged_or_whose_owner_left_leads_nowhere(running: factories.Network, jonas: User) -> None:
    rota_feed.renew_feed(user=jonas)
    path = "/alarms/" + rota_feed.build_feed_url(jonas).partition("/alarms/")[2]
    forged = signing.Signer(salt="another").sign(f"{jonas.pk}.1")
    assert Client().get(path).status_code == 200 and Client().get(f"/alarms/duty/feed/{forged}/duty.ics").status_code == 404
    User.objects.filter(pk=jonas.pk).update(roles=["member"])
    assert Client().get(path).status_code == 404
    User.objects.filter(pk=jonas.pk).update(roles=["network_admin"], is_active=False)
    assert Client().get(path).status_code == 404 and DutyFeed.objects.get().serial == 1


# --- API


@pytest.fixture
def api(running: factories.Network) -> Client:
    _token, key = tokens.create_token(user=running.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def test_a_script_enters_reads_takes_over_and_removes_shifts(api: Client, running: factories.Network, jonas: User) -> None:
    now = timezone.now()
    given = {"person": jonas.pk, "begins": now.isoformat(), "ends": (now + HOUR).isoformat()}
    made = api.post("/api/alarms/shifts/", given, content_type="application/json")
    assert (made.status_code, made.json()["person"], made.json()["calendar"]) == (201, jonas.pk, None)
    assert api.post("/api/alarms/shifts/", given | {"ends": given["begins"]}, content_type="application/json").status_code == 400
    taken = api.post(f"/api/alarms/shifts/{made.json()['id']}/take/", content_type="application/json")
    assert (taken.status_code, taken.json()["person"]) == (200, running.admin.pk)
    assert api.post(f"/api/alarms/shifts/{made.json()['id']}/take/", content_type="application/json").status_code == 409
    assert len(api.get("/api/alarms/shifts/").json()["results"]) == 2
    assert api.delete(f"/api/alarms/shifts/{made.json()['id']}/").status_code == 204

"""What is wrong becomes an alarm: mails when it begins and when it is over, seldom for what comes and goes, none while it is silenced."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.db.models import F
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.models import User
from apps.alarms import services
from apps.alarms.conditions import list_conditions
from apps.alarms.lifecycle import REPORT_AFTER
from apps.alarms.models import Alarm, Silence
from apps.alarms.watch import watch_alarms
from apps.deployments.models import GatewayState
from apps.lib.errors import Conflict, Problem
from apps.mail.models import Message
from apps.mail.services import switch_notice_off
from apps.members.models import Member
from apps.network.models import GatewayGroup
from apps.operations import pruning
from tests import factories
from tests.db.locks import hold_lock_elsewhere
from tests.db.page_client import signed_in, text
from tests.db.test_pages_dashboard import rollout, runs

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
TIMES = {
    Alarm: ("began", "gone", "reported", "escalated", "announced", "waits_since", "worsened", "ended", "seen"),
    Silence: ("since", "until"),
    GatewayState: ("unreachable_since",),
}


@pytest.fixture
def running(network: factories.Network) -> factories.Network:
    """A network in which nothing is wrong, and an administrator with an address."""
    runs(network, rollout(network))
    User.objects.filter(pk=network.admin.pk).update(email="mara@lindenhof.example")
    network.admin.refresh_from_db()
    return network


def break_gateway(name: str = "nat-1", **changes: object) -> None:
    GatewayState.objects.filter(gateway__name=name).update(unreachable_since=timezone.now(), error="no route to host", **changes)


def mend_gateway(name: str = "nat-1") -> None:
    GatewayState.objects.filter(gateway__name=name).update(unreachable_since=None, error="", seen=timezone.now())


def set_clock_back(by: timedelta) -> None:
    """Let the clock have been ahead by this until now, as seen from the rows."""
    for model, names in TIMES.items():
        model._default_manager.update(**{name: F(name) + by for name in names})
    for alarm in Alarm.objects.exclude(worsenings=[]):
        Alarm.objects.filter(pk=alarm.pk).update(worsenings=[each + by for each in alarm.worsenings])


def look_after(passed: timedelta) -> None:
    """Let this time pass, as seen from the rows, and look twice: what only one look has seen is not told."""
    set_clock_back(-passed)
    for _look in range(2):
        watch_alarms(timezone.now())


def fill_disk(name: str = "nat-1") -> None:
    """Let the gateway have a state that is yellow while it answers, and look once."""
    GatewayState.objects.filter(gateway__name=name).update(disk="The disk is full.")
    watch_alarms(timezone.now())


def subjects() -> list[str]:
    return list(Message.objects.order_by("pk").values_list("subject", flat=True))


def test_nothing_wrong_is_no_alarm(running: factories.Network) -> None:
    watch_alarms(timezone.now())
    assert not Alarm.objects.exists() and not Message.objects.exists()


def test_a_gateway_that_stays_away_is_told_once_and_once_that_it_is_back(running: factories.Network) -> None:
    break_gateway()
    watch_alarms(timezone.now())
    assert Alarm.objects.get().severity == "critical" and subjects() == []
    look_after(REPORT_AFTER - 10 * SECOND)
    assert subjects() == []
    look_after(10 * SECOND)
    look_after(MINUTE)
    assert len(subjects()) == 1 and subjects()[0].startswith("Alarm: IPv4 has no primary that answers: nat-1 has not answered")
    mend_gateway()
    look_after(MINUTE)
    assert Alarm.objects.get().ended is None
    look_after(2 * MINUTE)
    look_after(MINUTE)
    assert [each.partition(":")[0] for each in subjects()] == ["Alarm", "Over"]
    assert Alarm.objects.get().ended


def test_what_began_long_ago_and_only_one_look_has_seen_is_not_told(running: factories.Network) -> None:
    break_gateway()
    GatewayState.objects.filter(gateway__name="nat-1").update(unreachable_since=timezone.now() - MINUTE)
    watch_alarms(timezone.now())
    assert Alarm.objects.count() == 1 and subjects() == []
    mend_gateway()
    look_after(2 * MINUTE)
    assert subjects() == []


def test_what_is_over_before_a_mail_was_written_is_recorded_and_no_mail_is_written(running: factories.Network) -> None:
    break_gateway()
    watch_alarms(timezone.now())
    mend_gateway()
    look_after(30 * SECOND)
    look_after(2 * MINUTE)
    alarm = Alarm.objects.get()
    assert alarm.ended and alarm.reported is None and subjects() == []


def test_a_short_recovery_is_no_end(running: factories.Network) -> None:
    break_gateway()
    look_after(MINUTE)
    mend_gateway()
    look_after(MINUTE)
    break_gateway()
    look_after(MINUTE)
    assert Alarm.objects.get().gone is None and len(subjects()) == 1


def test_what_comes_back_again_and_again_is_told_later(running: factories.Network) -> None:
    for _time in range(3):
        break_gateway()
        look_after(MINUTE)
        mend_gateway()
        watch_alarms(timezone.now())
        look_after(2 * MINUTE)
    assert len(subjects()) == 6
    break_gateway()
    look_after(14 * MINUTE)
    assert len(subjects()) == 6
    look_after(MINUTE)
    assert len(subjects()) == 7


def test_each_reader_gets_one_mail_in_their_language_about_all_that_begins(running: factories.Network) -> None:
    User.objects.filter(pk=factories.user("jonas", language="de").pk).update(email="jonas@lindenhof.example")
    User.objects.filter(pk=factories.user("tom", roles=["helpdesk"]).pk).update(email="tom@lindenhof.example")
    break_gateway()
    GatewayState.objects.filter(gateway__name="nat-2").update(disk="The disk is full.")
    watch_alarms(timezone.now())
    look_after(MINUTE)
    english, german = Message.objects.order_by("to").reverse()
    assert (english.to, german.to) == ("mara@lindenhof.example", "jonas@lindenhof.example")
    assert "and 1 more" in english.subject and "no route to host" in english.text and "The disk is full" in english.text
    assert "<" not in english.text.replace(english.unsubscribe, "") and "Since " in english.text and "&lt;" not in english.html
    assert german.subject.startswith("Alarm: ") and "nat-1 antwortet dem Portal seit" in german.text and "Seit " in german.text
    link = f"/gateways/{running.gateways[0].pk}/"
    assert link in english.text and link in english.html and "/alarms/" in english.text and english.unsubscribe


def test_the_portal_that_reaches_no_gateway_is_one_alarm_and_no_gateway_is_called_back(running: factories.Network) -> None:
    break_gateway("nat-1")
    look_after(MINUTE)
    break_gateway("nat-2")
    look_after(MINUTE)
    look_after(3 * MINUTE)
    assert [each.partition(": ")[2][:40] for each in subjects()] == [
        "IPv4 has no primary that answers: nat-1 ",
        "The portal reaches none of the gateways",
    ]
    mend_gateway("nat-1")
    mend_gateway("nat-2")
    watch_alarms(timezone.now())
    look_after(2 * MINUTE)
    assert not Alarm.objects.filter(ended=None).exists() and "and 1 more" in subjects()[-1] and subjects()[-1].startswith("Over: ")


def test_without_a_reader_the_alarm_stays_due_and_the_page_says_so(running: factories.Network) -> None:
    switch_notice_off(address="MARA@lindenhof.example", notice="alarms")
    break_gateway()
    look_after(MINUTE)
    assert subjects() == [] and Alarm.objects.get().reported is None
    assert "Nobody is told of alarms by mail." in text(signed_in(running.admin).get("/alarms/"))
    User.objects.filter(pk=factories.user("jonas").pk).update(email="jonas@lindenhof.example")
    look_after(SECOND)
    assert len(subjects()) == 1


def test_while_silenced_nothing_is_told_and_what_is_left_open_is_told_then(running: factories.Network) -> None:
    silence = services.silence_alarms(key="", until=timezone.now() + timedelta(hours=1), reason="new switches", by=running.admin)
    break_gateway()
    look_after(30 * MINUTE)
    assert Alarm.objects.get().reported is None and subjects() == []
    assert silence.covers("gateway-1", timezone.now())
    look_after(30 * MINUTE)
    assert len(subjects()) == 1


def test_what_was_told_and_ends_in_a_silence_is_told_to_be_over_after_it(running: factories.Network) -> None:
    break_gateway()
    look_after(MINUTE)
    silence = services.silence_alarms(key="", until=timezone.now() + HOUR, reason="new switches", by=running.admin)
    mend_gateway()
    look_after(0 * SECOND)
    look_after(2 * MINUTE)
    assert Alarm.objects.get().ended and len(subjects()) == 1
    services.end_silence(silence=silence, by=running.admin)
    look_after(SECOND)
    look_after(MINUTE)
    assert [each.partition(":")[0] for each in subjects()] == ["Alarm", "Over"]


def test_what_nobody_was_told_of_and_ends_in_a_silence_is_never_told(running: factories.Network) -> None:
    services.silence_alarms(key="", until=timezone.now() + HOUR, reason="new switches", by=running.admin)
    break_gateway()
    look_after(MINUTE)
    mend_gateway()
    look_after(0 * SECOND)
    look_after(2 * MINUTE)
    look_after(HOUR)
    assert Alarm.objects.get().ended and subjects() == []


def test_a_silence_of_one_condition_leaves_the_others_loud(running: factories.Network) -> None:
    key = f"gateway-{running.gateways[0].pk}"
    services.silence_alarms(key=key, until=timezone.now() + timedelta(hours=1), reason="its disk is being changed", by=running.admin)
    GatewayState.objects.update(disk="The disk is full.")
    watch_alarms(timezone.now())
    look_after(MINUTE)
    assert len(subjects()) == 1 and "nat-2" in subjects()[0]
    assert Alarm.objects.get(key=key).reported is None


def test_what_people_have_chosen_and_work_without_haste_is_no_alarm(running: factories.Network) -> None:
    GatewayGroup.objects.update(flood_mode=True)
    Member.objects.filter(pk=running.residents["m1"].member.pk).update(state=Member.State.PENDING)
    page = text(signed_in(running.admin).get("/"))
    assert "flood mode" in page and "waits for activation" in page
    assert list_conditions(timezone.now()) == []


def test_what_was_gone_before_it_was_told_has_not_lasted(running: factories.Network) -> None:
    break_gateway()
    watch_alarms(timezone.now())
    mend_gateway()
    look_after(30 * SECOND)
    break_gateway()
    look_after(REPORT_AFTER - 10 * SECOND)
    assert subjects() == []
    look_after(REPORT_AFTER)
    assert len(subjects()) == 1


def test_an_alarm_that_began_while_the_clock_was_ahead_ends_when_it_is_over(running: factories.Network) -> None:
    break_gateway()
    look_after(0 * SECOND)
    look_after(MINUTE)
    set_clock_back(2 * HOUR)
    mend_gateway()
    watch_alarms(timezone.now())
    look_after(3 * MINUTE)
    alarm = Alarm.objects.get()
    assert alarm.ended and alarm.gone and alarm.began <= alarm.gone < alarm.ended
    assert [each.partition(":")[0] for each in subjects()] == ["Alarm", "Over"]


def test_an_alarm_that_began_just_before_the_clock_was_set_back_is_told(running: factories.Network) -> None:
    break_gateway()
    watch_alarms(timezone.now())
    set_clock_back(2 * HOUR)
    look_after(0 * SECOND)
    assert subjects() == []
    look_after(MINUTE)
    assert len(subjects()) == 1


def test_what_became_worse_while_the_clock_was_ahead_is_told_again(running: factories.Network) -> None:
    fill_disk()
    look_after(MINUTE)
    break_gateway()
    watch_alarms(timezone.now())
    set_clock_back(2 * HOUR)
    look_after(0 * SECOND)
    alarm = Alarm.objects.get()
    assert alarm.is_worse_than_told and alarm.began < alarm.urgent_since <= timezone.now() and len(subjects()) == 1
    look_after(MINUTE)
    assert len(subjects()) == 2


def test_two_workers_that_look_at_once_tell_once(running: factories.Network) -> None:
    break_gateway()
    with hold_lock_elsewhere("alarms_alarm"):
        look_after(MINUTE)
        assert not Alarm.objects.exists()
    look_after(SECOND)
    assert len(subjects()) == 1


def test_a_reader_whose_address_is_wrong_keeps_none_from_the_others(running: factories.Network) -> None:
    User.objects.filter(pk=factories.user("jonas").pk).update(email="not an address")
    break_gateway()
    look_after(MINUTE)
    assert [each.to for each in Message.objects.all()] == ["mara@lindenhof.example"]


def test_without_an_address_that_is_right_the_alarm_stays_due(running: factories.Network) -> None:
    break_gateway()
    User.objects.filter(pk=running.admin.pk).update(email="not an address")
    look_after(MINUTE)
    assert subjects() == [] and Alarm.objects.get().reported is None
    User.objects.filter(pk=running.admin.pk).update(email="mara@lindenhof.example")
    look_after(SECOND)
    assert len(subjects()) == 1


def test_the_database_refuses_nonsense(running: factories.Network) -> None:
    now = timezone.now()
    Alarm.objects.create(key="a", severity="warning", texts={}, began=now)
    for wrong in (
        lambda: Alarm.objects.create(key="a", severity="warning", texts={}, began=now),
        lambda: Alarm.objects.create(key="", severity="warning", texts={}, began=now),
        lambda: Alarm.objects.create(key="b", severity="loud", texts={}, began=now),
        lambda: Alarm.objects.create(key="b", severity="warning", texts={}, began=now, ended=now),
        lambda: Alarm.objects.create(key="b", severity="warning", texts={}, began=now, gone=now, ended=now - SECOND),
        lambda: Alarm.objects.create(key="b", severity="warning", texts={}, began=now, seen_by=running.admin),
        lambda: Alarm.objects.create(key="b", severity="warning", texts={}, began=now, owes_end=True),
        lambda: Silence.objects.create(reason="", until=now + MINUTE),
        lambda: Silence.objects.create(reason="x", since=now, until=now - SECOND),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            wrong()


def test_a_silence_needs_a_reason_and_an_end_that_is_near(running: factories.Network) -> None:
    now = timezone.now()
    for reason, until, field in ((" ", now + MINUTE, "reason"), ("x", now, "until"), ("x", now + timedelta(days=31), "until")):
        with pytest.raises(Problem) as refused:
            services.silence_alarms(key="", until=until, reason=reason, by=running.admin)
        assert refused.value.fieldname == field
    assert not Silence.objects.exists()


# --- Pages


def test_an_administrator_marks_an_alarm_as_seen_and_the_second_one_is_told(running: factories.Network) -> None:
    break_gateway()
    look_after(MINUTE)
    mara, alarm = signed_in(running.admin), Alarm.objects.get()
    page = text(mara.get("/alarms/"))
    assert "1 critical alarm is open." in page and "no route to host" in page and "sent" in page
    assert mara.post(f"/alarms/{alarm.pk}/seen/").status_code == 302
    assert "Mara Lindqvist, " in text(mara.get("/alarms/"))
    assert "was marked as seen meanwhile" in text(mara.post(f"/alarms/{alarm.pk}/seen/", follow=True))
    with pytest.raises(Conflict):
        services.mark_seen(alarm=alarm, by=running.admin)


def test_what_is_gone_is_shown_as_gone_before_it_is_over(running: factories.Network) -> None:
    break_gateway()
    look_after(MINUTE)
    mend_gateway()
    watch_alarms(timezone.now())
    page = text(signed_in(running.admin).get("/alarms/"))
    assert "gone since" in page and "All is well again." in page and "critical" not in page


def test_a_silence_is_begun_and_ended_on_the_page(running: factories.Network) -> None:
    break_gateway()
    watch_alarms(timezone.now())
    mara, alarm = signed_in(running.admin), Alarm.objects.get()
    path = f"/alarms/silence/?alarm={alarm.pk}"
    assert "Write no mails about “IPv4 has no primary" in text(mara.get(path))
    for wrong in ({"term": "at", "until": "", "reason": "x"}, {"term": "never", "reason": "x"}, {"term": "30d", "reason": ""}):
        assert mara.post(path, wrong).status_code == 422
    assert mara.post(path, {"term": "1d", "reason": "new power supply"}).status_code == 302
    silence = Silence.objects.get()
    assert (silence.key, silence.by, silence.until - silence.since > timedelta(hours=23)) == (alarm.key, running.admin, True)
    page = text(mara.get("/alarms/"))
    assert "silent until" in page and "new power supply" in page
    assert "The silence is over." in text(mara.post(f"/alarms/silences/{silence.pk}/end/", follow=True))
    silence.refresh_from_db()
    assert silence.until <= timezone.now() and silence.ended_by == running.admin
    assert "This silence is over already." in text(mara.post(f"/alarms/silences/{silence.pk}/end/", follow=True))


def test_a_silence_that_began_while_the_clock_was_ahead_can_be_ended(running: factories.Network) -> None:
    silence = services.silence_alarms(key="", until=timezone.now() + HOUR, reason="new switches", by=running.admin)
    set_clock_back(2 * HOUR)
    services.end_silence(silence=silence, by=running.admin)
    silence.refresh_from_db()
    assert silence.since <= silence.until <= timezone.now() and silence.ended_by == running.admin


def test_all_alarms_are_silenced_at_once(running: factories.Network) -> None:
    mara = signed_in(running.admin)
    mara.post("/alarms/silence/", {"term": "1h", "reason": "maintenance"})
    assert Silence.objects.get().key == ""
    page = text(mara.get("/alarms/"))
    assert "No mails about alarms until" in page and "all alarms" in page


@pytest.mark.parametrize("asked", ["999", "x", "9" * 40])
def test_a_link_to_an_alarm_that_does_not_exist_does_not_silence_all(running: factories.Network, asked: str) -> None:
    answer = signed_in(running.admin).get("/alarms/silence/", {"alarm": asked})
    assert answer.status_code == 404


def test_old_alarms_are_listed_and_removed_after_a_year(running: factories.Network) -> None:
    break_gateway()
    look_after(MINUTE)
    mend_gateway()
    watch_alarms(timezone.now())
    look_after(2 * MINUTE)
    assert "IPv4 has no primary that answers" in text(signed_in(running.admin).get("/alarms/"))
    Alarm.objects.update(began=F("began") - timedelta(days=366), ended=F("ended") - timedelta(days=366))
    pruning.prune_all()
    assert not Alarm.objects.exists()


# --- API


@pytest.fixture
def api(running: factories.Network) -> Client:
    _token, key = tokens.create_token(user=running.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def test_a_script_reads_open_alarms_and_takes_care_of_one(api: Client, running: factories.Network) -> None:
    break_gateway()
    watch_alarms(timezone.now())
    [row] = api.get("/api/alarms/alarms/").json()["results"]
    assert (row["severity"], row["ended"], row["reported"], row["seen_by"]) == ("critical", None, None, None)
    assert row["title"].startswith("IPv4 has no primary") and "no route to host" in row["evidence"]
    german = api.get(f"/api/alarms/alarms/{row['id']}/", headers={"accept-language": "de"}).json()
    assert "nat-1 antwortet dem Portal" in german["title"]
    taken = api.post(f"/api/alarms/alarms/{row['id']}/take/", content_type="application/json")
    assert (taken.status_code, taken.json()["seen_by"]) == (200, running.admin.pk)
    assert api.post(f"/api/alarms/alarms/{row['id']}/take/", content_type="application/json").status_code == 409


def test_a_script_silences_all_alarms_and_ends_that(api: Client, running: factories.Network) -> None:
    given = {"reason": "reboot", "until": (timezone.now() + MINUTE).isoformat()}
    made = api.post("/api/alarms/silences/", given, content_type="application/json")
    assert (made.status_code, made.json()["key"], made.json()["by"]) == (201, "", running.admin.pk)
    for wrong in ({"reason": " "}, {"until": timezone.now().isoformat()}, {"until": (timezone.now() + timedelta(days=31)).isoformat()}):
        assert api.post("/api/alarms/silences/", given | wrong, content_type="application/json").status_code == 400
    assert api.delete(f"/api/alarms/silences/{made.json()['id']}/").status_code == 204
    assert api.get("/api/alarms/silences/").json()["results"] == []
    assert Silence.objects.get().ended_by == running.admin

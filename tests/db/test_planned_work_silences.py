"""Planned work silences the alarms of its gateways while it goes on, and no others; what is left then is told once."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from apps.alarms.channels.models import ChannelMessage
from apps.alarms.channels.services import ChannelFacts, add_channel
from apps.alarms.models import Alarm
from apps.deployments.models import Rollout, RolloutStep
from apps.desk.needs.collection import list_attention_items
from apps.gateways.health.models import HealthFinding
from apps.network.models import Gateway
from apps.status.incidents import services
from apps.status.incidents.models import Incident
from apps.status.incidents.services import IncidentFacts, UpdateFacts
from apps.status.incidents.work_windows import LONGEST_OVERRUN, list_work_windows
from firewall.roles import FailoverRole
from tests import factories
from tests.db.page_client import queries, signed_in, text
from tests.db.test_alarms import MINUTE, break_gateway, look_after, mend_gateway, running, subjects
from tests.db.test_pages_dashboard import rollout
from tests.role_reports import PRIMARY, STANDBY, report, report_both, set_up_failover

__all__ = ["running"]  # a fixture
HOUR = timedelta(hours=1)
FAULT = FailoverRole.FAULT


def work(network: factories.Network, *names: str, begun: timedelta = MINUTE, lasts: timedelta = HOUR, **given: Any) -> Incident:
    """Announce work at these gateways that began this long ago and is planned to last this long."""
    begins = timezone.now() - begun
    gateways = list(Gateway.objects.filter(name__in=names or ("nat-1",)))
    facts = IncidentFacts(
        "maintenance", ["ipv4"], begins, title_en="nat-1 gets a new kernel", gateways=gateways, planned_end=begins + lasts, **given
    )
    return services.open_incident(facts=facts, first=UpdateFacts("planned", "Expect a pause."), by=network.admin)


def say(incident: Incident, stage: str, network: factories.Network) -> None:
    services.post_update(incident=incident, facts=UpdateFacts(stage, "So it is."), by=network.admin)


def end_the_window(passed: timedelta) -> None:
    """Let this time pass for planned work, and look."""
    Incident.objects.update(began=F("began") - passed, planned_end=F("planned_end") - passed)
    look_after(passed)


def test_while_work_goes_on_nobody_is_told_of_its_gateway_and_what_is_left_is_told_once(running: factories.Network) -> None:
    add_channel(facts=ChannelFacts("phone", "json://127.0.0.1:9/x"), by=running.admin)
    work(running)
    break_gateway()
    look_after(30 * MINUTE)
    assert Alarm.objects.get().gateways == [running.gateways[0].pk]
    assert subjects() == [] and not ChannelMessage.objects.exists()
    end_the_window(HOUR)
    end_the_window(MINUTE)
    assert len(subjects()) == 1 and "nat-1" in subjects()[0]
    assert ChannelMessage.objects.count() == 1


def test_what_is_over_before_the_work_ends_is_never_told(running: factories.Network) -> None:
    work(running)
    break_gateway()
    look_after(10 * MINUTE)
    mend_gateway()
    look_after(MINUTE)
    look_after(2 * MINUTE)
    end_the_window(HOUR)
    assert Alarm.objects.get().ended and subjects() == []


def test_other_gateways_are_told_as_ever(running: factories.Network) -> None:
    work(running)
    break_gateway("nat-2")
    look_after(MINUTE)
    assert len(subjects()) == 1 and "nat-2" in subjects()[0]


def test_work_that_names_no_gateway_silences_nothing(running: factories.Network) -> None:
    work(running).gateways.clear()
    break_gateway()
    look_after(MINUTE)
    assert len(subjects()) == 1


def test_both_gateways_out_is_told_while_one_is_under_work_and_silent_if_work_names_both(running: factories.Network) -> None:
    incident = work(running)
    break_gateway("nat-1")
    break_gateway("nat-2")
    look_after(MINUTE)
    assert subjects() == ["Alarm: The portal reaches none of the gateways"]
    Alarm.objects.all().delete()
    incident.gateways.set(running.gateways)
    look_after(MINUTE)
    assert len(subjects()) == 1


def test_the_other_gateway_is_not_blamed_for_being_alone(running: factories.Network) -> None:
    Gateway.objects.filter(name="nat-1").update(carries4=False, carries6=False)
    Gateway.objects.filter(name="nat-2").update(carries4=True, carries6=True)
    work(running)
    break_gateway("nat-1")
    look_after(MINUTE)
    assert {each.key for each in Alarm.objects.all()} == {f"gateway-{each.pk}" for each in running.gateways}
    assert subjects() == []


def test_a_rollout_that_failed_at_this_gateway_alone_is_silent_and_one_that_failed_elsewhere_is_told(running: factories.Network) -> None:
    work(running)
    failed = rollout(running, "failed", error="nat-1: no answer")
    nat1, nat2 = running.gateways
    RolloutStep.objects.filter(rollout=failed, gateway=nat2).update(state=RolloutStep.State.SKIPPED)
    look_after(MINUTE)
    look_after(MINUTE)
    assert Alarm.objects.get(key=f"rollout-{failed.pk}").gateways == [nat1.pk] and not [each for each in subjects() if "did not" in each]
    RolloutStep.objects.filter(rollout=failed, gateway=nat2).update(state=RolloutStep.State.REFUSED)
    look_after(MINUTE)
    assert any("did not reach every gateway" in each for each in subjects())


def test_a_rollout_that_a_person_stopped_is_the_networks(running: factories.Network) -> None:
    work(running, "nat-1", "nat-2")
    stopped = rollout(running, "confirmed")
    Rollout.objects.filter(pk=stopped.pk).update(state=Rollout.State.ABORTED)
    [need] = [each for each in list_attention_items(timezone.now()) if each.key == f"rollout-{stopped.pk}"]
    assert not need.gateways and need.work is None


def test_a_finding_of_its_health_is_silent_and_the_same_of_the_other_is_told(running: factories.Network) -> None:
    work(running)
    for gateway in running.gateways:
        HealthFinding.objects.create(
            gateway=gateway,
            rule="hot",
            kind=HealthFinding.Kind.BAD,
            evidence={"degrees": 101},
            since=timezone.now() - HOUR,
            at=timezone.now(),
            times=9,
        )
    look_after(MINUTE)
    look_after(MINUTE)
    found = {tuple(each.gateways): each for each in Alarm.objects.filter(key__startswith="health-")}
    nat1, nat2 = running.gateways
    assert (found[nat1.pk,].reported, found[nat2.pk,].reported is not None) == (None, True)


def test_a_family_that_nobody_carries_any_more_is_told_although_its_gateway_is_under_work(network: factories.Network) -> None:
    set_up_failover(network)
    report_both(network)
    nat1, nat2 = network.gateways
    break_gateway("nat-1")
    work(network)
    need = next(each for each in list_attention_items(timezone.now()) if each.key == f"gateway-{nat1.pk}")
    assert need.gateways == {nat1.pk} and need.work  # nat-2 hears it, or would have taken over
    report(network, 1, FAULT)
    need = next(each for each in list_attention_items(timezone.now()) if each.key == f"gateway-{nat1.pk}")
    assert need.gateways == {nat1.pk, nat2.pk} and need.work is None
    Gateway.objects.update(carries6=False)
    report(network, 0, STANDBY)
    report(network, 1, PRIMARY)
    need = next(each for each in list_attention_items(timezone.now()) if each.key == f"gateway-{nat1.pk}")
    assert need.gateways == {nat1.pk} and need.work


# --- When a window is open


def test_work_that_is_ended_early_or_called_off_silences_no_longer(running: factories.Network) -> None:
    over = work(running)
    assert [each.incident for each in list_work_windows(timezone.now())] == [over]
    say(over, "over", running)
    assert list_work_windows(timezone.now()) == []
    say(over, "under_way", running)
    assert [each.incident for each in list_work_windows(timezone.now())] == [over]
    later = work(running, begun=-HOUR)
    say(later, "called_off", running)
    assert later not in [each.incident for each in list_work_windows(timezone.now() + HOUR + MINUTE)]


def test_a_window_is_closed_before_the_work_begins(running: factories.Network) -> None:
    planned = work(running, begun=-HOUR)
    assert list_work_windows(planned.began - MINUTE) == []
    assert [each.until for each in list_work_windows(planned.began)] == [planned.planned_end]


def test_work_that_takes_longer_stays_silent_only_if_it_is_said_to_be_under_way_and_not_for_ever(running: factories.Network) -> None:
    late = work(running, begun=2 * HOUR, lasts=HOUR)
    assert late.planned_end is not None and list_work_windows(timezone.now()) == []
    say(late, "under_way", running)
    assert [each.until for each in list_work_windows(timezone.now())] == [late.planned_end + LONGEST_OVERRUN]
    assert list_work_windows(late.planned_end + LONGEST_OVERRUN) == []


# --- Pages


def test_the_alarms_and_the_dashboard_say_which_work_keeps_them_silent(running: factories.Network) -> None:
    incident = work(running)
    break_gateway()
    look_after(MINUTE)
    mara = signed_in(running.admin)
    for path, words in (("/alarms/", "because of"), ("/", "because of planned work")):
        answer = mara.get(path)
        assert words in text(answer) and "nat-1 gets a new kernel" in text(answer)
        assert f'href="/incidents/{incident.pk}/"' in answer.content.decode()
    assert "silent until" in text(mara.get("/alarms/")) and "alarms of nat-1 alone" in text(mara.get("/alarms/"))


def test_the_form_of_planned_work_says_that_alarms_are_silent_and_that_of_a_fault_does_not(running: factories.Network) -> None:
    mara = signed_in(running.admin)
    assert "Their alarms are silent while the work lasts." in text(mara.get("/incidents/add/maintenance/"))
    assert "alarms are silent" not in text(mara.get("/incidents/add/fault/"))


def test_more_works_cost_the_alarms_page_no_more_queries(running: factories.Network) -> None:
    mara = signed_in(running.admin)
    work(running)
    mara.get("/alarms/")
    few = queries(mara, "/alarms/")
    for _more in range(5):
        work(running, "nat-1", "nat-2")
    assert queries(mara, "/alarms/") <= few


@pytest.mark.parametrize("public", [True, False])
def test_work_that_only_staff_see_silences_as_well(running: factories.Network, public: bool) -> None:
    work(running, public=public)
    break_gateway()
    look_after(MINUTE)
    assert subjects() == []

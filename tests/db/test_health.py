"""Health of gateways: readings are stored, judged and summed up; dashboard, mails and the gateway's page say what they showed."""

import csv
import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.db.models import F
from django.http import StreamingHttpResponse
from django.test import Client
from django.utils import timezone

from apps.deployments.models import Rollout
from apps.deployments.services import reconcile
from apps.desk.needs.collection import list_attention_items
from apps.gateways.health.chart_data import ChartPeriod, read_series
from apps.gateways.health.collection import read_all_gateways
from apps.gateways.health.models import HealthFinding, HealthReading, HealthSample, HealthStatus
from apps.gateways.health.reading_store import GatewayReading, store_readings
from apps.gateways.health.rollup import sum_up
from apps.gateways.health.selectors import list_findings
from apps.gateways.packet_probes.models import LOST, NOT_SENT, ProbeStatus
from apps.gateways.retention import prune_health_readings, prune_health_samples
from apps.network.models import Gateway
from apps.operations.pruning import STEP
from firewall.health import Forwarding
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.test_alarms import look_after, subjects
from tests.db.test_pages_dashboard import rollout, runs
from tests.health_situations import LEVELS, build_counters, store_reading

Span = HealthSample.Span
SECOND = timedelta(seconds=1)
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
NO_ROUTE = {"forwarding": Forwarding(True, True, False, False)}


@pytest.fixture
def mara(network: factories.Network) -> Client:
    runs(network, rollout(network))
    return signed_in(network.admin)


def read(gateway: Gateway, *changes: dict[str, Any], ago: timedelta = timedelta(0)) -> None:
    """Store a reading every ten seconds, each with its changes; the last one is `ago`."""
    end = timezone.now() - ago
    for number, changed in enumerate(changes):
        at = end - 10 * SECOND * (len(changes) - 1 - number)
        uptime = (at - NOON).total_seconds()
        store_reading(gateway, build_counters(uptime, at.timestamp(), **changed), at)


def list_needs() -> list[tuple[str, str]]:
    return [(each.state.kind.value, each.what) for each in list_attention_items(timezone.now()) if each.key.startswith("health")]


def test_gateways_in_memory_are_read_and_have_no_finding(served_network: factories.Network) -> None:
    reconcile(served_network.group)
    read_all_gateways()
    assert HealthReading.objects.filter(measures={}).count() == HealthStatus.objects.filter(refusal="").count() == 2
    assert list_needs() == []


def test_what_two_readings_show_is_a_need_until_two_do_not(mara: Client, network: factories.Network) -> None:
    gateway = network.gateways[0]
    read(gateway, {}, NO_ROUTE, ago=40 * SECOND)
    assert list_needs() == []
    read(gateway, NO_ROUTE, ago=30 * SECOND)
    assert list_needs() == [("bad", "nat-1 has no route to the internet")]
    page = text(mara.get("/"))
    assert "No default route for IPv4, IPv6: packets to the internet are refused." in page
    assert "active members are affected." in page
    read(gateway, {}, ago=20 * SECOND)
    assert len(list_needs()) == 1
    read(gateway, {}, ago=10 * SECOND)
    assert list_needs() == []


def test_each_gateway_is_judged_by_its_own_readings_when_they_are_stored_together(network: factories.Network) -> None:
    """Stored together, as one after the other: with what each one did since its own reading before, its own probes and sets."""
    first, second = network.gateways[:2]
    noon = timezone.now()
    HealthReading.objects.filter(gateway__in=[first, second]).delete()
    ProbeStatus.objects.create(gateway=second, family=4, at=noon, state="lost", since=noon, failures=2, text="Lost.")
    for step, changed in enumerate(({}, NO_ROUTE, {}, {}, {})):
        at = noon + 10 * step * SECOND
        faults: dict[Gateway, dict[str, Any]] = {
            first: changed,
            second: {"levels": dataclasses.replace(LEVELS, temperature=93_000)} if step == 1 else {},
        }
        asked = [(each, build_counters(1000 * number + 10 * step, at.timestamp(), **faults[each])) for number, each in enumerate(faults, 1)]
        store_readings([GatewayReading(each, counters, at, at + 2 * SECOND) for each, counters in asked])
        found = {(each.gateway, each.rule, each.times, each.missed) for each in HealthFinding.objects.all()}
        assert found == ({(first, "no_route", 1, 0), (second, "hot", 1, 0)} if step == 1 else set()), step
    assert not HealthReading.objects.filter(at=noon + SECOND).exclude(measures={}).exists(), "nothing is known of the time before the first"
    packets = {each.measures["packets"] for each in HealthReading.objects.filter(at__gt=noon + 5 * SECOND)}
    assert packets == {10_000.0}, "both links that members use, 5,000 packets a second each"
    assert set(HealthStatus.objects.values_list("gateway", "at", "refusal")) == {
        (each.pk, noon + 41 * SECOND, "") for each in (first, second)
    }


def test_a_finding_of_each_gateway_goes_on_and_ends_by_itself(network: factories.Network) -> None:
    first, second = network.gateways[:2]
    noon = timezone.now()
    for step, broken in enumerate(({}, {first, second}, {first, second}, {second}, {second}, {second})):
        at = noon + 10 * step * SECOND
        store_readings(
            [
                GatewayReading(each, build_counters(1000 + 10 * step, at.timestamp(), **(NO_ROUTE if each in broken else {})), at, at)
                for each in (first, second)
            ]
        )
    [left] = HealthFinding.objects.all()
    assert (left.gateway, left.times, left.since, left.at) == (second, 5, noon + 10 * SECOND, noon + 50 * SECOND)


def test_a_refusal_is_over_with_the_next_reading(network: factories.Network) -> None:
    gateway = network.gateways[0]
    HealthStatus.objects.create(gateway=gateway, at=timezone.now(), refusal="no such file")
    read(gateway, {})
    assert HealthStatus.objects.get(gateway=gateway).refusal == ""


def test_an_old_reading_says_nothing(mara: Client, network: factories.Network) -> None:
    read(network.gateways[0], {}, NO_ROUTE, NO_ROUTE, ago=61 * SECOND)
    assert list_needs() == []
    page = text(mara.get(f"/gateways/{network.gateways[0].pk}/health/"))
    assert "No reading since" in page and "No fault" not in page


def test_readings_count_after_the_clock_was_ahead(mara: Client, network: factories.Network) -> None:
    gateway, path = network.gateways[0], f"/gateways/{network.gateways[0].pk}/health/"
    read(gateway, {}, NO_ROUTE, NO_ROUTE, ago=timedelta(hours=-2))
    read(gateway, NO_ROUTE, NO_ROUTE, NO_ROUTE, ago=10 * SECOND)
    finding, now = HealthFinding.objects.get(), timezone.now()
    assert (finding.times, finding.since <= finding.at <= now) == (4, True)
    assert HealthReading.objects.filter(at__lte=now).count() == 3
    page = text(mara.get(path))
    assert "nat-1 has no route to the internet" in page and "No reading since" not in page
    HealthReading.objects.filter(at__lte=now).update(at=F("at") - 60 * SECOND)
    assert "No reading since" in text(mara.get(path)), "a reading from while the clock was ahead is none of now"


def test_what_explains_lost_probes_stands_for_them(mara: Client, network: factories.Network) -> None:
    gateway, now = network.gateways[0], timezone.now()
    for family in (4, 6):
        ProbeStatus.objects.create(gateway=gateway, family=family, at=now, state="lost", since=now, failures=2, text="Lost.")
    assert {each.key for each in list_attention_items(now)} == {f"packets-of-{gateway.pk}-{family}" for family in (4, 6)}
    only4 = {"forwarding": Forwarding(True, True, False, True)}
    read(gateway, {}, only4, only4)
    assert {each.key for each in list_attention_items(now)} == {f"health-{gateway.pk}-no_route", f"packets-of-{gateway.pk}-6"}
    read(gateway, {}, ago=-10 * SECOND)
    read(gateway, {}, ago=-20 * SECOND)
    page = text(mara.get(f"/gateways/{gateway.pk}/health/"))
    assert "IPv4: no packet comes back." in page and "no answer" in page and "No fault" not in page


def test_lossy_probes_are_said_before_that_no_fault_was_found(mara: Client, network: factories.Network) -> None:
    gateway, now = network.gateways[0], timezone.now()
    given = {
        "family": 4,
        "at": now,
        "answered": now,
        "state": "passed",
        "since": now,
        "recent": [900, LOST, LOST, LOST, 900],
        "lost_echoes": [NOT_SENT] * 5,
    }
    ProbeStatus.objects.create(gateway=gateway, **given)
    read(gateway, {}, {}, {})
    page = text(mara.get(f"/gateways/{gateway.pk}/health/"))
    assert "IPv4: loses packets." in page and "No fault" not in page


def test_the_page_begins_with_the_worst_finding(mara: Client, network: factories.Network) -> None:
    full = {"levels": dataclasses.replace(LEVELS, disk_free=1 << 20, temperature=93_000)}
    read(network.gateways[0], {}, full, full)
    assert [each.rule for each in list_findings(timezone.now())] == ["disk_full", "hot"]
    hot = {"levels": dataclasses.replace(LEVELS, disk_free=1 << 29, temperature=101_000)}
    HealthFinding.objects.all().delete()
    read(network.gateways[0], {}, hot, hot, ago=-30 * SECOND)
    assert [each.rule for each in list_findings(timezone.now())] == ["hot", "disk_full"]


def test_a_finding_is_told_by_mail_and_is_over_by_mail(mara: Client, network: factories.Network) -> None:
    type(network.admin).objects.update(email="mara@lindenhof.example")
    gateway = network.gateways[0]
    read(gateway, {}, NO_ROUTE, NO_ROUTE)
    look_after(0 * SECOND)
    HealthFinding.objects.update(at=timezone.now() + 60 * SECOND)
    look_after(60 * SECOND)
    assert subjects() == ["Alarm: nat-1 has no route to the internet"]
    HealthFinding.objects.all().delete()
    look_after(70 * SECOND)
    look_after(200 * SECOND)
    assert subjects()[-1].startswith("Over: nat-1 has no route")


def test_a_restart_between_two_readings_says_nothing(network: factories.Network) -> None:
    read(network.gateways[0], {}, NO_ROUTE | {"boot": "two"})
    assert HealthReading.objects.order_by("-at")[0].measures == {}
    assert not HealthFinding.objects.exists()


def test_a_reading_of_another_release_is_no_reading_before(network: factories.Network) -> None:
    gateway = network.gateways[0]
    read(gateway, {}, ago=20 * SECOND)
    HealthReading.objects.update(counters={"is": "HealthCounters", "boot": "one"})
    read(gateway, {}, ago=10 * SECOND)
    assert HealthReading.objects.order_by("-at")[0].measures == {}
    read(gateway, {})
    assert HealthReading.objects.order_by("-at")[0].measures


def test_the_change_before_a_finding_is_named(mara: Client, network: factories.Network) -> None:
    gateway = network.gateways[0]
    Rollout.objects.update(finished=timezone.now() - timedelta(minutes=3))
    read(gateway, {}, NO_ROUTE, NO_ROUTE)
    page = text(mara.get(f"/gateways/{gateway.pk}/health/"))
    assert f"The last change before it was {Rollout.objects.get()}, 2" in page


def test_an_agent_that_does_not_tell_its_health_is_named(mara: Client, network: factories.Network) -> None:
    HealthStatus.objects.create(gateway=network.gateways[0], at=timezone.now(), refusal="is: 'ReadHealth' is no request")
    assert list_needs() == [("plain", "The health of nat-1 is not known")]
    assert "The health of nat-1 is not known." in text(mara.get(f"/gateways/{network.gateways[0].pk}/health/"))


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_says_at_once_whether_all_is_well(mara: Client, network: factories.Network, language: str) -> None:
    gateway = network.gateways[0]
    words = {"en": ("No fault was found on nat-1.", "usually"), "de": ("Auf nat-1 wurde kein Fehler gefunden.", "sonst")}[language]
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    for day in (1, 2):
        for begin in (hour - timedelta(days=day), hour + timedelta(hours=1) - timedelta(days=day)):  # it may end before the page is read
            HealthSample.objects.create(
                gateway=gateway, span=Span.HOUR, begin=begin, averages={"packets": 900.0 * day}, maxima={"packets": 5000.0}
            )
    read(gateway, {}, {}, {})
    page = text(mara.get(f"/gateways/{gateway.pk}/health/", headers={"Accept-Language": language}))
    assert words[0] in page and words[1] in page


@pytest.mark.parametrize("period", list(ChartPeriod))
def test_every_period_has_charts_or_says_that_there_is_nothing(mara: Client, network: factories.Network, period: ChartPeriod) -> None:
    read(network.gateways[0], {}, {}, {}, {}, {}, {}, {}, ago=40 * SECOND)
    page = text(mara.get(f"/gateways/{network.gateways[0].pk}/health/?period={period}"))
    assert ("Busiest core" in page.split("What changed")[1].split("All measures")[0]) is (period is ChartPeriod.HOUR)
    assert ("No reading in this time" in page) is (period is not ChartPeriod.HOUR)


def test_measures_that_counted_nothing_are_named_and_not_drawn(mara: Client, network: factories.Network) -> None:
    read(network.gateways[0], {}, {}, {}, {}, {}, {}, {}, ago=40 * SECOND)
    page = mara.get(f"/gateways/{network.gateways[0].pk}/health/?more=yes")
    assert "SYN cookies sent" in page.context["zero"] and "Nothing was counted in this time of:" in text(page)
    assert [each.title for each in page.context["more"]][:2] == ["From the internet", "To the internet"]
    assert 'id="syn-cookies"' not in text(page)


def test_an_unknown_period_shows_the_last_hour(mara: Client, network: factories.Network) -> None:
    page = mara.get(f"/gateways/{network.gateways[0].pk}/health/?period=7w")
    assert page.context["period"] is ChartPeriod.HOUR


def test_the_polled_part_has_no_charts(mara: Client, network: factories.Network) -> None:
    read(network.gateways[0], {}, {}, {})
    page = text(mara.get(f"/gateways/{network.gateways[0].pk}/health/", headers={"HX-Request": "true", "HX-Target": "now"}))
    assert "No fault" in page and "What changed" not in page and "All measures" in page


def test_all_measures_can_be_downloaded(mara: Client, network: factories.Network) -> None:
    read(network.gateways[0], {}, {}, {}, {}, {}, {}, {}, ago=40 * SECOND)
    answer = mara.get(f"/gateways/{network.gateways[0].pk}/health/measures.csv?period=1h")
    assert isinstance(answer, StreamingHttpResponse)
    rows = list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))
    assert {row["packets"] for row in rows} == {"", "10000.0"}


def fill(gateway: Gateway, since: datetime, hours: int, step: timedelta = timedelta(minutes=1)) -> None:
    """Store readings whose packets count the hours."""
    at = since
    while at < since + timedelta(hours=hours):
        number = float((at - since) // timedelta(hours=1))
        HealthReading.objects.create(gateway=gateway, at=at, counters={}, measures={"packets": number, "errors": 1.0})
        at += step
    HealthStatus.objects.update_or_create(gateway=gateway, defaults={"at": at})


def test_readings_are_summed_up_to_minutes_hours_and_days_once(network: factories.Network) -> None:
    gateway, midnight = network.gateways[0], NOON - timedelta(hours=12)
    fill(gateway, midnight, 24)
    for _again in range(2):
        sum_up(midnight + timedelta(hours=24, seconds=31))
    counts = {span: HealthSample.objects.filter(span=span).count() for span in Span}
    assert counts == {Span.FIVE_MINUTES: 288, Span.HOUR: 24, Span.DAY: 1}
    day = HealthSample.objects.get(span=Span.DAY)
    assert (day.averages, day.maxima) == ({"packets": 11.5, "errors": 1.0}, {"packets": 23.0, "errors": 1.0})


def test_a_bucket_is_written_only_when_it_is_over(network: factories.Network) -> None:
    gateway = network.gateways[0]
    fill(gateway, NOON, 1, timedelta(seconds=10))
    sum_up(NOON + timedelta(minutes=9, seconds=59))
    assert HealthSample.objects.count() == 1
    sum_up(NOON + timedelta(minutes=10, seconds=30))
    assert HealthSample.objects.count() == 2


def test_a_pause_of_the_sums_loses_nothing_and_a_gap_stays_a_gap(network: factories.Network) -> None:
    gateway = network.gateways[0]
    fill(gateway, NOON, 1)
    fill(gateway, NOON + timedelta(hours=3), 1)
    sum_up(NOON + timedelta(minutes=7))
    sum_up(NOON + timedelta(hours=5))
    hours = list(HealthSample.objects.filter(span=Span.HOUR).values_list("begin", flat=True))
    assert hours == [NOON, NOON + timedelta(hours=3)]
    line = read_series([gateway], ChartPeriod.EVENING, ["errors"], NOON + timedelta(hours=5)).get_line(gateway, "errors")
    assert line.count(1.0) == 24


def test_readings_are_summed_up_after_the_clock_was_ahead(network: factories.Network) -> None:
    gateway, two_hours = network.gateways[0], timedelta(hours=2)
    fill(gateway, NOON + two_hours, 1)
    sum_up(NOON + two_hours + timedelta(minutes=11))
    ahead = set(HealthSample.objects.values_list("begin", flat=True))
    fill(gateway, NOON, 2)
    for minute in range(0, 3 * 60, 5):
        sum_up(NOON + timedelta(minutes=minute + 5, seconds=31))
    begins = HealthSample.objects.filter(span=Span.FIVE_MINUTES).order_by("begin").values_list("begin", flat=True)
    assert ahead == {NOON + two_hours, NOON + two_hours + timedelta(minutes=5)}
    assert list(begins) == [NOON + timedelta(minutes=minute) for minute in range(0, 3 * 60, 5)]
    assert HealthSample.objects.filter(span=Span.HOUR).count() == 3


def test_old_readings_and_samples_go_by_their_span(network: factories.Network) -> None:
    gateway = network.gateways[0]
    fill(gateway, NOON, 1)
    for span, days in ((Span.FIVE_MINUTES, 15), (Span.HOUR, 15), (Span.HOUR, 366), (Span.DAY, 366), (Span.DAY, 5 * 366)):
        HealthSample.objects.create(gateway=gateway, span=span, begin=NOON - timedelta(days=days), averages={}, maxima={})
    assert prune_health_readings(NOON + timedelta(hours=2, minutes=30), STEP) == 30
    assert prune_health_samples(NOON, STEP) == 3
    assert sorted(HealthSample.objects.values_list("span", flat=True)) == [Span.HOUR, Span.DAY]


def test_the_database_refuses_a_second_finding_of_a_rule_and_spans_that_do_not_exist(network: factories.Network) -> None:
    gateway, now = network.gateways[0], timezone.now()
    given = {"gateway": gateway, "rule": "hot", "kind": "bad", "evidence": {}, "since": now, "at": now}
    HealthFinding.objects.create(**given)
    wrong: list[Any] = [
        HealthFinding(**given),
        HealthFinding(**given | {"rule": "busy_core", "kind": "ok"}),
        HealthFinding(**given | {"rule": "busy_core", "since": now + SECOND}),
        HealthSample(gateway=gateway, span=60, begin=now, averages={}, maxima={}),
    ]
    for row in wrong:
        with pytest.raises(IntegrityError), transaction.atomic():
            row.save()

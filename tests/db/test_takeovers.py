"""What the page of failover draws and foretells: who would take over, who carried what, and what the top bar says of it."""

import re
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.deployments.models import GatewayState, Rollout
from apps.events.models import Event
from apps.gateways.failover_files import digest_failover_files
from apps.gateways.roles.drawing import draw_ways
from apps.gateways.roles.models import CarrierChange, FailoverStatus, RoleSwitch
from apps.gateways.roles.outcomes import describe_outcome
from apps.gateways.roles.picture import build_roles_picture
from apps.gateways.roles.problems import list_problems
from apps.gateways.roles.takeovers import ORPHANED, Takeover, predict_takeovers
from apps.gateways.roles.timeline import build_timeline
from apps.gateways.selectors import build_overviews, list_gateways
from apps.network.models import Failover
from firewall.roles import FailoverRole
from tests import factories
from tests.db.page_client import signed_in, text
from tests.role_reports import make_revision, report, report_both, set_up_failover

pytestmark = pytest.mark.django_db(transaction=True)
PRIMARY, STANDBY, FAULT = FailoverRole.PRIMARY, FailoverRole.STANDBY, FailoverRole.FAULT


@pytest.fixture(autouse=True)
def _failover(network: factories.Network) -> None:
    set_up_failover(network)


def foretell(network: factories.Network) -> list[Takeover]:
    return predict_takeovers(build_roles_picture(network.group), Failover.objects.get(group=network.group))


def test_the_standby_takes_over_after_three_advertisements_and_nothing_is_lost(network: factories.Network) -> None:
    report_both(network)
    carrier, standby = foretell(network)
    (four,) = carrier.families
    assert (four.successor, list(four.losses)) == (network.gateways[1], [])
    assert four.seconds == pytest.approx(0.6)
    assert carrier.is_covered
    assert list(standby.families) == []


@pytest.mark.parametrize(
    ("first", "other", "seconds", "loss"),
    [
        ({}, {"role": FAULT}, None, "Members have no IPv4 until it is back."),
        ({}, {"elected_age": -1}, None, "Members have no IPv4 until it is back."),
        ({}, {"role": FAULT, "is_drained": True}, 5.6, ""),
        ({}, {"synchronised_age": 600}, 0.6, "Connections end"),
        ({"synchronised_age": -1}, {}, 0.6, "Connections end"),
        ({}, {"tracked": 1_000}, 0.6, "nat-2 has 1,000 connections"),
    ],
)
def test_what_would_be_lost_is_foretold(
    network: factories.Network, first: dict[str, Any], other: dict[str, Any], seconds: float | None, loss: str
) -> None:
    report_both(network, first, other)
    (four,) = foretell(network)[0].families
    assert four.seconds == (seconds and pytest.approx(seconds))
    assert (four.successor is None) == (seconds is None)
    assert " ".join(four.losses).startswith(loss)
    assert bool(four.losses) == bool(loss)


def test_the_portal_knows_after_how_long_a_drained_gateway_takes_a_family_back() -> None:
    program = (settings.ROOT / "gateway/debian/netzwart-failover").read_text()
    assert re.search(r"^TAKEOVER=(\d+)", program, re.MULTILINE)[1] == f"{ORPHANED:.0f}"  # type: ignore[index]


def test_older_rules_of_the_successor_are_a_loss(network: factories.Network) -> None:
    report_both(network)
    GatewayState.objects.filter(gateway=network.gateways[1]).update(revision=make_revision(network.group))
    assert foretell(network)[0].families[0].losses == ["nat-2 has the rules of another revision."]


def test_a_rollout_under_way_warns_of_a_peer_without_states(network: factories.Network) -> None:
    report_both(network)
    rollout = Rollout.objects.create(group=network.group, revision=make_revision(network.group))
    page, mara = f"/rollouts/{rollout.pk}/", signed_in(network.admin)
    assert "failed now" not in text(mara.get(page)), "a standby with other rules is what a rollout is"
    report_both(network, other={"synchronised_age": -1})
    assert "If nat-1 failed now: Connections end, because their states are not copied." in text(mara.get(page))
    report_both(network, other={"role": FAULT})
    assert "If nat-1 failed now: nobody takes IPv4 over." in text(mara.get(page))
    Rollout.objects.update(state=Rollout.State.CONFIRMED, finished=timezone.now())
    assert "failed now" not in text(mara.get(page))


def test_who_changes_the_primary_reads_that_files_change(network: factories.Network) -> None:
    dialog, mara = f"/gateways/{network.gateways[1].pk}/primary/4/", signed_in(network.admin)
    words = "The failover files of the gateways change."
    assert words in text(mara.get(dialog))
    Failover.objects.all().delete()
    assert words not in text(mara.get(dialog))


def test_strips_show_who_carried_within_thirty_days(network: factories.Network) -> None:
    now = timezone.now()
    moves: tuple[tuple[float, list[str]], ...] = ((60, ["nat-1"]), (15, ["nat-2"]), (7.5, []), (3, ["nat-1", "nat-2"]))
    for days, carriers in moves:
        CarrierChange.objects.create(group=network.group, family=4, carriers=carriers, at=now - timedelta(days=days), cause="fault")
    (strip,) = build_timeline(network.group, now).strips
    assert [(each.left, each.width, each.colour) for each in strip.segments] == [
        ("0.00%", "50.00%", "a"),
        ("50.00%", "25.00%", "b"),
        ("75.00%", "15.00%", "none"),
        ("90.00%", "10.00%", "several"),
    ]
    assert strip.segments[1].words.startswith("nat-2 since ")


def test_strips_begin_with_the_first_report_and_a_moment_without_a_carrier_is_seen(network: factories.Network) -> None:
    now = timezone.now()
    for days, carriers in ((2, ["nat-1"]), (1, []), (1 - 1 / 86_400, ["nat-1"])):
        CarrierChange.objects.create(group=network.group, family=4, carriers=carriers, at=now - timedelta(days=days), cause="fault")
    timeline = build_timeline(network.group, now)
    assert timeline.begin == now - timedelta(days=2)
    (strip,) = timeline.strips
    assert [(each.colour, each.left, each.width) for each in strip.segments] == [
        ("a", "0.00%", "50.00%"),
        ("a", "50.00%", "50.00%"),
        ("none", "50.00%", "0.30%"),
    ]


def test_a_family_that_moves_again_and_again_is_a_problem(network: factories.Network) -> None:
    report_both(network)
    for _ in range(5):
        CarrierChange.objects.create(group=network.group, family=6, carriers=[], at=timezone.now(), cause="switch")
    words = "moved 5 times within a day"
    assert not any(words in each.text for each in list_problems(build_roles_picture(network.group), timezone.now()))
    CarrierChange.objects.filter(family=6).update(cause="election")
    assert any(words in each.text for each in list_problems(build_roles_picture(network.group), timezone.now()))


@pytest.fixture
def _sync(network: factories.Network) -> None:
    for number, gateway in enumerate(network.gateways, 1):
        gateway.sync, gateway.sync_address = "sync0", ip_address(f"172.31.255.{number}")
        gateway.save()


@pytest.mark.usefixtures("_sync")
def test_files_that_are_not_those_of_the_settings_are_a_problem(network: factories.Network) -> None:
    def list_texts() -> str:
        return " ".join(each.text for each in list_problems(build_roles_picture(network.group), timezone.now()))

    running = digest_failover_files(network.gateways[0])
    report_both(network, {"running": running})
    assert "nat-2 runs other files than the settings give" in list_texts()
    assert "nat-1 runs" not in list_texts()
    settings = signed_in(network.admin).get(f"/gateways/groups/{network.group.pk}/failover/settings/")
    assert "runs these files" in text(settings)
    assert "runs other files: install these" in text(settings)
    Failover.objects.update(interval=30)
    report_both(network, {"running": running, "edited": ("/etc/keepalived/keepalived.conf", "\0")})
    assert "nat-1 runs other files" in list_texts()
    assert "Edited by hand or missing on nat-1: keepalived.conf" in list_texts()


def test_the_way_of_each_family_leads_through_its_carrier(network: factories.Network) -> None:
    report_both(network)
    lines = draw_ways(build_roles_picture(network.group))
    assert [(line.kind, line.x1, line.x2) for line in lines] == [("link", "50%", "50%"), ("4", "24%", "32%"), ("4", "68%", "76%")]
    assert lines[1].y2 == lines[2].y1 == "2.0rem", "through the upper box"
    report_both(network, {"role": FAULT})
    assert [line.kind for line in draw_ways(build_roles_picture(network.group))] == ["link", "lost"]


@pytest.mark.parametrize(
    ("first", "other", "words"),
    [
        ({}, {}, ""),
        ({"role": STANDBY}, {"role": PRIMARY}, "IPv4 on nat-2"),
        ({"role": FAULT}, {}, "IPv4 on no gateway"),
        ({}, {"role": PRIMARY}, "IPv4 on several gateways"),
    ],
)
def test_every_page_says_on_top_what_is_not_carried_as_planned(
    network: factories.Network, first: dict[str, Any], other: dict[str, Any], words: str
) -> None:
    GatewayState.objects.update(revision=make_revision(network.group))
    report_both(network, first, other)
    page = text(signed_in(network.admin).get("/gateways/"))
    assert ('id="running-note"' in page) == bool(words)
    assert words in page


def test_failover_costs_each_page_few_queries(network: factories.Network, django_assert_max_num_queries: Any) -> None:
    mara = signed_in(network.admin)
    mara.get("/tickets/")
    with CaptureQueriesContext(connection) as before:
        mara.get("/tickets/")
    report_both(network)
    with django_assert_max_num_queries(len(before) + 4):  # for the number beside “Dashboard”
        mara.get("/tickets/")


def test_a_drained_family_is_named_because_the_other_may_still_be_carried(network: factories.Network) -> None:
    given = {"kind": "drain", "families": [6], "state": "done", "outcome": "drained", "ended": timezone.now()}
    row = RoleSwitch.objects.create(group=network.group, gateway=network.gateways[0], **given)
    assert describe_outcome(row) == "nat-1 has given IPv6 up, until it is back again."


def test_pages_show_who_carries_and_not_who_should(network: factories.Network) -> None:
    mara = signed_in(network.admin)
    before = text(mara.get("/gateways/"))
    report_both(network, {"role": STANDBY}, {"role": PRIMARY})
    first, other = build_overviews(list(list_gateways()), timezone.now())
    assert (first.gateway.carries4, first.carries4, other.carries4) == (True, False, True)
    assert first.carries != other.carries
    assert before != text(mara.get("/gateways/"))
    Failover.objects.all().delete()
    assert [each.carries4 for each in build_overviews(list(list_gateways()), timezone.now())] == [True, False], "not managed here"


def test_a_dead_carrier_carries_nothing_once_the_other_one_does(network: factories.Network) -> None:
    report_both(network)
    FailoverStatus.objects.filter(gateway=network.gateways[0]).update(problem="no answer")
    assert [each.carries4 for each in build_overviews(list(list_gateways()), timezone.now())] == [True, False]
    report(network, 1, PRIMARY)
    assert [each.carries4 for each in build_overviews(list(list_gateways()), timezone.now())] == [False, True]


def test_the_page_foretells_and_a_group_without_failover_offers_it(network: factories.Network) -> None:
    report_both(network)
    page, mara = f"/gateways/groups/{network.group.pk}/failover/", signed_in(network.admin)
    shown = text(mara.get(page))
    assert "Whichever gateway dies, members go on through the other one." in shown
    assert "It carries nothing." in shown
    Failover.objects.all().delete()
    assert "Set up failover" in text(mara.get(page))
    assert "Set up failover" not in text(signed_in(factories.user("ada", roles=["auditor"])).get(page))


def test_moves_and_switches_are_events(network: factories.Network) -> None:
    report_both(network)
    row = RoleSwitch.objects.create(group=network.group, gateway=network.gateways[0], kind="switch", families=[4])
    RoleSwitch.objects.filter(pk=row.pk).update(state="running")
    RoleSwitch.objects.filter(pk=row.pk).update(state="done", outcome="moved", ended=timezone.now())
    events = Event.objects.filter(kind="failover", object_id=network.group.pk).order_by("id")
    assert list(events.values_list("state", flat=True)) == ["carried", "switch waiting", "switch running", "switch done"]

"""Families that no gateway carries: the status page calls them not reachable, and the connection check says so, but not for a moment."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.desk.connection_check.finding import FaultOrigin
from apps.desk.connection_check.report import build_report
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.roles.models import CarrierChange, FailoverStatus
from apps.gateways.roles.picture import Deviation, map_family_pictures
from apps.network.models import Failover, GatewayGroup
from apps.status.availability.models import ServiceState
from apps.status.availability.observation import observe_services
from firewall.roles import FailoverRole
from tests import factories
from tests.role_reports import report, report_both, set_up_failover

pytestmark = pytest.mark.django_db
FAULT, STANDBY = {"role": FailoverRole.FAULT}, {"role": FailoverRole.STANDBY}
LOOK = timedelta(seconds=10)  # between two questions for the roles


@pytest.fixture(autouse=True)
def _failover(network: factories.Network) -> None:
    set_up_failover(network)


def see_level() -> str:
    """Return what the services' next look notes of IPv4."""
    observe_services(timezone.now())
    return ServiceState.objects.get(pk="ipv4").level


def lose_carrier(network: factories.Network) -> None:
    """Let nat-1 carry IPv4, and both gateways say at two looks that they do not carry it."""
    report_both(network)
    report_both(network, FAULT, FAULT)
    CarrierChange.objects.filter(carriers=[]).update(at=timezone.now() - LOOK)


def add_fine_group() -> None:
    """Add a group without failover through whose gateway packets pass."""
    now = timezone.now()
    carrier = factories.gateway(GatewayGroup.objects.create(name="Südhang", live_since=now), "nat-9", carries4=True)
    probed = {"at": now, "since": now, "answered": now, "recent": [2_000] * 5, "lost_echoes": [0] * 5}
    ProbeStatus.objects.create(gateway=carrier, family=4, state="passed", **probed)


def test_a_family_that_no_gateway_carries_is_not_reachable(network: factories.Network) -> None:
    lose_carrier(network)
    assert see_level() == "down"
    report_both(network, STANDBY, {"role": FailoverRole.PRIMARY})
    assert see_level() == "unknown", "nat-2 carries it, and is not probed"


def test_a_group_that_is_fine_does_not_hide_that_another_one_has_lost_a_family(network: factories.Network) -> None:
    add_fine_group()
    lose_carrier(network)
    assert see_level() == "down"


def test_a_takeover_is_no_outage(network: factories.Network) -> None:
    add_fine_group()
    report_both(network)
    report_both(network, STANDBY, STANDBY)
    assert map_family_pictures()[network.group.pk, 4].deviation is Deviation.NOBODY
    assert see_level() == "fine", "seen once"
    CarrierChange.objects.filter(carriers=[]).update(at=timezone.now() - LOOK)
    FailoverStatus.objects.filter(gateway=network.gateways[1]).update(seen=timezone.now() - LOOK)
    assert see_level() == "fine", "nat-2 was not asked again, and may have taken over"


def test_gateways_that_are_asked_one_after_the_other_lose_nothing_in_a_switch(network: factories.Network) -> None:
    add_fine_group()
    report_both(network)
    report(network, 0, FailoverRole.STANDBY)
    assert map_family_pictures()[network.group.pk, 4].deviation is Deviation.NOBODY
    assert see_level() == "fine", "nat-2 has not been asked yet"


def test_a_gateway_that_does_not_answer_keeps_no_outage_quiet(network: factories.Network) -> None:
    lose_carrier(network)
    FailoverStatus.objects.filter(gateway=network.gateways[1]).update(problem="no answer", seen=timezone.now() - timedelta(hours=1))
    assert see_level() == "down"


def test_what_gateways_said_some_time_ago_is_not_known_any_more(network: factories.Network) -> None:
    add_fine_group()
    lose_carrier(network)
    past = timezone.now() - timedelta(minutes=4)
    CarrierChange.objects.filter(carriers=[]).update(at=past - LOOK)
    FailoverStatus.objects.update(problem="no answer", seen=past)
    assert see_level() == "unknown"


def test_a_family_that_was_never_carried_is_being_set_up(network: factories.Network) -> None:
    add_fine_group()
    report_both(network, FAULT, FAULT)
    CarrierChange.objects.update(at=timezone.now() - LOOK)
    assert see_level() == "fine"


def test_a_group_that_is_not_live_has_no_members_to_lose(network: factories.Network) -> None:
    add_fine_group()
    lose_carrier(network)
    GatewayGroup.objects.filter(pk=network.group.pk).update(live_since=None)
    assert see_level() == "fine"


def test_a_group_whose_failover_is_not_managed_here_is_judged_by_its_probes(network: factories.Network) -> None:
    lose_carrier(network)
    Failover.objects.all().delete()
    assert see_level() == "unknown"


def test_a_member_reads_that_no_gateway_carries_the_family(network: factories.Network) -> None:
    lose_carrier(network)
    told = build_report(network.residents["m1"].member, timezone.now(), own=True)
    (lost,) = [each for each in told.findings if each.title == "IPv4 packets"]
    assert (lost.words, lost.fault, lost.kind.value) == ("No gateway carries IPv4.", FaultOrigin.NETWORK, "bad")
    assert lost.short == "no gateway carries IPv4 packets"

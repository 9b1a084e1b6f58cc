"""What the portal reads while nothing is wrong and nothing changes: often, and for each gateway, so it must stay little."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.alarms.conditions import list_conditions
from apps.deployments.models import GatewayState
from apps.deployments.observed_state.gateway_states import record_newer_snapshots
from apps.deployments.services import desired_state_cache, reconcile
from apps.gateways.health import collection
from apps.gateways.health.models import HealthReading
from tests import factories


def count_queries(work: Callable[[], object], naming: str = "") -> int:
    """Return how many queries the work makes that contain this text."""
    with CaptureQueriesContext(connection) as made:
        work()
    return sum(naming in query["sql"] for query in made.captured_queries)


@pytest.fixture
def idle_network(served_network: factories.Network) -> factories.Network:
    """A network whose gateways run what they should, and whose programs are alive."""
    factories.alive()
    assert reconcile(served_network.group)
    return served_network


def test_the_dashboard_is_read_in_a_second_language_only_if_something_is_wrong(idle_network: factories.Network) -> None:
    def read() -> list[Any]:
        return list_conditions(timezone.now())

    assert read() == []
    assert count_queries(read, 'FROM "operations_jobrecord"') == 1
    GatewayState.objects.update(unreachable_since=timezone.now())
    assert read()
    assert count_queries(read, 'FROM "operations_jobrecord"') == 2


def test_a_scheduled_look_that_finds_nothing_stays_within_its_queries(idle_network: factories.Network) -> None:
    group = idle_network.group
    reconcile(group, cause="schedule")
    assert count_queries(lambda: reconcile(group, cause="schedule")) <= 36
    assert count_queries(lambda: reconcile(group, cause="schedule"), 'UPDATE "deployments_gatewaystate"') == 1


def test_why_a_gateway_is_away_stays_when_nothing_has_to_be_deployed(idle_network: factories.Network) -> None:
    away, there = idle_network.gateways
    GatewayState.objects.update(error="asked in vain")
    GatewayState.objects.filter(gateway=away).update(unreachable_since=timezone.now())
    seen = GatewayState.objects.get(gateway=away).snapshot
    record_newer_snapshots(desired_state_cache.get_current(idle_network.group))
    after = {state.gateway_id: state for state in GatewayState.objects.all()}
    assert (after[away.pk].error, after[there.pk].error) == ("asked in vain", "")
    assert seen not in (after[away.pk].snapshot, after[there.pk].snapshot)


def test_health_readings_of_many_gateways_take_as_many_queries_as_one(idle_network: factories.Network) -> None:
    collection.read_all_gateways()
    gateways = len(idle_network.gateways)
    assert count_queries(collection.read_all_gateways) <= 12
    assert HealthReading.objects.count() == 2 * gateways

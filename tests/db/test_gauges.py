"""Gauges of gateways' dynamic sets on their pages."""

from typing import Any

from apps.deployments.services import reconcile
from apps.gateways.group_settings import change_limits
from apps.gateways.services import collect_counters
from apps.network.models import Gauge
from tests import factories

LIMITS = {"member_rate": 50, "member_burst": 100, "member_open": 0, "source_rate": 0, "source_burst": 100, "source_open": 200}


def test_gauges_come_with_the_counters_and_go_with_their_limit(served_network: factories.Network) -> None:
    gateway = served_network.gateways[0]
    given: dict[str, Any] = LIMITS | {"open_sampled": False, "mail_rate": 0, "refuses": True}
    change_limits(group=served_network.group, version=0, exempt=[], by=served_network.admin, **given)
    reconcile(served_network.group)
    assert collect_counters(gateway)
    names = list(Gauge.objects.filter(gateway=gateway).values_list("name", flat=True))
    assert names == ["member_rate4_50_100", "member_rate6_50_100", "source_open4_200", "source_open6_200"]
    change_limits(group=served_network.group, version=1, exempt=[], by=served_network.admin, **given | {"member_rate": 0})
    reconcile(served_network.group)
    assert collect_counters(gateway)
    assert Gauge.objects.filter(gateway=gateway).count() == 2

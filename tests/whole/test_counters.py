"""Kernel counters that reach the database: hits of bans, octets of members."""

from subprocess import Popen

import pytest

from apps.bans.models import Ban, BanHits, BanList
from apps.deployments.models import GatewayState
from apps.deployments.services import reconcile
from apps.gateways.services import collect_counters
from apps.nat.services import add_forward
from apps.traffic.selectors import get_all_time_usage
from lab.lab import Lab
from lab.measure.runs import run_udp_stream
from tests import factories
from tests.whole.system import INTERNET, must_reach, reaches

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

IP_AND_UDP_HEADERS = 28


def test_a_banned_host_is_dropped_and_the_hit_is_counted(lab: Lab, network: factories.Network) -> None:
    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, by=network.admin)
    Ban.objects.create(list=BanList.objects.create(name="Own"), prefix="203.0.113.64/26", comment="scans")
    reconcile(network.group)
    must_reach(lab, "internet", "198.51.100.7", 8443)
    assert reaches(lab, "internet", "198.51.100.7", 8443, source="203.0.113.66") is None
    assert all(collect_counters(gateway) for gateway in network.gateways)
    hits = BanHits.objects.get(gateway__name="nat-1")
    assert (str(hits.prefix), hits.packets > 0, hits.last_hit is not None) == ("203.0.113.64/26", True, True)


def test_a_members_octets_are_counted_exactly(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    sent, received = run_udp_stream(lab, "m2", "internet", INTERNET, 7003, rate=500, seconds=1, size=200)
    assert received.missing == 0
    for gateway in network.gateways:
        collect_counters(gateway)
        collect_counters(gateway)
    total = get_all_time_usage(network.residents["m2"].member)
    assert total.up == sent.sent * (200 + IP_AND_UDP_HEADERS)
    assert total.down == 0


def test_a_gateway_that_is_away_is_noted_and_the_other_is_read(
    lab: Lab, network: factories.Network, processes: dict[str, Popen[str]]
) -> None:
    reconcile(network.group)
    processes["nat-1"].kill()
    nat_1, nat_2 = network.gateways
    assert collect_counters(nat_1) is False
    assert collect_counters(nat_2) is True
    assert GatewayState.objects.get(gateway=nat_1).unreachable_since is not None
    assert GatewayState.objects.get(gateway=nat_2).unreachable_since is None

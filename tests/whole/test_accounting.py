"""Compares the database with what the gateways forwarded, to the octet, through deploys, kills and changes of holder.

Uses UDP datagrams of one segment: no offload joins or splits them, so each packet is counted as it was sent.
"""

from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen

import pytest
from django.db import connection

from apps.bans.models import Ban, BanList
from apps.deployments.models import Rollout
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from apps.gateways.services import collect_counters
from apps.traffic.models import Coverage
from apps.traffic.selectors import get_all_time_usage
from lab.lab import Lab
from lab.measure.runs import run_udp_stream
from tests import factories
from tests.whole.system import GATEWAYS, INTERNET, agent, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

INTERNET6 = "2001:db8:cafe::10"
SIZE, IPV4, IPV6 = 200, 28, 48  # octets of a datagram, and of its headers


def send(lab: Lab, host: str, port: int) -> int:
    """Send from m1; return the octets of its IP packets, all of which arrived."""
    sent, received = run_udp_stream(lab, "m1", "internet", host, port, rate=300, seconds=1, size=SIZE)
    assert (received.missing, received.duplicate) == (0, 0)
    return sent.sent * (SIZE + (IPV6 if ":" in host else IPV4))


def deploy(network: factories.Network) -> None:
    rollout = reconcile(network.group)
    assert rollout is not None
    assert rollout.state == Rollout.State.CONFIRMED


def end(holding_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE network_holding SET valid = tstzrange(lower(valid), clock_timestamp()) WHERE id = %s", [holding_id])


def up(network: factories.Network, resident: str) -> int:
    return get_all_time_usage(network.residents[resident].member).up


def test_what_is_deployed_handed_over_taken_away_and_killed_costs_nobody_an_octet(
    lab: Lab, network: factories.Network, processes: dict[str, Popen[str]], sockets: Path
) -> None:
    first, second = network.residents["m1"], network.residents["m2"]
    deploy(network)
    expected = send(lab, INTERNET, 7001)
    assert all(map(collect_counters, network.gateways))
    assert (up(network, "m1"), up(network, "m2")) == (expected, 0)

    # rules are rewritten, without a reading in between
    expected += send(lab, INTERNET, 7002)
    Ban.objects.create(list=BanList.objects.create(name="Own"), prefix="203.0.113.64/26", comment="scans")
    deploy(network)
    expected += send(lab, INTERNET, 7003)
    assert all(map(collect_counters, network.gateways))
    assert all(map(collect_counters, network.gateways))
    assert up(network, "m1") == expected

    # the prefix changes its holder without a reading in between, and the agents are killed before the next reading
    expected += send(lab, INTERNET6, 7004)
    end(first.prefix.pk)
    factories.make_holding(second.member, network.prefixes, str(first.prefix.prefix))
    deploy(network)
    others = send(lab, INTERNET6, 7005)
    with ExitStack() as stack:
        for name in GATEWAYS:
            processes[name].kill()
            processes[name].wait()
            stack.enter_context(agent(lab, name, sockets))
        agent_channel.close_all_channels()
        wait_for(lambda: all(collect_counters(each) for each in network.gateways))
        assert (up(network, "m1"), up(network, "m2")) == (expected, others)

        # a member who leaves is counted to the end, and a second reading does not count twice
        others += send(lab, INTERNET6, 7006)
        type(second.member).objects.filter(pk=second.member.pk).update(state="left")
        deploy(network)
        assert all(map(collect_counters, network.gateways))
        assert all(map(collect_counters, network.gateways))
        assert (up(network, "m1"), up(network, "m2")) == (expected, others)
        assert Coverage.objects.count() == len(GATEWAYS)
        agent_channel.close_all_channels()

"""Faults of a gateway's machine, really caused: its health names each one, and nothing beside it, and is well when it is mended."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.utils import timezone

from apps.deployments.services import reconcile
from apps.desk.needs.collection import list_attention_items
from apps.gateways.health.collection import read_all_gateways
from apps.gateways.health.models import HealthReading
from apps.gateways.health.selectors import list_findings
from apps.network.models import Gateway
from lab.lab import Lab
from tests import factories
from tests.whole.system import wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

FAR4, FAR6 = "203.0.113.10", "2001:db8:cafe::10"
OF_THE_MACHINE = frozenset({"busy_core", "backlog_drops", "memory_low", "disk_full", "hot", "clock_offset"})
"""Rules about what the gateways of a lab share with everything else on this machine: what they find may come from other programs."""
FULL_QUEUE = """
import socket
server = socket.create_server(("127.0.0.1", 0), backlog=0)
for _ in range(60):
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(server.getsockname())
    globals().setdefault("kept", []).append(client)
"""
FLOOD = """
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.bind((sys.argv[1], 0))
for _ in range(2000):
    sender.sendto(b"x", (sys.argv[2], 9))
"""


@pytest.fixture
def read_network(lab: Lab, network: factories.Network) -> factories.Network:
    """The lab's network, deployed, and read once."""
    reconcile(network.group)
    read_all_gateways()
    return network


def run(lab: Lab, node: str, *commands: str) -> None:
    for command in commands:
        lab.run(node, command.split())


def find_rules() -> dict[str, set[str]]:
    """Return the rules with a finding now, by gateway, without those that look at the whole machine."""
    found: dict[str, set[str]] = {each.name: set() for each in Gateway.objects.all()}
    for finding in list_findings(timezone.now()):
        if finding.rule not in OF_THE_MACHINE:
            found[finding.gateway.name].add(finding.rule)
    return found


def read_until(done: Callable[[], bool], meanwhile: Callable[[], object]) -> None:
    """Read again and again, with the fault's traffic in between, until it is so."""

    def is_done() -> bool:
        meanwhile()
        read_all_gateways()
        return done()

    wait_for(is_done)


def wait_without_traffic() -> None:
    """The fault is there without any traffic."""


@contextmanager
def expect(rule: str, meanwhile: Callable[[], object] = wait_without_traffic, gateway: str = "nat-1") -> Iterator[None]:
    """Expect that the gateway has exactly this finding, and the other one none; after the block, which mends the fault, that it is over."""
    read_until(lambda: any(find_rules().values()), meanwhile)
    assert find_rules() == {"nat-1": set(), "nat-2": set()} | {gateway: {rule}}
    health = [each for each in list_attention_items(timezone.now()) if each.key.startswith("health-")]
    needs = {each.key.rpartition("-")[2]: each for each in health}
    assert needs.keys() - OF_THE_MACHINE == {rule}
    assert gateway in needs[rule].what and needs[rule].evidence
    yield
    read_until(lambda: not any(find_rules().values()), wait_without_traffic)


def test_a_healthy_gateway_with_traffic_has_no_finding(lab: Lab, read_network: factories.Network) -> None:
    def ping() -> None:
        for target in (FAR4, FAR6):
            lab.run("m1", ["ping", "-q", "-i", "0.002", "-c", "50", target])

    read_until(lambda: HealthReading.objects.exclude(measures={}).count() >= 6, ping)
    assert find_rules() == {"nat-1": set(), "nat-2": set()}


def test_a_pulled_cable_towards_the_internet(lab: Lab, read_network: factories.Network) -> None:
    run(lab, "uplink", "ip link set nat-1.wan0 down")
    with expect("link_down"):
        run(lab, "uplink", "ip link set nat-1.wan0 up")


def test_a_pulled_cable_between_the_gateways(lab: Lab, read_network: factories.Network) -> None:
    run(lab, "nat-1", "ip link set sync0 down")
    read_until(lambda: all(find_rules().values()), wait_without_traffic)
    assert find_rules() == {"nat-1": {"link_down"}, "nat-2": {"link_down"}}
    run(lab, "nat-1", "ip link set sync0 up")
    read_until(lambda: not any(find_rules().values()), wait_without_traffic)


def test_a_lost_default_route(lab: Lab, read_network: factories.Network) -> None:
    run(lab, "nat-1", "ip route delete default")
    with expect("no_route"):
        run(lab, "nat-1", "ip route add default via 192.0.2.1")


def test_a_lost_default_route_of_ipv6(lab: Lab, read_network: factories.Network) -> None:
    run(lab, "nat-1", "ip -6 route delete default")
    with expect("no_route"):
        run(lab, "nat-1", "ip -6 route add default via 2001:db8:fe::1")


@pytest.mark.parametrize("name", ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"])
def test_forwarding_that_somebody_switched_off(lab: Lab, read_network: factories.Network, name: str) -> None:
    run(lab, "nat-1", f"sysctl -qw {name}=0")
    with expect("not_forwarding"):
        run(lab, "nat-1", f"sysctl -qw {name}=1")


@pytest.mark.parametrize(("target", "gateway"), [(FAR4, "nat-1"), (FAR6, "nat-2")])
def test_packets_that_run_in_circles(lab: Lab, read_network: factories.Network, target: str, gateway: str) -> None:
    flood = ["ping", "-q", "-i", "0.002", "-c", "200", "-W", "1", "-t", "1", target]
    with expect("routing_loop", lambda: lab.run("m1", flood, check=False), gateway):
        pass


def test_members_packets_without_a_public_address(lab: Lab, read_network: factories.Network) -> None:
    run(lab, "nat-1", "nft flush map inet netzwart snat4")
    with expect("untranslated", lambda: lab.run("m1", ["ping", "-q", "-i", "0.002", "-c", "100", "-W", "1", FAR4], check=False)):
        pass


def test_a_member_with_forged_sources(lab: Lab, read_network: factories.Network) -> None:
    run(lab, "m1", "ip addr add 10.31.255.77/32 dev eth0")
    with expect("spoofed_sources", lambda: lab.run("m1", [sys.executable, "-c", FLOOD, "10.31.255.77", FAR4])):
        pass


def test_a_service_of_the_gateway_that_accepts_nothing(lab: Lab, read_network: factories.Network) -> None:
    run(lab, "nat-1", "sysctl -qw net.ipv4.tcp_syncookies=1")
    with expect("listen_overflows", lambda: lab.run("nat-1", [sys.executable, "-c", FULL_QUEUE])):
        pass

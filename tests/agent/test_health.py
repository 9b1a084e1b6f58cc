"""Health of the machine: what each gateway tells of its cores, links, counters and levels."""

import subprocess
import time

from firewall.health import HealthCounters, KernelCounter, LinkCounters, ReadHealth
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import AnyGateway, OnKernel, Served, clock
from tests.agent.requests import deploy, runs
from tests.agent.rulesets import network, text_of, whole
from tests.agent.test_machine import run_ip


def read(gateway: AnyGateway) -> HealthCounters:
    answer = gateway.ask(ReadHealth())
    assert isinstance(answer, HealthCounters), answer
    return answer


def find_link(gateway: AnyGateway, name: str) -> LinkCounters:
    return next(each for each in read(gateway).links if each.name == name)


def test_every_gateway_tells_its_health_and_changes_nothing(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    first, second = read(gateway), read(gateway)
    assert abs(first.clock / 1000 - time.time()) < 60
    assert first.boot == second.boot and first.uptime <= second.uptime
    assert runs(gateway) == text_of(network(3))


@restrict_to_gateways("in memory", "served")
def test_a_gateway_in_memory_has_no_machine(gateway: AnyGateway) -> None:
    found = read(gateway)
    assert (found.cores, found.links, dict(found.counters)) == ((), (), {})


@restrict_to_gateways("kernel", "served on the kernel")
def test_the_kernel_tells_its_cores_counters_and_levels(gateway: OnKernel | Served) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    found = read(gateway)
    assert found.cores and all(0 <= core.softirq <= core.busy <= core.total for core in found.cores)
    assert set(found.counters) == set(KernelCounter)
    assert {"leaked", "spoofed", "unmapped"} <= set(found.ruleset)
    assert 0 < found.levels.memory_available <= found.levels.memory
    assert 0 < found.levels.disk_free <= found.levels.disk
    assert found.levels.most_connections > 0


@restrict_to_gateways("kernel", "served on the kernel")
def test_links_are_counted_and_a_pulled_cable_is_seen(gateway: OnKernel | Served) -> None:
    run_ip(
        gateway,
        "link add wan0 type veth peer name far0",
        "addr add 192.0.2.2/24 dev wan0",
        "link set wan0 up",
        "link set far0 up",
        "neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev wan0",
    )
    before = find_link(gateway, "wan0")
    assert before.is_up and before.speed == 10_000
    ping = ["ping", "-c", "1", "-W", "1", "192.0.2.9"]
    if isinstance(gateway, Served):
        subprocess.run(["ip", "netns", "exec", gateway.space, *ping], check=False, stdout=subprocess.DEVNULL)
    else:
        gateway.space.do(subprocess.run, ping, check=False, stdout=subprocess.DEVNULL)
    assert find_link(gateway, "wan0").sent > before.sent
    run_ip(gateway, "link set far0 down")
    assert not find_link(gateway, "wan0").is_up


@restrict_to_gateways("kernel", "served on the kernel")
def test_it_says_whether_the_internet_can_be_reached_by_route(gateway: OnKernel | Served) -> None:
    run_ip(gateway, "link add wan0 type veth peer name far0", "addr add 192.0.2.2/24 dev wan0", "link set wan0 up", "link set far0 up")
    assert (read(gateway).forwarding.has_route4, read(gateway).forwarding.has_route6) == (False, False)
    run_ip(gateway, "route add default via 192.0.2.1")
    assert (read(gateway).forwarding.has_route4, read(gateway).forwarding.has_route6) == (True, False)
    run_ip(gateway, "route replace blackhole default")
    assert not read(gateway).forwarding.has_route4

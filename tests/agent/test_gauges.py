"""Sets that packets fill: their elements are no drift, and they hold no more than their size."""

import dataclasses
import socket
import subprocess

from firewall import wire
from firewall.policy import ConnectionLimits, GatewayGroupSettings
from firewall.ruleset import Chain, Field, Hook, HookPriority, Per, RateOver, Rule, Ruleset, Set, Type, Verdict, VerdictAction
from tests.agent.conftest import Bench, restrict_to_gateways
from tests.agent.gateways import AnyGateway, OnKernel, Served, clock
from tests.agent.requests import deploy, runs
from tests.agent.rulesets import GATEWAY, network, step, text_of, whole
from tests.agent.test_table import commit, on_kernel, read_ruleset

LIMITS = GatewayGroupSettings(limits=ConnectionLimits(member_rate=50, member_open=500))
LIMITED = network(3, gateway=dataclasses.replace(GATEWAY, settings=LIMITS))
OTHER = network(
    3, gateway=dataclasses.replace(GATEWAY, settings=GatewayGroupSettings(limits=ConnectionLimits(member_rate=60, member_open=500)))
)
TARGETS = Set("targets", (Type.IPV4,), 256, dynamic=True, lives=60)


def drift(gateway: AnyGateway) -> wire.Reply:
    return gateway.ask(wire.Drift(clock()))


def test_limits_come_change_and_go_as_wanted(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    deploy(gateway, step(network(3), LIMITED, token=2, now=clock()))
    deploy(gateway, step(LIMITED, OTHER, token=3, now=clock()))
    assert drift(gateway) == wire.Drifted(text_of(OTHER), (), {})
    gateway.restart()
    assert runs(gateway) == text_of(OTHER)
    deploy(gateway, step(OTHER, network(3), token=4, now=clock()))
    assert drift(gateway) == wire.Drifted(text_of(network(3)), (), {})


@restrict_to_gateways("kernel", "served on the kernel")
def test_elements_that_packets_added_are_not_drift_and_are_kept(gateway: OnKernel | Served) -> None:
    deploy(gateway, whole(LIMITED, token=1, now=clock()))
    gateway.nft("add element inet netzwart member_rate4_50_100 { 10.1.0.1 limit rate over 50/second burst 100 packets }")
    assert drift(gateway) == wire.Drifted(text_of(LIMITED), (), {})
    assert runs(gateway) == text_of(LIMITED)
    more = network(4, gateway=dataclasses.replace(GATEWAY, settings=LIMITS))
    deploy(gateway, step(LIMITED, more, token=2, now=clock()))
    answer = gateway.ask(wire.Gauges())
    assert isinstance(answer, wire.GaugesAre), answer
    assert answer.sets["member_rate4_50_100"] == (1, 1 << 16)
    assert answer.sets["member_open4_500"] == (0, 1 << 16)


def test_elements_for_a_set_that_packets_fill_are_refused(gateway: AnyGateway) -> None:
    forged = dataclasses.replace(LIMITED, elements={**LIMITED.elements, "member_rate4_50_100": LIMITED.elements["up4"]})
    answer = gateway.ask(whole(forged, token=1, now=clock()))
    assert isinstance(answer, wire.Refused) and "only packets may add elements" in answer.text


@on_kernel
def test_one_key_takes_one_place_and_many_keys_take_no_more_than_there_are(bench: Bench) -> None:
    over = Rule((RateOver((Field.IP_DADDR,), "targets", 10, Per.SECOND, 20), Verdict(VerdictAction.DROP)))
    wanted = Ruleset(
        {"output": Chain("output", (over,), Hook("filter", "output", HookPriority.FILTER))}, {"targets": TARGETS}, {"targets": {}}
    )
    commit(bench, Ruleset(), wanted)
    assert read_ruleset(bench, wanted) == wanted

    def hammer(*addresses: str) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for address in addresses:
                try:
                    sender.sendto(b"x", (address, 9))
                except PermissionError:  # dropped in output
                    continue

    bench.do(subprocess.run, ["ip", "link", "set", "lo", "up"], check=True)
    bench.do(hammer, *["127.0.0.1"] * 5000)
    assert bench.do(bench.table.count_set_elements, "targets") == 1
    bench.do(hammer, *(f"127.{n // 250}.{n % 250}.1" for n in range(5000)))
    assert bench.do(bench.table.count_set_elements, "targets") == 256
    assert read_ruleset(bench, wanted) == wanted
    assert bench.do(bench.table.count_set_elements, "nothing") == 0

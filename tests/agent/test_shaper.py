"""The queues of an uplink: set with the ruleset and taken back with it, restored at boot and watched.

A kernel without CAKE is told, and delays nothing.
"""

import dataclasses
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from firewall import wire
from firewall.policy import GatewayGroupSettings, Interfaces, Shaping
from firewall.profile import SysctlDifference
from firewall.ruleset import Ruleset
from firewall.shaper import build_shaper_settings
from gateway.memory_table import FakeKernel
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import InProcess, OnKernel, clock
from tests.agent.requests import deploy, runs, send_refused, welcome
from tests.agent.rulesets import GATEWAY, network, step, text_of, whole

BOTH, SLOWER = Shaping(20_000, 100_000), Shaping(10_000, 50_000)
SHAPED = dataclasses.replace(GATEWAY, interfaces=Interfaces("lan0", "wan0", "mgmt0", "sync0"))
PLAIN = network(2, gateway=SHAPED)
LACKING = (
    "the kernel has no CAKE (module sch_cake; Debian: in the package linux-image-amd64 or linux-image-arm64): "
    "boot one that has it, or switch the fair queues off"
)


def build_ruleset(shaping: Shaping | None, members: int = 2) -> Ruleset:
    return network(members, gateway=dataclasses.replace(SHAPED, settings=GatewayGroupSettings(shaping=shaping)))


@pytest.fixture
def local(tmp_path: Path) -> Iterator[InProcess]:
    gateway = InProcess(tmp_path)
    yield gateway
    gateway.close()


def drift(gateway: InProcess) -> wire.Drifted:
    answer = gateway.ask(wire.Drift(clock()))
    assert isinstance(answer, wire.Drifted), answer
    return answer


def why_unshaped(gateway: InProcess | OnKernel) -> str:
    answer = gateway.ask(wire.Gauges())
    assert isinstance(answer, wire.GaugesAre), answer
    return answer.unshaped


def settings_of(shaping: Shaping) -> dict[str, str]:
    return build_shaper_settings(build_ruleset(shaping).shaper)


def test_queues_are_set_come_back_unconfirmed_and_go_with_their_ruleset(local: InProcess) -> None:
    deploy(local, whole(PLAIN, token=1, now=clock()))
    answer = local.ask(step(PLAIN, build_ruleset(BOTH), token=2, now=clock()))
    assert isinstance(answer, wire.Applied) and answer.new_session
    assert local.table.queues == settings_of(BOTH)
    assert isinstance(local.ask(wire.Revert(2)), wire.Reverted)
    assert (local.table.queues, runs(local)) == ({}, text_of(PLAIN))
    deploy(local, step(PLAIN, build_ruleset(BOTH), token=3, now=clock()))
    assert isinstance(local.ask(step(build_ruleset(BOTH), build_ruleset(SLOWER), token=4, now=clock())), wire.Applied)
    assert local.table.queues == settings_of(SLOWER)
    local.restart()
    assert (local.table.queues, runs(local)) == (settings_of(BOTH), text_of(build_ruleset(BOTH)))
    deploy(local, step(build_ruleset(BOTH), PLAIN, token=5, now=clock()))
    assert local.table.queues == {} and drift(local) == wire.Drifted(text_of(PLAIN), (), {})


def test_queues_that_are_not_confirmed_in_time_are_taken_back(local: InProcess) -> None:
    assert isinstance(local.ask(whole(build_ruleset(BOTH), token=1, now=clock(), within=30)), wire.Applied)
    local.hands.passed += 31
    assert welcome(local).trial == "" and local.table.queues == {}


def test_a_change_of_members_leaves_the_queues_alone(local: InProcess) -> None:
    deploy(local, whole(build_ruleset(BOTH), token=1, now=clock()))
    local.table.unshapable = "not again"
    deploy(local, step(build_ruleset(BOTH), build_ruleset(BOTH, 3), token=2, now=clock()))
    assert runs(local) == text_of(build_ruleset(BOTH, 3))


def test_a_plan_says_what_it_would_set_and_sets_nothing(local: InProcess) -> None:
    answer = local.ask(wire.Plan(clock(), build_ruleset(BOTH)))
    assert isinstance(answer, wire.Planned) and answer.settings == 5
    assert "# arriving at wan0: to netzwart-down" in answer.text.splitlines()
    assert local.table.queues == {}


def test_a_queue_that_was_changed_by_hand_is_drift_and_put_right_by_the_whole_ruleset(local: InProcess) -> None:
    wanted = build_ruleset(BOTH)
    deploy(local, whole(wanted, token=1, now=clock()))
    before = local.table.queues
    local.table.queues = before | {"queue of wan0": "fq_codel"}
    assert welcome(local).digest not in ("", text_of(wanted))
    told = drift(local)
    assert (told.rules, dict(told.elements)) == ((), {})
    assert told.sysctls == (SysctlDifference("queue of wan0", before["queue of wan0"], "fq_codel"),)
    assert send_refused(local, step(wanted, build_ruleset(BOTH, 3), token=2, now=clock())).reason == "base"
    deploy(local, whole(wanted, token=3, now=clock()))
    assert local.table.queues == before and drift(local) == wire.Drifted(text_of(wanted), (), {})


def test_a_kernel_without_cake_gets_everything_else_and_says_what_it_lacks_until_it_has_it(local: InProcess) -> None:
    deploy(local, whole(PLAIN, token=1, now=clock()))
    local.table.unshapable = LACKING
    wanted, grown = build_ruleset(BOTH), build_ruleset(BOTH, 3)
    planned = local.ask(wire.Plan(clock(), wanted))
    assert isinstance(planned, wire.Planned) and planned.text.splitlines()[0] == f"# without fair queues: {LACKING}"
    deploy(local, step(PLAIN, wanted, token=2, now=clock()))
    assert (why_unshaped(local), local.table.queues, runs(local)) == (LACKING, {}, text_of(wanted))
    assert drift(local) == wire.Drifted(text_of(wanted), (), {})
    deploy(local, step(wanted, grown, token=3, now=clock()))
    local.restart()
    assert (why_unshaped(local), local.table.queues, runs(local)) == (LACKING, {}, text_of(grown))
    local.table.unshapable = ""
    local.agent.queues.restore()
    assert (why_unshaped(local), local.table.queues) == ("", settings_of(BOTH))
    assert drift(local) == wire.Drifted(text_of(grown), (), {})


def test_queues_that_could_not_be_set_are_forgotten_when_they_are_switched_off_or_taken_back(local: InProcess) -> None:
    deploy(local, whole(PLAIN, token=1, now=clock()))
    local.table.unshapable = LACKING
    assert isinstance(local.ask(step(PLAIN, build_ruleset(BOTH), token=2, now=clock())), wire.Applied)
    assert why_unshaped(local) == LACKING
    assert isinstance(local.ask(wire.Revert(2)), wire.Reverted)
    assert why_unshaped(local) == "" and not local.agent.queues.are_missing
    deploy(local, step(PLAIN, build_ruleset(BOTH), token=3, now=clock()))
    deploy(local, step(build_ruleset(BOTH), PLAIN, token=4, now=clock()))
    assert why_unshaped(local) == "" and runs(local) == text_of(PLAIN)


class StubbornKernel(FakeKernel):
    """Accepts queues and holds others."""

    def read_shaper(self, interface: str) -> dict[str, str]:
        return super().read_shaper(interface) | {f"queue of {interface}": "fq_codel"}


def test_a_kernel_that_holds_other_queues_than_were_set_is_told(local: InProcess) -> None:
    local.table = StubbornKernel()
    local.restart()
    deploy(local, whole(build_ruleset(BOTH), token=1, now=clock()))
    assert why_unshaped(local).startswith("queue of wan0: the kernel has “fq_codel” instead of “cake bandwidth")


def test_queues_go_back_if_the_transaction_is_refused(local: InProcess) -> None:
    deploy(local, whole(build_ruleset(BOTH), token=1, now=clock()))
    slower = build_ruleset(SLOWER)
    sets = {name: each for name, each in slower.sets.items() if name != "up4"}
    loose = dataclasses.replace(slower, sets=sets, elements={name: slower.elements[name] for name in sets})  # chains look up what is gone
    refused = send_refused(local, step(build_ruleset(BOTH), loose, token=2, now=clock()))
    assert (refused.reason, runs(local)) == ("nft", text_of(build_ruleset(BOTH)))
    assert local.table.queues == settings_of(BOTH)


def test_at_boot_the_rules_run_though_the_uplink_is_not_there_and_its_queues_follow(local: InProcess) -> None:
    deploy(local, whole(build_ruleset(BOTH), token=1, now=clock()))
    interfaces, local.table.interfaces, local.table.queues = local.table.interfaces, [], {}
    local.restart()
    assert local.brought.sentence.endswith("not the queues of the uplink: there is no interface wan0 whose queue could be set")
    assert local.agent.queues.are_missing and drift(local).sysctls == ()
    assert why_unshaped(local) == "there is no interface wan0 whose queue could be set"
    local.agent.queues.restore()
    assert local.table.queues == {}
    local.table.interfaces = interfaces
    local.agent.queues.restore()
    assert local.table.queues == settings_of(BOTH)
    assert drift(local) == wire.Drifted(text_of(build_ruleset(BOTH)), (), {})


@pytest.mark.parametrize("gone_for_a_while", [False, True])
def test_an_uplink_that_is_made_anew_gets_its_queues_again_and_was_not_changed_by_hand(local: InProcess, *, gone_for_a_while: bool) -> None:
    wanted = build_ruleset(BOTH)
    deploy(local, whole(wanted, token=1, now=clock()))
    interfaces, local.table.queues, local.table.indexes = local.table.interfaces, {}, {"wan0": 99}
    if gone_for_a_while:
        local.table.interfaces = []
        assert drift(local) == wire.Drifted(text_of(wanted), (), {})
        local.agent.queues.restore()
        assert why_unshaped(local) == "there is no interface wan0 whose queue could be set"
        local.table.interfaces = interfaces
    assert (welcome(local).digest, drift(local)) == (text_of(wanted), wire.Drifted(text_of(wanted), (), {}))
    deploy(local, step(wanted, build_ruleset(BOTH, 3), token=2, now=clock()))
    local.agent.queues.restore()
    assert (why_unshaped(local), local.table.queues) == ("", settings_of(BOTH))
    assert not local.agent.queues.are_missing
    local.table.queues = {"queue of wan0": "fq_codel"}
    assert drift(local).sysctls


# --- The kernel of this machine


def has_cake(gateway: OnKernel) -> bool:
    """Ask tc, in a network namespace, whether this kernel has CAKE."""
    commands = (("ip", "link", "add", "try0", "type", "dummy"), ("tc", "qdisc", "add", "dev", "try0", "root", "cake"))
    return gateway.space.do(lambda: [subprocess.run(each, check=False, capture_output=True).returncode for each in commands])[-1] == 0


def list_queues(gateway: OnKernel) -> str:
    return gateway.space.do(lambda: subprocess.run(["tc", "qdisc", "show"], check=True, capture_output=True, text=True).stdout)


@pytest.mark.kernel
@restrict_to_gateways("kernel")
def test_this_kernel_gets_the_queues_or_says_what_it_lacks(gateway: OnKernel) -> None:
    gateway.space.do(lambda: subprocess.run(["ip", "link", "add", "wan0", "type", "veth", "peer", "name", "far"], check=True))
    deploy(gateway, whole(PLAIN, token=1, now=clock()))
    if has_cake(gateway):
        deploy(gateway, step(PLAIN, build_ruleset(BOTH), token=2, now=clock()))
        assert gateway.space.do(gateway.table.read_shaper, "wan0") == settings_of(BOTH)
        remake_uplink(gateway)
        assert gateway.space.do(gateway.table.read_shaper, "wan0") != settings_of(BOTH)
        gateway.space.do(gateway.agent.queues.restore)
        assert gateway.space.do(gateway.table.read_shaper, "wan0") == settings_of(BOTH)
        return
    before = list_queues(gateway)
    planned = gateway.ask(wire.Plan(clock(), build_ruleset(BOTH)))
    assert isinstance(planned, wire.Planned) and planned.text.startswith(f"# without fair queues: {LACKING}\n")
    assert list_queues(gateway) == before
    deploy(gateway, step(PLAIN, build_ruleset(BOTH), token=2, now=clock()))
    assert why_unshaped(gateway) == LACKING and runs(gateway) == text_of(build_ruleset(BOTH))
    deploy(gateway, step(build_ruleset(BOTH), PLAIN, token=3, now=clock()))
    assert list_queues(gateway) == before and why_unshaped(gateway) == ""


@pytest.mark.kernel
@restrict_to_gateways("kernel")
def test_an_uplink_that_is_made_anew_is_seen(gateway: OnKernel) -> None:
    remake_uplink(gateway)
    deploy(gateway, whole(build_ruleset(BOTH), token=1, now=clock()))
    gateway.agent._held.unshaped = ""  # as if this kernel had CAKE
    assert not gateway.space.do(lambda: gateway.agent.queues.are_missing)
    remake_uplink(gateway)
    assert gateway.space.do(lambda: gateway.agent.queues.are_missing)


def remake_uplink(gateway: OnKernel) -> None:
    for arguments in ("delete wan0", "add wan0 type veth peer name far"):
        gateway.space.do(lambda given: subprocess.run(["ip", "link", *given.split()], check=False, capture_output=True), arguments)


@pytest.mark.kernel
@restrict_to_gateways("kernel")
def test_an_uplink_that_is_not_there_is_named(gateway: OnKernel) -> None:
    deploy(gateway, whole(build_ruleset(BOTH), token=1, now=clock()))
    assert why_unshaped(gateway) == "there is no interface wan0 whose queue could be set"

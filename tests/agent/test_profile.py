"""A gateway's profile: set and taken back with the ruleset, restored at boot, watched, and undone when no ruleset asks for it."""

import dataclasses
import json
from pathlib import Path

from firewall import wire
from firewall.diff import diff
from firewall.policy import GatewayGroupSettings, Profile
from firewall.profile import NAMES, SysctlDifference, build_sysctls
from firewall.ruleset import EMPTY, Ruleset
from gateway.memory_table import UNTUNED, FakeKernel
from tests.agent.conftest import Bench, restrict_to_gateways
from tests.agent.gateways import AnyGateway, InProcess, OnKernel, clock
from tests.agent.requests import deploy, runs, send_refused, welcome
from tests.agent.rulesets import GATEWAY, network, step, text_of, whole

LOOSE, ESTABLISHED = "net.netfilter.nf_conntrack_tcp_loose", "net.netfilter.nf_conntrack_tcp_timeout_established"
MAX, BUCKETS, FORWARD = "net.netfilter.nf_conntrack_max", "net.netfilter.nf_conntrack_buckets", "net.ipv4.ip_forward"
STRICT = Profile(connections=131_072, buckets=65_536, tcp_established=3_600, udp=45, tcp_loose=False, first_port=40_000)
PLAIN = network(2)
in_process = restrict_to_gateways("in memory", "kernel")
Local = InProcess | OnKernel


def build_ruleset(profile: Profile | None, members: int = 2) -> Ruleset:
    return network(members, gateway=dataclasses.replace(GATEWAY, settings=GatewayGroupSettings(profile=profile)))


def gauges(gateway: AnyGateway) -> wire.GaugesAre:
    answer = gateway.ask(wire.Gauges())
    assert isinstance(answer, wire.GaugesAre), answer
    return answer


def drift(gateway: AnyGateway) -> wire.Drifted:
    answer = gateway.ask(wire.Drift(clock()))
    assert isinstance(answer, wire.Drifted), answer
    return answer


def of_a_namespace(values: dict[str, str]) -> dict[str, str]:
    """Leave out the values that only the first network namespace may set."""
    return {name: value for name, value in values.items() if name not in (MAX, BUCKETS)}


def by_hand(gateway: Local, name: str, value: str) -> None:
    """Set a value as an administrator with a shell would."""
    if isinstance(gateway, OnKernel):
        gateway.space.do(Path("/proc/sys", name.replace(".", "/")).write_text, value)
    else:
        gateway.table.sysctls[name] = value


def test_values_are_set_come_back_unconfirmed_and_go_with_their_profile(gateway: AnyGateway) -> None:
    deploy(gateway, whole(PLAIN, token=1, now=clock()))
    found = gauges(gateway).held
    assert found.keys() == set(NAMES)
    first = step(PLAIN, build_ruleset(STRICT), token=2, now=clock())
    answer = gateway.ask(first)
    assert isinstance(answer, wire.Applied) and answer.new_session
    assert of_a_namespace(dict(gauges(gateway).held)) == of_a_namespace(build_sysctls(STRICT))
    back = gateway.ask(wire.Revert(2))
    assert isinstance(back, wire.Reverted) and back.digest == text_of(PLAIN)
    assert gauges(gateway).held == found
    deploy(gateway, dataclasses.replace(first, token=3))
    milder = build_ruleset(dataclasses.replace(STRICT, udp=60), members=3)
    assert isinstance(gateway.ask(step(build_ruleset(STRICT), milder, token=4, now=clock())), wire.Applied)
    assert gauges(gateway).held["net.netfilter.nf_conntrack_udp_timeout"] == "60"
    gateway.restart()
    assert of_a_namespace(dict(gauges(gateway).held)) == of_a_namespace(build_sysctls(STRICT))
    assert runs(gateway) == text_of(build_ruleset(STRICT))
    deploy(gateway, step(build_ruleset(STRICT), PLAIN, token=5, now=clock()))
    assert gauges(gateway).held == found
    assert drift(gateway) == wire.Drifted(text_of(PLAIN), (), {})


def test_a_plan_says_how_many_values_would_change_and_changes_none(gateway: AnyGateway) -> None:
    deploy(gateway, whole(PLAIN, token=1, now=clock()))
    found = gauges(gateway).held
    answer = gateway.ask(wire.Plan(clock(), build_ruleset(STRICT)))
    assert isinstance(answer, wire.Planned) and (answer.settings, answer.added, answer.chains) == (14, {}, ("srcnat",))
    assert f"# {ESTABLISHED} = 3600" in answer.text.splitlines()
    assert gauges(gateway).held == found


@in_process
def test_sysctls_of_a_first_trial_are_reverted_also_after_a_crash(gateway: Local) -> None:
    found = gauges(gateway).held
    assert isinstance(gateway.ask(whole(build_ruleset(STRICT), token=1, now=clock())), wire.Applied)
    assert gauges(gateway).held[ESTABLISHED] == "3600"
    gateway.restart()
    assert gauges(gateway).held == found
    assert isinstance(gateway.ask(whole(build_ruleset(STRICT), token=2, now=clock(), within=30)), wire.Applied)
    gateway.hands.passed += 31
    assert welcome(gateway).trial == ""
    assert gauges(gateway).held == found


@in_process
def test_at_boot_the_kernel_is_set_as_it_was_confirmed(gateway: Local) -> None:
    deploy(gateway, whole(build_ruleset(STRICT), token=1, now=clock()))
    for name, value in ((ESTABLISHED, "432000"), (LOOSE, "1"), (FORWARD, "0")):
        by_hand(gateway, name, value)
    gateway.restart()
    assert of_a_namespace(dict(gauges(gateway).held)) == of_a_namespace(build_sysctls(STRICT))


@in_process
def test_what_was_set_by_hand_is_told_and_put_right_by_the_whole_ruleset(gateway: Local) -> None:
    wanted = build_ruleset(STRICT)
    deploy(gateway, whole(wanted, token=1, now=clock()))
    by_hand(gateway, LOOSE, "1")
    assert welcome(gateway).digest not in ("", text_of(wanted))
    told = drift(gateway)
    assert (told.rules, dict(told.elements), told.sysctls) == ((), {}, (SysctlDifference(LOOSE, "0", "1"),))
    assert send_refused(gateway, step(wanted, build_ruleset(STRICT, 3), token=2, now=clock())).reason == "base"
    deploy(gateway, whole(wanted, token=3, now=clock()))
    assert gauges(gateway).held[LOOSE] == "0"
    assert drift(gateway) == wire.Drifted(text_of(wanted), (), {}) and welcome(gateway).digest == text_of(wanted)
    by_hand(gateway, LOOSE, "1")
    assert drift(gateway).sysctls
    by_hand(gateway, LOOSE, "0")
    assert drift(gateway) == wire.Drifted(text_of(wanted), (), {})


@restrict_to_gateways("kernel", "served on the kernel")
def test_what_a_namespace_may_not_set_is_told_with_the_reason_and_is_no_drift(gateway: AnyGateway) -> None:
    deploy(gateway, whole(build_ruleset(STRICT), token=1, now=clock()))
    told = gauges(gateway)
    assert told.untuned == {MAX: "EACCES", BUCKETS: "EACCES"}
    assert told.tracked >= 0 and int(told.held[MAX]) > 0
    assert drift(gateway) == wire.Drifted(text_of(build_ruleset(STRICT)), (), {})
    gateway.restart()
    assert gauges(gateway).untuned == told.untuned and runs(gateway) == text_of(build_ruleset(STRICT))


def test_a_value_that_the_kernel_refuses_stops_nothing_else(tmp_path: Path) -> None:
    gateway = InProcess(tmp_path)
    gateway.table.untunable = {LOOSE: "EROFS"}
    deploy(gateway, whole(build_ruleset(STRICT), token=1, now=clock()))
    told = gauges(gateway)
    assert (told.untuned, told.held[LOOSE], told.held[ESTABLISHED]) == ({LOOSE: "EROFS"}, "1", "3600")
    gateway.close()


def test_a_profile_that_cannot_be_is_refused_and_nothing_is_set(gateway: AnyGateway) -> None:
    found = gauges(gateway).held
    forged = dataclasses.replace(build_ruleset(STRICT), profile=dataclasses.replace(STRICT, tcp_established=1))
    answer = send_refused(gateway, whole(forged, token=1, now=clock()))
    assert (answer.reason, "profile.tcp_established" in answer.text) == ("malformed", True)
    assert gauges(gateway).held == found


def test_without_room_on_the_disk_for_the_way_back_nothing_is_set(tmp_path: Path) -> None:
    gateway = InProcess(tmp_path)
    (tmp_path / "sysctls.new").mkdir()
    assert send_refused(gateway, whole(build_ruleset(STRICT), token=1, now=clock())).reason == "state"
    assert gateway.table.sysctls == UNTUNED
    gateway.close()


def test_a_profile_on_trial_is_taken_back_though_the_disk_cannot_be_written(tmp_path: Path) -> None:
    gateway = InProcess(tmp_path)
    deploy(gateway, whole(PLAIN, token=1, now=clock()))
    assert isinstance(gateway.ask(step(PLAIN, build_ruleset(STRICT), token=2, now=clock())), wire.Applied)
    (tmp_path / "sysctls").unlink()
    (tmp_path / "sysctls").mkdir()  # cannot be unlinked
    assert isinstance(gateway.ask(wire.Revert(2)), wire.Reverted)
    assert runs(gateway) == text_of(PLAIN)
    gateway.close()


def test_a_damaged_note_of_what_was_there_before_names_no_other_file(tmp_path: Path) -> None:
    damaged = {"kernel.core_pattern": "|x", FORWARD: 1, ESTABLISHED: "31"}
    (tmp_path / "sysctls").write_text(json.dumps(damaged))
    gateway = InProcess(tmp_path)
    assert gateway.table.sysctls == UNTUNED | {ESTABLISHED: "31"}
    gateway.close()


def test_the_table_in_memory_has_the_names_that_the_kernel_has(bench: Bench) -> None:
    bench.do(bench.table.commit, diff(EMPTY, PLAIN), clock())
    assert bench.do(bench.table.read_sysctls).keys() == FakeKernel().read_sysctls().keys()

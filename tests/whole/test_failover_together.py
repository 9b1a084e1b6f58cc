"""Failover together with everything else: cuts, counters, rollouts, bans and limits hold whichever gateway carries the members."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from ipaddress import ip_interface, ip_network
from pathlib import Path
from subprocess import Popen
from time import monotonic

import pytest
from django.db import connection

from apps.deployments.models import GatewayState, Revision, Rollout, RolloutStep
from apps.deployments.services import reconcile
from apps.gateways.failover_settings import change_failover
from apps.gateways.roles.models import RoleSwitch
from apps.gateways.roles.observation import observe_group
from apps.gateways.roles.outcomes import describe_outcome
from apps.gateways.roles.switching import carry_out_switch, request_switch
from apps.gateways.services import collect_counters
from apps.nat.services import add_forward, map_address
from apps.network.services import release_holding
from apps.traffic.rates import services as rates
from apps.traffic.selectors import get_all_time_usage
from firewall.failover import InterfaceSide
from lab.failover import (
    ADDRESSES,
    CABLES,
    SYNC,
    VIRTUAL_ROUTER,
    FailoverPrograms,
    await_sole_carrier,
    await_standby,
    find_obstacle,
    list_carriers,
)
from lab.lab import Lab
from lab.measure.runs import run_udp_stream
from lab.measure.udp import UdpReceiverReport
from lab.topology import load_topology
from tests import factories
from tests.frozen_process import frozen
from tests.whole.failover_system import FIRST, OTHER, FailoverSystem, run_programs
from tests.whole.system import INTERNET, agent, conversation, descendants, must_reach, reaches, wait_for
from tests.whole.tcp_streams import Speaker, is_rate_limited
from tests.whole.withdrawn_flows import BANNED, ban, track_both, withdraw, withdrawn_conversations

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.xdist_group("whole"),
    pytest.mark.skipif(bool(find_obstacle()), reason=find_obstacle() or "can run"),
]
SIZE, HEADERS = 200, 28  # octets of a datagram, and of its IPv4 and UDP headers
RATE = 4000  # kbit/s
State = RolloutStep.State


@pytest.fixture(scope="module")
def bare_lab() -> Iterator[Lab]:
    with Lab.start(load_topology()) as running:
        yield running


@pytest.fixture(scope="module")
def programs(bare_lab: Lab) -> Iterator[dict[str, FailoverPrograms]]:
    with run_programs(bare_lab) as running:
        yield running


@pytest.fixture
def system(programs: dict[str, FailoverPrograms], lab: Lab, network: factories.Network, sockets: Path) -> FailoverSystem:
    """Both gateways at the first revision, the first one as the carrier."""
    made = FailoverSystem(lab, network, programs, sockets)
    assert made.deploy().state == Rollout.State.CONFIRMED
    made.begin_anew()
    return made


def list_steps(rollout: Rollout) -> list[str]:
    return list(rollout.steps.order_by("position").values_list("state", flat=True))


def list_revisions() -> list[int]:
    """Return the revisions that the gateways run, as the portal knows."""
    return list(GatewayState.objects.order_by("gateway__name").values_list("revision", flat=True))


def test_what_was_cut_while_the_carrier_could_not_be_reached_stays_cut_when_the_other_gateway_takes_over(system: FailoverSystem) -> None:
    """The carrier forwards on by its old rules, and its states bring the connections back to the gateway that had cut them."""
    with withdrawn_conversations(system, track_both) as go_on:
        system.hide_agent(FIRST)
        withdraw(system)
        assert track_both(system, OTHER) == (False, False)
        assert go_on() == (True, True, True)
        system.programs[FIRST].call("refresh")
        wait_for(lambda: track_both(system, OTHER) == (True, True))
        system.programs[FIRST].cut(*CABLES)
        system.await_takeover(OTHER)
        wait_for(lambda: track_both(system, OTHER) == (False, False))
        assert go_on() == (False, False, True)


def test_connections_of_a_former_holder_end_when_the_other_gateway_takes_over(system: FailoverSystem) -> None:
    """The carrier cannot be reached while an address goes to another member, who leaves with the same public address."""
    lab, address = system.lab, f"src={system.network.residents['m1'].holding.prefix.network_address}"
    with conversation(lab, "m1", INTERNET, 7, patience=3) as former, conversation(lab, "m3", INTERNET, 7) as other:
        wait_for(lambda: system.has_flow(OTHER, address))
        system.hide_agent(FIRST)
        hand_over(system, "m1", "m2")
        assert (former(), other()) == (True, True)
        system.programs[FIRST].call("refresh")
        wait_for(lambda: system.has_flow(OTHER, address))
        system.programs[FIRST].cut(*CABLES)
        system.await_takeover(OTHER)
        wait_for(lambda: not system.has_flow(OTHER, address))
        assert (former(), other()) == (False, True)
        with conversation(lab, "m1", INTERNET, 7) as present:
            wait_for(lambda: system.has_flow(OTHER, address))
            assert present()


def hand_over(system: FailoverSystem, source: str, target: str) -> None:
    """Give the address of one resident to another, while the first gateway cannot be reached."""
    network, resident = system.network, system.network.residents[source]
    release_holding(holding=resident.holding, by=network.admin)
    holding = factories.make_holding(network.residents[target].member, network.private, str(resident.holding.prefix))
    map_address(holding=holding, public=factories.PUBLIC, by=network.admin)
    rollout = system.deploy()
    assert dict(rollout.steps.values_list("gateway__name", "state")) == {FIRST: State.AWAY, OTHER: State.CONFIRMED}
    assert rollout.steps.get(gateway__name=OTHER).flows_cut  # the carrier may send their states again at any time


def test_what_was_cut_while_its_gateway_was_dead_stays_cut_when_that_gateway_carries_again(system: FailoverSystem) -> None:
    with withdrawn_conversations(system, track_both) as go_on:
        system.kill(FIRST)
        system.await_takeover(OTHER)
        withdraw(system)
        assert track_both(system, FIRST) == (True, True)
        system.revive(FIRST)
        wait_for(lambda: knows_both_when_sent(system))
        wait_for(lambda: track_both(system, OTHER) == (False, False))
        assert system.deploy("schedule").state == Rollout.State.CONFIRMED
        assert track_both(system, FIRST) == (False, False)
        system.move(OTHER, FIRST)
        assert go_on() == (False, False, True)


def knows_both_when_sent(system: FailoverSystem) -> bool:
    """Let the first gateway send its old states, and return whether the other one has both connections again."""
    system.send_states(FIRST)
    return track_both(system, OTHER) == (True, True)


def get_octets(system: FailoverSystem) -> tuple[int, int]:
    """Return what the database counts for the member at m2, whom no other test lets speak: octets sent and received."""
    total = get_all_time_usage(system.network.residents["m2"].member)
    return total.up, total.down


def collect(system: FailoverSystem) -> None:
    assert all(map(collect_counters, system.network.gateways))


def has_counted(system: FailoverSystem, sent: int) -> bool:
    """Collect, and return whether more than this has been counted that the member sent."""
    collect(system)
    return get_octets(system)[0] > sent


def count_octets(received: UdpReceiverReport) -> int:
    assert (received.received > 0, received.duplicate) == (True, 0)
    return received.received * (SIZE + HEADERS)


def stream(lab: Lab, sender: str, receiver: str, host: str, port: int, seconds: float) -> UdpReceiverReport:
    """Send datagrams for this long, and return what arrived: what the gateways forwarded, and nothing else.

    The receiver outlasts a takeover of any length: after it the host would answer in its stead, which counts too.
    """
    _sent, received = run_udp_stream(lab, sender, receiver, host, port, rate=200, seconds=seconds, size=SIZE, idle=seconds)
    return received


def choose_seconds(system: FailoverSystem) -> float:
    """Let both gateways carry in turn, and return how long a stream must last to outlast the same with room to spare."""
    begin = monotonic()
    system.move(FIRST, OTHER)
    system.move(OTHER, FIRST)
    return 5 + 3 * (monotonic() - begin)


def test_what_passes_before_during_and_after_switches_is_counted_once_to_the_octet(system: FailoverSystem) -> None:
    """Both directions through two planned switches, with readings between them, and one direction through a crash."""
    lab, network = system.lab, system.network
    holding, public = network.residents["m2"].holding, factories.PUBLIC
    add_forward(holding=holding, public=public, protocol="udp", public_port=7010, private_port=7010, by=network.admin)
    system.deploy()
    seconds = choose_seconds(system)
    with ThreadPoolExecutor(2) as pool:
        up = pool.submit(stream, lab, "m2", "internet", INTERNET, 7001, seconds)
        down = pool.submit(stream, lab, "internet", "m2", str(public), 7010, seconds)
        wait_for(lambda: has_counted(system, 0))
        system.move(FIRST, OTHER)
        collect(system)
        system.move(OTHER, FIRST)
        assert not (up.done() or down.done()), "the streams must outlast the switches"
        sent, got = count_octets(up.result()), count_octets(down.result())
    collect(system)
    collect(system)
    assert get_octets(system) == (sent, got)
    with ThreadPoolExecutor(1) as pool:
        crossing = pool.submit(stream, lab, "m2", "internet", INTERNET, 7002, seconds)
        wait_for(lambda: has_counted(system, sent))
        system.kill(FIRST)
        system.await_takeover(OTHER)
        assert collect_counters(network.gateways[1])
        across = crossing.result()
    system.revive(FIRST)
    collect(system)
    collect(system)
    assert across.missing > 0, "the crash must cost something"
    assert get_octets(system) == (sent + count_octets(across), got)


def reconcile_in_thread(system: FailoverSystem) -> Rollout | None:
    try:
        return reconcile(system.network.group)
    finally:
        connection.close()


@pytest.mark.parametrize("on_trial", [FIRST, OTHER])
def test_a_carrier_that_dies_during_a_trial_leaves_one_revision_on_both_gateways_and_members_served(
    system: FailoverSystem, processes: dict[str, Popen[str]], on_trial: str
) -> None:
    """The trial is on the carrier itself, or on the gateway that takes over meanwhile."""
    trial = RolloutStep.objects.filter(gateway__name=on_trial, state=State.PROBING)
    with conversation(system.lab, "m1", INTERNET, 7) as goes_on, ThreadPoolExecutor(1) as pool:
        wait_for(lambda: system.has_flow(OTHER, f"dst={INTERNET}"))
        ban("45.0.0.0/9")  # needs a new set and new rules, which only a new session may confirm
        with system.answer_no_new_session(on_trial):
            rollout = pool.submit(reconcile_in_thread, system)
            wait_for(trial.exists)
            system.programs[FIRST].cut(*CABLES)
            os.kill(processes[FIRST].pid, signal.SIGKILL)
            system.await_takeover(OTHER)
            assert goes_on()
        ended = rollout.result()
        assert ended
        assert ended.state == (Rollout.State.FAILED if on_trial == FIRST else Rollout.State.CONFIRMED)
        assert goes_on()
        with restarted_agent(system, FIRST):
            assert has_new_set(system, FIRST) == has_new_set(system, OTHER) == (on_trial == OTHER)
            assert len(set(list_revisions())) == 1
            reconcile(system.network.group, force=True)
            assert has_new_set(system, FIRST) and has_new_set(system, OTHER)
            assert set(list_revisions()) == {Revision.objects.latest("pk").pk}
            await_standby(system.programs[FIRST])
            system.move(OTHER, FIRST)
            assert goes_on()


@pytest.fixture
def switching_system(system: FailoverSystem) -> FailoverSystem:
    """The system with failover's settings, so that the portal may move roles."""
    for gateway in system.network.gateways:
        gateway.sync, gateway.sync_address = "sync0", SYNC[gateway.name]
        gateway.save()
    factories.probes(system.network)
    inside = [ip_interface(str(each)) for each in ADDRESSES if each.side is InterfaceSide.LAN]
    change_failover(group=system.network.group, version=0, inside=inside, virtual_router=VIRTUAL_ROUTER, by=system.network.admin)
    system.deploy()
    for programs in system.programs.values():
        programs.call("refresh")
    observe_group(system.network.group)
    return system


def switch(system: FailoverSystem, number: int) -> RoleSwitch:
    """Press a gateway's “Switch over”, and do the worker's work."""
    row = request_switch(gateway=system.network.gateways[number], kind=RoleSwitch.Kind.SWITCH, by=system.network.admin)
    carry_out_switch(row.pk)
    row.refresh_from_db()
    return row


def test_a_switch_waits_for_the_end_of_a_deploy(switching_system: FailoverSystem, processes: dict[str, Popen[str]]) -> None:
    system = switching_system
    with ThreadPoolExecutor(2) as pool, conversation(system.lab, "m1", INTERNET, 7) as goes_on:
        ban("46.0.0.0/10")
        with frozen(*descendants(processes[FIRST].pid)):  # the carrier, which gets its rules last
            rollout = pool.submit(reconcile_in_thread, system)
            wait_for(RolloutStep.objects.filter(gateway__name=OTHER, state=State.CONFIRMED).exists)
            switched = pool.submit(switch_in_thread, system, 0)
            wait_for(RoleSwitch.objects.filter(state=RoleSwitch.State.RUNNING).exists)
            assert not rollout.done()
        ended = rollout.result()
        assert ended and ended.state == Rollout.State.CONFIRMED
        assert switched.result().state == RoleSwitch.State.DONE, describe_outcome(switched.result())
        assert goes_on()
    system.move(OTHER, FIRST)


def list_networks(number: int) -> Iterator[str]:
    """Yield networks for the switch of this number, each one once: four of lengths that need a new set and new rules, and then elements."""
    first = 11 + 4 * number
    yield from (f"47.0.0.0/{length}" for length in range(first, first + 4))
    yield from map(str, ip_network(f"47.{128 + 64 * number}.0.0/10").subnets(new_prefix=24))


def test_deploys_that_begin_during_a_switch_reach_both_gateways(switching_system: FailoverSystem) -> None:
    system = switching_system
    with ThreadPoolExecutor(1) as pool, conversation(system.lab, "m1", INTERNET, 7) as goes_on:
        for number, moved in ((0, OTHER), (1, FIRST)):
            switched = pool.submit(switch_in_thread, system, number)
            networks = list_networks(number)
            while not switched.done():
                ban(next(networks))
                assert system.deploy().state == Rollout.State.CONFIRMED
            assert switched.result().state == RoleSwitch.State.DONE, describe_outcome(switched.result())
            await_sole_carrier(system.lab, moved)
            assert set(list_revisions()) == {Revision.objects.latest("pk").pk}
            assert goes_on()


def switch_in_thread(system: FailoverSystem, number: int) -> RoleSwitch:
    try:
        return switch(system, number)
    finally:
        connection.close()


@contextmanager
def restarted_agent(system: FailoverSystem, name: str) -> Iterator[None]:
    """Mend the gateway's cables, and run a new agent on it in the place of one that was killed."""
    system.programs[name].mend(*CABLES)
    (system.sockets / f"{name}.sock").unlink()
    with agent(system.lab, name, system.sockets):
        yield


def has_new_set(system: FailoverSystem, name: str) -> bool:
    return "set bans4_9 {" in system.lab.run(name, ["nft", "-t", "list", "table", "inet", "netzwart"]).stdout


def test_bans_and_rates_hold_on_the_gateway_that_takes_over(system: FailoverSystem) -> None:
    lab, network = system.lab, system.network
    octets = RATE * 125
    rates.limit_member(member=network.residents["m3"].member, up_kbit=RATE, down_kbit=RATE, reason="other", until=None, by=network.admin)
    ban(BANNED)
    assert system.deploy().state == Rollout.State.CONFIRMED
    with closing(Speaker(lab, "m3", INTERNET, up=False)) as limited:
        wait_for(lambda: limited.octets > octets)
        system.kill(FIRST)
        system.await_takeover(OTHER)
        assert reaches(lab, "m1", BANNED, 80) is None
        must_reach(lab, "m1", INTERNET, 80)
        before = limited.octets
        wait_for(lambda: limited.octets > before + 2 * octets)
        assert is_rate_limited(limited, octets)
    system.revive(FIRST)


def test_a_carrier_whose_rules_were_flushed_gets_them_again_and_carries_again(system: FailoverSystem) -> None:
    lab = system.lab
    with conversation(lab, "m1", INTERNET, 7) as goes_on:
        wait_for(lambda: system.has_flow(OTHER, f"dst={INTERNET}"))
        lab.run(FIRST, ["nft", "flush", "ruleset"])
        await_sole_carrier(lab, OTHER)
        assert goes_on()
        assert system.deploy("schedule").state == Rollout.State.CONFIRMED
        await_standby(system.programs[FIRST])
        system.move(OTHER, FIRST)
        assert goes_on()


def test_connections_outlive_both_gateways_being_away_without_the_portal(system: FailoverSystem) -> None:
    lab = system.lab
    with conversation(lab, "m1", INTERNET, 7, patience=60) as goes_on:
        for name in (FIRST, OTHER):
            system.kill(name)
        wait_for(lambda: not list_carriers(lab, 4) and not list_carriers(lab, 6))
        for name in (OTHER, FIRST):
            system.programs[name].mend(*CABLES)
        wait_for(lambda: len(list_carriers(lab, 4)) == len(list_carriers(lab, 6)) == 1)
        assert goes_on()
        for name in (FIRST, OTHER):
            system.show_agent(name)


def test_connections_that_began_while_the_sync_cable_was_cut_outlive_a_later_crash(system: FailoverSystem) -> None:
    lab, programs = system.lab, system.programs
    programs[OTHER].cut("sync0")  # the carrier only loses its carrier signal
    with conversation(lab, "m1", INTERNET, 7) as goes_on:
        assert not system.has_flow(OTHER, f"dst={INTERNET}")
        programs[OTHER].mend("sync0")
        wait_for(lambda: programs[FIRST].call("refresh") or system.has_flow(OTHER, f"dst={INTERNET}"))
        await_sole_carrier(lab, FIRST)
        system.kill(FIRST)
        system.await_takeover(OTHER)
        assert goes_on()
    system.revive(FIRST)

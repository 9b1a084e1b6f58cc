"""Real faults during rollouts: the rows of the table in docs/architecture.md."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from ipaddress import ip_network
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone
from kombu.simple import SimpleQueue
from redis import Redis

from apps.bans.models import Ban, BanList
from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.models import GatewayState, HeldBack, Revision, Rollout, RolloutStep
from apps.deployments.rollouts.decisions import approve_part, release_revision_hold
from apps.deployments.rollouts.rollback import roll_back
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from apps.lib import enqueue
from apps.lib.message_broker import build_broker_url
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from apps.network.models import Gateway
from benchmarks import whole
from firewall import wire
from lab.lab import Lab
from tests import factories
from tests.frozen_process import freeze, thaw
from tests.whole.system import GATEWAYS, INTERNET, agent, choose_end, conversation, descendants, must_reach, reaches, wait_for
from tests.whole.worker import broker, worker
from workers import app

pytestmark = [pytest.mark.kernel, pytest.mark.long, pytest.mark.xdist_group("whole")]

# New connections get no answer, open ones continue: a committed change stays on trial until the portal gives up or the time is over.
DEAF = """
    add table inet deaf; add chain inet deaf input { type filter hook input priority -500; }
    add rule inet deaf input tcp flags & (syn | ack) == syn drop
"""
DROP_EVERYBODY = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()
"""


@pytest.fixture
def url(ssh_network: factories.Network, sockets: Path, settings: LazySettings) -> Iterator[str]:
    """URL of a broker that takes this test's messages to workers."""
    with broker(sockets) as address:
        settings.REDIS_URL = address
        enqueue._get_publisher.cache_clear()
        yield address
    enqueue._get_publisher.cache_clear()


@pytest.fixture
def deployed_network(bare_lab: Lab, ssh_network: factories.Network) -> factories.Network:
    """The network after a first rollout: both gateways run the desired state."""
    rollout = reconcile(ssh_network.group)
    assert rollout and rollout.state == Rollout.State.CONFIRMED, rollout and rollout.error
    agent_channel.close_all_channels()
    return ssh_network


@pytest.fixture
def talk(bare_lab: Lab, deployed_network: factories.Network) -> Iterator[Callable[[], bool]]:
    """A member's connection to the internet through nat-1, which no change of these tests concerns."""
    with conversation(bare_lab, "m3", INTERNET, 443) as goes_on:
        assert goes_on()
        yield goes_on


def forward(network: factories.Network, port: int = 8443) -> PortForward:
    holding = network.residents["m1"].holding
    return add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)


def confirm_within(network: factories.Network, seconds: int) -> None:
    """Let gateways go back this soon when a change is not confirmed."""
    network.group.confirm_within = seconds
    network.group.save(update_fields=["confirm_within"])


def deaf(lab: Lab) -> None:
    lab.run("nat-1", ["nft", DEAF])


def hearing(lab: Lab) -> None:
    lab.run("nat-1", ["nft", "delete table inet deaf"])


def on_trial() -> bool:
    return RolloutStep.objects.filter(gateway__name="nat-1", state=RolloutStep.State.PROBING).exists()


def on_trial_for_a_while(lab: Lab, network: factories.Network) -> None:
    """Bring nat-1 into a trial that lasts: the worker's channels are open, but its new connections get no answer."""
    forward(network, 9000)
    wait_for(lambda: is_settled(network))
    deaf(lab)
    forward(network)
    wait_for(on_trial)


def kernel(gateway: Gateway) -> str:
    """Return the digest of the kernel's ruleset, read past the network through the local socket."""
    beside = copy(gateway)
    beside.link = Gateway.Link.LOCAL
    with agent_channel.open_session(beside) as channel:
        answer = channel.ask(wire.Digest(int(time.time())))
    assert isinstance(answer, wire.DigestIs), answer
    assert answer.rules_as_committed
    return answer.digest


def as_wanted(network: factories.Network) -> bool:
    """Return whether both kernels run the desired state, and the portal knows it."""
    targets = compute_desired_state(network.group).targets
    known = dict(GatewayState.objects.values_list("gateway", "digest"))
    return targets == known == {gateway.pk: kernel(gateway) for gateway in network.gateways}


def is_settled(network: factories.Network) -> bool:
    return not Rollout.objects.filter(state__in=Rollout.OPEN).exists() and as_wanted(network)


def kill(process: Popen[bytes]) -> None:
    """Kill the process and its descendants with SIGKILL."""
    for pid in (process.pid, *descendants(process.pid)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait(60)


def test_a_worker_that_is_killed_during_a_trial_is_replaced_and_its_rollout_goes_on(
    bare_lab: Lab, deployed_network: factories.Network, url: str, sockets: Path, talk: Callable[[], bool]
) -> None:
    with worker(url, sockets / "first.log") as first:
        on_trial_for_a_while(bare_lab, deployed_network)
        kill(first)
    rollout = Rollout.objects.latest("pk")
    hearing(bare_lab)
    with worker(url, sockets / "second.log", tick=1):
        wait_for(lambda: is_settled(deployed_network))
    rollout.refresh_from_db()
    assert rollout.state == Rollout.State.CONFIRMED, rollout.error
    assert {state.revision for state in GatewayState.objects.select_related("revision")} == {rollout.revision}
    must_reach(bare_lab, "internet", str(factories.PUBLIC), 8443)
    assert talk()


def test_a_worker_that_wakes_up_late_changes_nothing_any_more(
    bare_lab: Lab, deployed_network: factories.Network, url: str, sockets: Path
) -> None:
    with worker(url, sockets / "first.log") as first:
        on_trial_for_a_while(bare_lab, deployed_network)
        freeze(first.pid)
        hearing(bare_lab)
        with worker(url, sockets / "second.log", tick=1):
            wait_for(lambda: is_settled(deployed_network))
            before = [*RolloutStep.objects.order_by("pk").values()]
            thaw(first.pid)
            wait_for(lambda: "another worker has taken over" in (sockets / "first.log").read_text())
        assert [*RolloutStep.objects.order_by("pk").values()] == before
    assert is_settled(deployed_network)


def test_what_an_emptied_broker_forgot_is_found_by_the_next_tick(
    bare_lab: Lab, deployed_network: factories.Network, url: str, sockets: Path, talk: Callable[[], bool]
) -> None:
    forward(deployed_network)
    with Redis(unix_socket_path=url.removeprefix("unix://")) as client:
        assert client.llen("celery") == 1, "the nudge waits for a worker"
        client.flushall()
    with worker(url, sockets / "worker.log", tick=1):
        wait_for(lambda: is_settled(deployed_network))
    must_reach(bare_lab, "internet", str(factories.PUBLIC), 8443)
    assert talk()


def test_without_a_broker_saving_goes_on_and_when_it_is_back_what_is_missing_goes_out(
    bare_lab: Lab, deployed_network: factories.Network, sockets: Path, settings: LazySettings
) -> None:
    with ExitStack() as stack:
        address = f"unix://{sockets / 'redis.sock'}"
        with broker(sockets):
            settings.REDIS_URL = address
            enqueue._get_publisher.cache_clear()
            stack.enter_context(worker(address, sockets / "worker.log", tick=1))
        start = time.monotonic()
        forward(deployed_network)
        assert time.monotonic() - start < 10
        assert PortForward.objects.count() == 1
        with broker(sockets):
            wait_for(lambda: is_settled(deployed_network))
    enqueue._get_publisher.cache_clear()
    must_reach(bare_lab, "internet", str(factories.PUBLIC), 8443)


def test_a_task_that_outlives_its_broker_ends_in_a_lost_connection(sockets: Path) -> None:
    with broker(sockets) as address:
        taking = app.connection_for_read(url=build_broker_url(address))
        queue = SimpleQueue(taking.default_channel, "celery")
        queue.put("a task")
        message = queue.get(timeout=5)
        channel: Any = taking.default_channel
        tag = message.delivery_tag
        message.ack()
        taking.release()  # as a worker does when the broker is gone, while its threads continue
    with pytest.raises(taking.connection_errors, match="has been closed"):
        channel.basic_ack(tag)


def test_a_database_that_drops_everybody_during_a_trial_finds_the_rollout_gone_on_with(
    bare_lab: Lab, deployed_network: factories.Network, url: str, sockets: Path, talk: Callable[[], bool]
) -> None:
    with worker(url, sockets / "worker.log", tick=1):
        on_trial_for_a_while(bare_lab, deployed_network)
        with connection.cursor() as cursor:
            cursor.execute(DROP_EVERYBODY)
        hearing(bare_lab)
        wait_for(lambda: is_settled(deployed_network))
    must_reach(bare_lab, "internet", str(factories.PUBLIC), 8443)
    assert talk()


def test_a_database_that_is_restarted_under_changes_loses_none_and_leaves_nothing_half_written(by_ssh: object) -> None:
    found = {figure.name: figure for figure in whole.run("soak", members=100, minutes=0.5, seed=1, faults=["database"])}
    assert found["faults"].value >= 1
    assert found["changes"].value > 0
    assert [name for name, figure in found.items() if figure.is_met is False] == []


@contextmanager
def cable_cut(lab: Lab) -> Iterator[None]:
    """Cut the cable between nat-1 and the management network."""
    lab.run("core", ["ip", "link", "set", "nat-1.mgmt0", "down"])
    try:
        yield
    finally:
        lab.run("core", ["ip", "link", "set", "nat-1.mgmt0", "up"])


def is_reached(gateway: Gateway) -> bool:
    """Return whether the gateway answers. Right after a cable was cut, the kernel may still have no route."""
    try:
        return bool(agent_channel.get_channel(gateway).ask(wire.Hello(0)))
    except agent_channel.Unreachable:
        return False


def test_a_gateway_that_is_cut_off_after_the_commit_goes_back_by_itself_and_is_not_pestered(
    bare_lab: Lab, deployed_network: factories.Network, url: str, sockets: Path, talk: Callable[[], bool]
) -> None:
    nat_1 = deployed_network.gateways[0]
    with worker(url, sockets / "worker.log"):
        forward(deployed_network, 9000)
        wait_for(lambda: is_settled(deployed_network))
        before = kernel(nat_1)
        confirm_within(deployed_network, 5)
        deaf(bare_lab)
        ban = Ban.objects.create(list=BanList.objects.create(name="Own"), prefix="45.0.0.0/9")  # needs a new set and new rules
        enqueue.send_task("workers.reconcile", deployed_network.admin.pk)
        wait_for(on_trial)
        assert kernel(nat_1) != before
        with cable_cut(bare_lab):
            wait_for(lambda: kernel(nat_1) == before)
            wait_for(lambda: not Rollout.objects.filter(state__in=Rollout.OPEN).exists())
    hearing(bare_lab)
    rollout = Rollout.objects.latest("pk")
    assert rollout.state == Rollout.State.FAILED
    assert [step.state for step in rollout.steps.order_by("position")][1] == RolloutStep.State.SKIPPED, "the next one is not touched"
    wait_for(lambda: is_reached(nat_1))
    for cause in ("change", "schedule"):
        assert reconcile(deployed_network.group, cause=cause) is None, "the same is not tried again blindly"
    ban.delete()
    confirm_within(deployed_network, 30)
    forward(deployed_network)
    again = reconcile(deployed_network.group)
    assert again and again.state == Rollout.State.CONFIRMED, again and again.error
    assert is_settled(deployed_network)
    assert talk()


def test_a_ruleset_that_locks_everyone_out_is_approved_and_goes_back_by_itself(
    bare_lab: Lab, deployed_network: factories.Network, talk: Callable[[], bool]
) -> None:
    nat_1, peer = deployed_network.gateways[0], factories.user("jonas")
    before = kernel(nat_1)
    confirm_within(deployed_network, 5)
    nat_1.management_networks = [ip_network("172.31.99.0/24")]
    with factories.written_by(deployed_network.admin):
        nat_1.save(update_fields=["management_networks"])
    assert reconcile(deployed_network.group, by=deployed_network.admin.pk) is None, "it waits for a second person"
    held = HeldBack.objects.get()
    approve_part(held, digest=held.digest, by=peer, signed_in_again=False)
    rollout = reconcile(deployed_network.group)
    assert rollout and rollout.state == Rollout.State.FAILED
    assert rollout.steps.get(gateway=nat_1).state in (RolloutStep.State.WENT_BACK, RolloutStep.State.LOST)
    wait_for(lambda: kernel(nat_1) == before)
    with agent_channel.open_session(nat_1) as channel:
        assert isinstance(channel.ask(wire.Hello(0)), wire.Welcome), "a new session gets in again"
    assert reconcile(deployed_network.group, cause="schedule") is None, "the same is not tried again blindly"
    assert kernel(nat_1) == before
    assert talk()


def test_a_hold_outlasts_the_tick_in_the_kernel_too(bare_lab: Lab, deployed_network: factories.Network, talk: Callable[[], bool]) -> None:
    first = Revision.objects.latest("pk")
    before = [kernel(gateway) for gateway in deployed_network.gateways]
    forward(deployed_network)
    assert reconcile(deployed_network.group)
    roll_back(first, why="the forward was a mistake", by=deployed_network.admin)
    assert reconcile(deployed_network.group)
    forward(deployed_network, 8444)
    for cause in ("change", "schedule", "schedule"):
        assert reconcile(deployed_network.group, cause=cause) is None
    assert [kernel(gateway) for gateway in deployed_network.gateways] == before
    bare_lab.run("nat-1", ["nft", "flush", "ruleset"])
    assert reconcile(deployed_network.group, cause="schedule"), "what is held is healed as well"
    assert [kernel(gateway) for gateway in deployed_network.gateways] == before
    release_revision_hold(deployed_network.group, by=deployed_network.admin)
    assert reconcile(deployed_network.group)
    must_reach(bare_lab, "internet", str(factories.PUBLIC), 8444)
    assert talk()


def test_connections_outlive_rules_that_were_flushed_by_hand(
    bare_lab: Lab, deployed_network: factories.Network, talk: Callable[[], bool]
) -> None:
    bare_lab.run("nat-1", ["nft", "flush", "ruleset"])
    assert reconcile(deployed_network.group, cause="schedule")
    assert is_settled(deployed_network)
    assert talk()


def test_a_gateway_built_again_without_the_portal_boots_with_what_was_confirmed_and_ended_bans_stay_ended(
    bare_lab: Lab, network: factories.Network, sockets: Path
) -> None:
    own = BanList.objects.create(name="Own")
    with ExitStack() as stack:
        for name in GATEWAYS:
            stack.enter_context(agent(bare_lab, name, sockets))
        ends = choose_end(lambda: reconcile(network.group))
        Ban.objects.create(list=own, prefix="203.0.113.66")
        Ban.objects.create(list=own, prefix="203.0.113.11", expires=ends)
        forward(network)
        assert reconcile(network.group)
        assert reaches(bare_lab, "internet", str(factories.PUBLIC), 8443, source="203.0.113.11") is None
        agent_channel.close_all_channels()
        bare_lab.rebuild("nat-1")
    assert bare_lab.run("nat-1", ["nft", "list", "ruleset"]).stdout == ""
    wait_for(lambda: not Ban.objects.filter(expires__gt=timezone.now()).exists())
    (sockets / "nat-1.sock").unlink(missing_ok=True)
    with agent(bare_lab, "nat-1", sockets):
        must_reach(bare_lab, "internet", str(factories.PUBLIC), 8443)
        assert reaches(bare_lab, "internet", str(factories.PUBLIC), 8443, source="203.0.113.66") is None
        must_reach(bare_lab, "internet", str(factories.PUBLIC), 8443, source="203.0.113.11")  # its ban has ended

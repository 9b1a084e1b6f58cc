"""A lease lasts as long as the work, even if the interpreter is blocked, and no longer than the worker lives."""

import ctypes
import os
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings

from apps.deployments import services
from apps.deployments.models import Rollout
from apps.deployments.rollouts import lease_heartbeat, rollout_store
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.deployments.rollouts.lease_heartbeat import KeeperProcess
from apps.deployments.rollouts.lease_keeper import WorkerProcess
from apps.deployments.rollouts.rollout_driver import WorkerLinks
from apps.deployments.services import reconcile
from apps.deployments.transport.agent_channel import AgentChannel
from apps.network.models import Gateway
from tests import factories
from tests.db.rollout_rows import forward
from tests.frozen_process import frozen
from tests.whole.system import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(served_network: factories.Network) -> factories.Network:
    """Two gateways in memory that run the desired state."""
    assert reconcile(served_network.group)
    return served_network


def lease() -> datetime | None:
    return Rollout.objects.latest("pk").lease_until


class InterpreterHog(WorkerLinks):
    """Links that hold the interpreter for twice as long as the lease lasts. No other thread of this process runs meanwhile."""

    def knock(self, gateway: Gateway) -> float:
        ctypes.PyDLL(None).usleep(4_000_000)
        assert rollout_store.claim_rollout(gateway.group) is None, "nobody takes over what is being worked on"
        return 1.0


class Planning(WorkerLinks):
    """Links that wait for a renewal of the lease before the gateway's first request, which asks what it would change."""

    def __init__(self) -> None:
        self.renewed = False

    def get_channel(self, gateway: Gateway) -> AgentChannel:
        if not self.renewed and Rollout.objects.filter(state__in=Rollout.OPEN).exists():
            before = lease()
            wait_for(lambda: lease() != before)
            self.renewed = True
        return super().get_channel(gateway)


def test_a_busy_interpreter_does_not_cost_the_lease(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_heartbeat, "SECONDS", 0.05)
    for module in (lease_heartbeat, rollout_store):
        monkeypatch.setattr(module, "LEASE", timedelta(seconds=2))
    forward(network, 8000)
    rollout = reconcile(network.group, links=InterpreterHog())
    assert rollout and rollout.state == Rollout.State.CONFIRMED


def test_a_lease_is_kept_from_the_claim_on(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_heartbeat, "SECONDS", 0.05)
    monkeypatch.setattr(services, "gateway_cache", RulesetCache())  # so that the gateway must be asked what would change
    forward(network, 8000)
    links = Planning()
    rollout = reconcile(network.group, links=links, force=True)
    assert links.renewed
    assert rollout and rollout.state == Rollout.State.CONFIRMED


def test_a_keeper_that_was_killed_is_replaced(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_heartbeat, "SECONDS", 0.05)
    killed = lease_heartbeat._keeper._ensure_running()
    killed.kill()
    killed.wait()
    forward(network, 8000)
    links = Planning()
    assert reconcile(network.group, links=links, force=True)
    assert links.renewed


BUSY = [sys.executable, "-S", "-c", "while True: pass"]


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_worker_that_is_stopped_does_not_live_but_one_that_runs_in_turns_does() -> None:
    with subprocess.Popen(BUSY) as process:
        worker = WorkerProcess(process.pid)
        assert worker.is_alive()
        used = worker._used
        wait_for(lambda: bool(worker.is_alive()) and worker._used > used)
        with frozen(process.pid):
            worker.is_alive()
            assert not worker.is_alive()
        wait_for(worker.is_alive)
        process.kill()
        wait_for(lambda: not worker.is_alive())


def test_a_keeper_ends_with_its_worker() -> None:
    imports = "import django; django.setup()\nfrom apps.deployments.rollouts.lease_heartbeat import _keeper\n"
    program = f"{imports}print(_keeper._ensure_running().pid, flush=True)\ninput()"
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "portal.settings", "NETZWART_SECRET_KEY": settings.SECRET_KEY}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe, cwd=settings.ROOT, env=environment) as process:
        assert process.stdout
        keeper = int(process.stdout.readline())
        wait_for(lambda: ignores(keeper, signal.SIGTERM))
        os.kill(keeper, signal.SIGTERM)
        assert state(keeper) != "Z", "signals to the whole group do not end it before its worker"
        process.kill()
        wait_for(lambda: is_gone(keeper))


def ignores(pid: int, number: signal.Signals) -> bool:
    """True if the process ignores the signal, by SigIgn of proc(5)."""
    [mask] = [line.split()[1] for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigIgn:")]
    return bool(int(mask, 16) >> (number - 1) & 1)


def is_gone(pid: int) -> bool:
    with suppress(OSError):
        return state(pid) == "Z"
    return True


def test_closing_ends_it() -> None:
    keeper = KeeperProcess()
    keeper.start()
    process = keeper._ensure_running()
    keeper.close()
    assert process.returncode == 0

"""Agents of a test's gateways in memory: found by their sockets, ended, and begun again as an init system would."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_FSIZE, prlimit
from subprocess import Popen

from django.conf import settings

from apps.deployments.models import GatewayState, Rollout
from apps.deployments.transport import agent_channel, agent_client
from apps.network.models import Gateway
from tests import factories
from tests.whole.system import wait_for


def directory_of(gateway: Gateway) -> Path:
    """The state directory of its agent."""
    return Path(settings.GATEWAY_SOCKETS) / gateway.name


def agent_of(gateway: Gateway) -> int:
    """The process id of the agent that listens at the gateway's socket."""
    socket = str(socket_of(gateway)).encode()
    running = (path for path in Path("/proc").iterdir() if path.name.isdigit())
    return next(int(path.name) for path in running if {socket, b"serve"} <= set(_arguments(path)))


def socket_of(gateway: Gateway) -> Path:
    return Path(settings.GATEWAY_SOCKETS) / f"{gateway.name}.sock"


def _arguments(process: Path) -> list[bytes]:
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


@contextmanager
def stop_agent(gateway: Gateway) -> Iterator[Path]:
    """Its agent is not there, and afterwards another one is; meanwhile its state directory can be touched."""
    pid = agent_of(gateway)
    os.kill(pid, signal.SIGTERM)
    wait_for(lambda: not _arguments(Path(f"/proc/{pid}")) or not any(_arguments(Path(f"/proc/{pid}"))))
    yield directory_of(gateway)
    given = ["--fake", "--name", gateway.name, "--socket", str(socket_of(gateway)), "--state", str(directory_of(gateway))]
    with Path(f"{directory_of(gateway)}.log").open("ab") as log:
        started.append(Popen([sys.executable, "-m", "gateway", "serve", *given], stderr=log))
    wait_for(socket_of(gateway).exists)


started: list[Popen[bytes]] = []


def end_started() -> None:
    """End the agents that this process has begun again."""
    while started:
        process = started.pop()
        process.terminate()
        process.wait(10)


@contextmanager
def unwritable(gateway: Gateway, *, from_octet: int = 0) -> Iterator[None]:
    """Its agent can write no file beyond this octet, as on a disk that is full, or read-only."""
    pid = agent_of(gateway)
    prlimit(pid, RLIMIT_FSIZE, (from_octet, RLIM_INFINITY))
    try:
        yield
    finally:
        prlimit(pid, RLIMIT_FSIZE, (RLIM_INFINITY, RLIM_INFINITY))


def runs(gateway: Gateway) -> str:
    """The digest of what it says it runs."""
    return agent_client.send_hello(agent_channel.get_channel(gateway), 0).digest


def same_everywhere(network: factories.Network) -> bool:
    """Do the gateways run what the portal knows them to run?"""
    known = dict(GatewayState.objects.values_list("gateway__name", "digest"))
    return known == {gateway.name: runs(gateway) for gateway in network.gateways}


def steps(rollout: Rollout | None) -> dict[str, str]:
    """What became of each gateway."""
    assert rollout is not None
    return {step.gateway.name: step.state for step in rollout.steps.select_related("gateway")}

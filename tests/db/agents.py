"""Control of the agents of a test's in-memory gateways: find them by socket, stop them, restart them as an init system would."""

import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_FSIZE, prlimit
from subprocess import Popen

from django.conf import settings

from apps.deployments.models import GatewayState, Rollout
from apps.deployments.transport import agent_channel, agent_client
from apps.network.models import Gateway
from tests import factories
from tests.released_agent import ROOT
from tests.whole.system import accepts, wait_for


def directory_of(gateway: Gateway) -> Path:
    """Return the state directory of the gateway's agent."""
    return Path(settings.GATEWAY_SOCKETS) / gateway.name


def agent_of(gateway: Gateway) -> int:
    """Return the process id of the agent that listens at the gateway's socket: unix(7), SO_PEERCRED."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(socket_of(gateway)))
        pid, _uid, _gid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return int(pid)


def socket_of(gateway: Gateway) -> Path:
    return Path(settings.GATEWAY_SOCKETS) / f"{gateway.name}.sock"


@contextmanager
def stop_agent(gateway: Gateway, root: Path = ROOT) -> Iterator[Path]:
    """Stop the gateway's agent, yield its state directory so that the test can change it, then start another agent there.

    root: the sources that it runs.
    """
    process = os.pidfd_open(agent_of(gateway))
    signal.pidfd_send_signal(process, signal.SIGTERM)
    assert select.select([process], [], [], 60)[0], "the agent does not end"
    os.close(process)
    yield directory_of(gateway)
    given = ["--fake", "--name", gateway.name, "--socket", str(socket_of(gateway)), "--state", str(directory_of(gateway))]
    with Path(f"{directory_of(gateway)}.log").open("ab") as log:
        started.append(Popen([sys.executable, "-m", "gateway", "serve", *given], cwd=root, stderr=log))
    wait_for(partial(accepts, socket_of(gateway)))


started: list[Popen[bytes]] = []


def end_started() -> None:
    """End the agents that this process has restarted."""
    while started:
        process = started.pop()
        process.terminate()
        process.wait(10)


@contextmanager
def unwritable(gateway: Gateway, *, from_octet: int = 0) -> Iterator[None]:
    """Keep the gateway's agent from writing files beyond this octet, as on a full disk, or a read-only one if it is 0."""
    pid = agent_of(gateway)
    prlimit(pid, RLIMIT_FSIZE, (from_octet, RLIM_INFINITY))
    try:
        yield
    finally:
        prlimit(pid, RLIMIT_FSIZE, (RLIM_INFINITY, RLIM_INFINITY))


def runs(gateway: Gateway) -> str:
    """Return the digest of the ruleset that the gateway's agent says it runs."""
    return agent_client.send_hello(agent_channel.get_channel(gateway), 0).digest


def same_everywhere(network: factories.Network) -> bool:
    """True if each gateway runs what the portal has recorded for it."""
    known = dict(GatewayState.objects.values_list("gateway__name", "digest"))
    return known == {gateway.name: runs(gateway) for gateway in network.gateways}


def steps(rollout: Rollout | None) -> dict[str, str]:
    """Return the state of each gateway's step, by the gateway's name."""
    assert rollout is not None
    return {step.gateway.name: step.state for step in rollout.steps.select_related("gateway")}

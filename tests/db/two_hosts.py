"""What tests of several hosts have in common: a host with everything of its own, an agent that is frozen, and what has arrived."""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any, Final

from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.models import GatewayState, Rollout
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from tests import factories
from tests.frozen_process import frozen
from tests.whole.worker import worker

PATIENCE: Final = 120.0  # seconds


@contextmanager
def host(name: str, redis: str, directory: Path, *, tick: float = 1, **settings: Any) -> Iterator[Popen[bytes]]:
    """Run worker and scheduler of a host with a name and a state directory of its own. settings: as of `worker`."""
    state = directory / name
    state.mkdir()
    given = {"HOST_NAME": name, "VAR": str(state), "HEARTBEAT_SECONDS": "1"} | settings
    with worker(redis, directory / f"{name}.log", tick=tick, **given) as process:
        yield process


@contextmanager
def frozen_agent(socket_path: Path) -> Iterator[None]:
    """Stop the agent that listens there; the kernel says who it is."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(socket_path))
        pid, _user, _group = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    with frozen(pid):
        yield


def forward(network: factories.Network, port: int) -> PortForward:
    """Open a port, which is a change for both gateways."""
    holding = network.residents["m1"].holding
    return add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)


def is_settled(network: factories.Network) -> bool:
    """True if both gateways have confirmed what the database asks for."""
    open_ones = Rollout.objects.filter(state__in=Rollout.OPEN)
    known = dict(GatewayState.objects.values_list("gateway", "digest"))
    return not open_ones.exists() and compute_desired_state(network.group).targets == known

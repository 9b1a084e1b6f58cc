"""Fixtures for tests of the whole system: real rows, real agents, a real kernel, real packets."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory

import pytest
from django.conf import LazySettings

from apps.deployments import services
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.deployments.transport import agent_channel
from apps.lib import enqueue
from lab.lab import Lab
from lab.sshd import find_obstacle
from lab.topology import load_topology
from tests import factories
from tests.whole.machines import LabMachines
from tests.whole.system import GATEWAYS, agents, inside, reached_by_ssh, sshd
from tests.whole.worker import broker, worker


@pytest.fixture
def sockets(settings: LazySettings) -> Iterator[Path]:
    """Directory for sockets, with a short path: a socket's path must stay under 108 characters."""
    with TemporaryDirectory(prefix="nw-") as directory:
        settings.GATEWAY_SOCKETS = Path(directory)
        yield Path(directory)


@pytest.fixture
def bare_lab() -> Iterator[Lab]:
    """A lab without agents."""
    with Lab.start(load_topology()) as running:
        yield running


@pytest.fixture
def processes(bare_lab: Lab, sockets: Path) -> Iterator[dict[str, Popen[str]]]:
    """Processes of the agents, by gateway."""
    with agents(bare_lab, sockets) as running:
        yield running
        agent_channel.close_all_channels()


@pytest.fixture
def lab(bare_lab: Lab, processes: dict[str, Popen[str]]) -> Lab:
    """A lab with both agents. The test gets its own channels to them."""
    return bare_lab


@pytest.fixture
def network(transactional_db: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[factories.Network]:
    """The lab's network as rows. The cache with data about other labs' gateways is emptied."""
    settings.REDIS_URL = "unix:///nonexistent/redis.sock"
    monkeypatch.setattr(services, "gateway_cache", RulesetCache())
    yield factories.network()


@pytest.fixture
def working(network: factories.Network, sockets: Path, settings: LazySettings) -> Iterator[None]:
    """A broker for messages to workers, and a worker that handles them."""
    with broker(sockets) as url:
        settings.REDIS_URL = url
        enqueue._get_publisher.cache_clear()
        with worker(url, sockets / "worker.log"):
            yield
    enqueue._get_publisher.cache_clear()


@pytest.fixture
def by_ssh(bare_lab: Lab, sockets: Path, settings: LazySettings) -> Iterator[dict[str, Popen[str]]]:
    """Both agents, each behind a real sshd, with this thread in the portal's node; the processes of sshd, by gateway."""
    keep_keys(settings, sockets)
    with agents(bare_lab, sockets, shared=True), ExitStack() as stack:
        running = {name: stack.enter_context(sshd(bare_lab, name, sockets)) for name in GATEWAYS}
        with inside(bare_lab, "portal"):
            yield running
        agent_channel.close_all_channels()


def keep_keys(settings: LazySettings, sockets: Path) -> None:
    """Keep the portal's keys beside the sockets. Skip the test where sshd cannot run."""
    if reason := find_obstacle():
        pytest.skip(reason)
    settings.SSH_KEY, settings.SSH_KNOWN_HOSTS = sockets / "id_ed25519", sockets / "known_hosts.d"


@pytest.fixture
def machines(bare_lab: Lab, sockets: Path, settings: LazySettings) -> Iterator[LabMachines]:
    """Both gateways' machines, each of which can be exchanged for another, with this thread in the portal's node."""
    keep_keys(settings, sockets)
    with LabMachines(bare_lab, sockets) as running, inside(bare_lab, "portal"):
        yield running


@pytest.fixture
def ssh_network(bare_lab: Lab, by_ssh: dict[str, Popen[str]], network: factories.Network, sockets: Path) -> factories.Network:
    """The lab's network with gateways that are reached by ssh."""
    reached_by_ssh(bare_lab, network.gateways, sockets)
    return network

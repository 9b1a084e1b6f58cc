"""Fixtures of database tests, which run on PostgreSQL. Tasks that a test enqueues are lost unless it runs a broker."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory

import pytest
from django.conf import LazySettings
from django.db import connection

from apps.deployments import services
from apps.deployments.rollouts.gateway_cache import GatewayCache
from apps.deployments.transport import agent_channel
from tests import factories
from tests.whole.system import wait_for


@pytest.fixture(autouse=True)
def _no_broker(settings: LazySettings, tmp_path: Path) -> None:
    """Point the portal at a broker that does not exist. No save may fail or wait because of it."""
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"


@pytest.fixture
def network(db: None) -> Iterator[factories.Network]:
    """The lab's network as database rows."""
    yield factories.network()


@contextmanager
def in_memory(directory: Path) -> Iterator[None]:
    """Run both gateways as agents that keep their rules in memory, with sockets in the directory. Its path must be short."""
    with ExitStack() as stack:
        for name in ("nat-1", "nat-2"):
            socket = directory / f"{name}.sock"
            serve = ["-m", "gateway", "serve", "--fake", "--name", name, "--socket", str(socket), "--state", f"{directory}/{name}"]
            process = stack.enter_context(Popen([sys.executable, *serve], stderr=(directory / f"{name}.log").open("wb")))
            stack.callback(process.terminate)
            wait_for(socket.exists)
        yield
        agent_channel.close_all_channels()


@pytest.fixture
def served_network(transactional_db: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[factories.Network]:
    """The lab's network as database rows, and two gateways in memory.

    Restarts the sequence of fencing tokens, because the agents are new and emptying tables does not reset a sequence.
    """
    with connection.cursor() as cursor:
        cursor.execute("ALTER SEQUENCE deployments_token RESTART")
    monkeypatch.setattr(services, "gateway_cache", GatewayCache())
    with TemporaryDirectory(prefix="nw-") as directory:
        settings.GATEWAY_SOCKETS = Path(directory)
        with in_memory(settings.GATEWAY_SOCKETS):
            yield factories.network()

"""Fixtures of database tests, which run on PostgreSQL. Tasks that a test enqueues are lost unless it runs a broker."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.conf import LazySettings
from django.db import connection

from apps.deployments import services
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.deployments.transport import agent_channel
from tests import factories
from tests.db.agent_forks import forked_agent
from tests.whole.system import GATEWAYS, accepts, wait_for


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
        for name in GATEWAYS:
            serve = ["serve", "--fake", "--name", name, "--socket", f"{directory}/{name}.sock", "--state", f"{directory}/{name}"]
            stack.enter_context(forked_agent(directory / f"{name}.log", serve))
        for name in GATEWAYS:
            wait_for(partial(accepts, directory / f"{name}.sock"))
        yield
        agent_channel.close_all_channels()


@pytest.fixture
def served_network(transactional_db: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[factories.Network]:
    """The lab's network as database rows, and two gateways in memory.

    Restarts the sequence of fencing tokens, because the agents are new and emptying tables does not reset a sequence.
    """
    with connection.cursor() as cursor:
        cursor.execute("ALTER SEQUENCE deployments_token RESTART")
    monkeypatch.setattr(services, "gateway_cache", RulesetCache())
    with TemporaryDirectory(prefix="nw-") as directory:
        settings.GATEWAY_SOCKETS = Path(directory)
        with in_memory(settings.GATEWAY_SOCKETS):
            yield factories.network()


@pytest.fixture
def cautious_network(served_network: factories.Network) -> factories.Network:
    """Two gateways in memory that run the desired state; three removals are too many."""
    served_network.group.removal_least = 3
    served_network.group.save()
    assert services.reconcile(served_network.group)
    return served_network

"""Fixtures of the faults: machines and servers for all of them, and a new database for each."""

from collections.abc import Iterator

import pytest
from django.test import Client

from apps.deployments import services
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.deployments.transport import agent_channel
from lab.sshd import find_obstacle
from tests.db.page_client import signed_in
from tests.whole.faults.portal_clock import PortalClock
from tests.whole.faults.scene import FaultScene, deploy_network, open_scene
from tests.whole.faults.witnesses import Witnesses


@pytest.fixture(scope="module")
def running_scene() -> Iterator[FaultScene]:
    """The machines and servers, which all faults of the module share."""
    if reason := find_obstacle():
        pytest.skip(reason)
    with open_scene() as running:
        yield running


@pytest.fixture
def administrator(transactional_db: None, running_scene: FaultScene, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """The browser of an administrator of the network, which is deployed."""
    monkeypatch.setattr(services, "gateway_cache", RulesetCache())
    yield signed_in(deploy_network(running_scene))
    agent_channel.close_all_channels()


@pytest.fixture
def scene(running_scene: FaultScene, administrator: Client) -> FaultScene:
    return running_scene


@pytest.fixture
def clock(scene: FaultScene) -> PortalClock:
    return PortalClock(scene)


@pytest.fixture
def witnesses(scene: FaultScene, administrator: Client) -> Witnesses:
    return Witnesses(administrator, scene.mailbox, scene.webhook)

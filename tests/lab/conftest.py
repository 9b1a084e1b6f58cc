"""Fixtures for labs. A test that changes the network takes `lab`, its own; a read-only test takes `shared_lab`."""

from collections.abc import Iterator

import pytest

from lab.lab import Lab
from lab.obstacles import list_obstacles
from lab.topology import Topology, load_topology


@pytest.fixture(autouse=True)
def _skip_aloud(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("kernel") and list_obstacles():
        pytest.skip("; ".join(list_obstacles()))


@pytest.fixture(scope="session")
def topology() -> Topology:
    return load_topology()


@pytest.fixture
def lab(topology: Topology) -> Iterator[Lab]:
    with Lab.start(topology) as running:
        yield running


@pytest.fixture(scope="module")
def shared_lab(topology: Topology) -> Iterator[Lab]:
    with Lab.start(topology) as running:
        yield running

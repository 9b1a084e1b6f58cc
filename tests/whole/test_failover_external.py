"""Failover whose states wait in the memory of conntrackd: what was cut does not come back with them at the takeover."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.deployments.models import Rollout
from firewall.failover import StateCacheMode
from lab.failover import CABLES, find_obstacle
from lab.lab import Lab
from tests import factories
from tests.whole.failover_system import FIRST, OTHER, FailoverSystem, run_programs
from tests.whole.system import INTERNET, wait_for
from tests.whole.withdrawn_flows import BANNED, PORT, track_both, withdraw, withdrawn_conversations

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.xdist_group("whole"),
    pytest.mark.skipif(bool(find_obstacle()), reason=find_obstacle() or "can run"),
]


@pytest.fixture
def system(lab: Lab, network: factories.Network, sockets: Path) -> Iterator[FailoverSystem]:
    """Both gateways at the first revision, the first one as the carrier, each with the other one's states in conntrackd's memory."""
    with run_programs(lab, StateCacheMode.EXTERNAL) as programs:
        made = FailoverSystem(lab, network, programs, sockets)
        assert made.deploy().state == Rollout.State.CONFIRMED
        made.begin_anew()
        yield made


def cache_both(system: FailoverSystem, name: str) -> tuple[bool, bool]:
    """Return whether conntrackd has the connection with the host, and the one through the forward, in memory."""
    return system.has_cached_flow(name, f"dst={BANNED}"), system.has_cached_flow(name, f"dport={PORT}")


def test_what_was_cut_while_the_carrier_could_not_be_reached_stays_cut(system: FailoverSystem) -> None:
    with withdrawn_conversations(system, cache_both) as go_on:
        system.hide_agent(FIRST)
        withdraw(system)
        assert go_on() == (True, True, True)
        assert cache_both(system, OTHER) == (True, True)
        system.programs[FIRST].cut(*CABLES)
        system.await_takeover(OTHER)
        wait_for(lambda: system.has_flow(OTHER, f"dst={INTERNET}", "dport=7"))  # the third one: the states are in the kernel
        wait_for(lambda: track_both(system, OTHER) == (False, False))
        assert go_on() == (False, False, True)

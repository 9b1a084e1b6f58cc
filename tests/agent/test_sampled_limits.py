"""Limits of open connections of which one in some is counted: how well they hold, shown with packets on a kernel."""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from benchmarks import networks
from benchmarks.packets.cables import LAN_MAC, MEMBERS_MAC, Cables
from benchmarks.packets.sender import Datagram, Sender, Train, build_frame
from firewall.compile import compile_policy
from firewall.diff import diff
from firewall.policy import LEAST_SAMPLED, ConnectionLimits, GatewayGroupSettings, Policy
from firewall.ruleset import EMPTY
from gateway.kernel import KernelTable

pytestmark = pytest.mark.kernel

PEER = 44 << 24


class LimitedGateway:
    """A gateway with these limits, and members who open connections."""

    def __init__(self, limits: ConnectionLimits) -> None:
        plain = networks.build_policy(2)
        gateway = replace(plain.gateway, settings=GatewayGroupSettings(limits=limits))
        self._cables = Cables()
        self._kernel = self._cables.gateway.do(KernelTable)
        self._commit(replace(plain, gateway=gateway))
        self._sender: Sender = self._cables.members.do(Sender, "m0")

    def _commit(self, policy: Policy) -> None:
        self._cables.gateway.do(self._kernel.commit, diff(EMPTY, compile_policy(policy)), int(time.time()))

    def open(self, member: int, ports: range) -> int:
        """Send a datagram from each port, which opens a connection, and return how many left by the uplink."""
        frames = [build_frame(Datagram(networks.PRIVATE + member, port, PEER, 443), LAN_MAC, MEMBERS_MAC) for port in ports]
        before = self._cables.count_outside()
        self._cables.members.do(lambda: list(self._sender.iter_bursts(Train(frames))))
        return self._cables.count_outside() - before

    def close(self) -> None:
        """End the namespaces with everything in them."""
        self._sender.close()
        self._cables.gateway.do(self._kernel.close)
        self._cables.close()


@pytest.fixture
def gateway(request: pytest.FixtureRequest, kernel_is_there: str) -> Iterator[LimitedGateway]:
    if kernel_is_there:
        pytest.skip(f"no kernel to test on: {kernel_is_there}")
    with closing(LimitedGateway(request.param)) as gateway:
        yield gateway


@pytest.mark.parametrize("gateway", [ConnectionLimits(member_open=2_000, sampled=True)], indirect=True)
def test_a_sampled_limit_holds_within_about_a_quarter_and_for_nobody_else(gateway: LimitedGateway) -> None:
    assert 1_300 < gateway.open(0, range(1_000, 5_000)) < 2_900  # four standard deviations of the draw
    assert gateway.open(0, range(5_000, 5_100)) == 0
    assert gateway.open(1, range(1_000, 1_100)) == 100


@pytest.mark.parametrize("gateway", [ConnectionLimits(member_open=2_000)], indirect=True)
def test_a_limit_that_counts_each_is_exact(gateway: LimitedGateway) -> None:
    assert gateway.open(0, range(1_000, 5_000)) == 2_000


@pytest.mark.parametrize("gateway", [ConnectionLimits(member_open=LEAST_SAMPLED - 1, sampled=True)], indirect=True)
def test_a_small_limit_is_exact_also_where_others_are_sampled(gateway: LimitedGateway) -> None:
    assert gateway.open(0, range(1_000, 2_000)) == LEAST_SAMPLED - 1

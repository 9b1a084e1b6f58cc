"""Deploys under traffic: no packet is lost or duplicated, and none leaves without NAT."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from math import ceil
from time import monotonic

import pytest

from apps.bans.models import Ban, BanList
from apps.deployments.models import Rollout
from apps.deployments.services import reconcile
from apps.nat.models import PortForward
from apps.nat.services import add_forward, remove_forward
from lab.lab import Lab
from lab.measure.runs import run_tcp_transfer, run_udp_stream, start_sniffer
from lab.measure.tcp import Transfer
from lab.measure.udp import UdpReceiverReport, UdpSenderReport
from tests import factories
from tests.whole.system import INTERNET

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

DEPLOYS = 20
KINDS = 4  # of changes
SECONDS = 25  # at least
TCP_RATE = 400_000  # octets per second


@dataclass(frozen=True)
class Streams:
    """Two running streams."""

    udp: "Future[tuple[UdpSenderReport, UdpReceiverReport]]"
    tcp: "Future[Transfer]"

    @property
    def under_way(self) -> bool:
        return not (self.udp.done() or self.tcp.done())


def retransmit_only_what_was_lost(lab: Lab, node: str) -> None:
    """Disable tail loss probes and raise the minimum retransmission timeout (RFC 8985, RFC 6298).

    A busy machine delays acknowledgements; probes and timers of milliseconds would take that for loss.
    """
    lab.run(node, ["sysctl", "-q", "-w", "net.ipv4.tcp_early_retrans=0"])
    default = lab.run(node, ["ip", "-4", "route", "show", "default"]).stdout.split()
    lab.run(node, ["ip", "-4", "route", "change", *default, "rto_min", "5s"])


@contextmanager
def streams(lab: Lab, seconds: int) -> Iterator[Streams]:
    """Run a paced UDP stream with sequence numbers from one member and a TCP transfer from another, for this long."""
    with ThreadPoolExecutor(2) as pool:
        udp = pool.submit(run_udp_stream, lab, "m1", "internet", INTERNET, 7001, rate=500, seconds=seconds)
        tcp = pool.submit(run_tcp_transfer, lab, "m3", "internet", INTERNET, 7002, octets=seconds * TCP_RATE, rate=TCP_RATE)
        yield Streams(udp, tcp)


def changes(network: factories.Network) -> Iterator[None]:
    """Make a change before each deploy, in turn: add an element, add rules and a set, remove the element, remove the rules and the set."""
    own = BanList.objects.create(name="Own")
    forward: PortForward | None = None
    ban: Ban | None = None
    for kind in cycle(("forward", "ban", "no forward", "no ban")):
        if kind == "forward":
            holding = network.residents["m1"].holding
            forward = add_forward(
                holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, by=network.admin
            )
        elif kind == "ban":
            ban = Ban.objects.create(list=own, prefix="192.0.2.128/26")
        elif kind == "no forward" and forward:
            remove_forward(forward=forward, by=network.admin)
        elif ban:
            ban.delete()
        yield


def choose_seconds(network: factories.Network, made: Iterator[None]) -> int:
    """Deploy each kind of change once, and return how long streams must last to outlast all deploys, which are slower beside them."""
    begin = monotonic()
    for _ in zip(range(KINDS), made, strict=False):
        reconcile(network.group)
    return max(SECONDS, ceil(3 * DEPLOYS / KINDS * (monotonic() - begin)))


def test_twenty_deploys_lose_nothing_double_nothing_and_leak_nothing(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    retransmit_only_what_was_lost(lab, "m3")
    made = changes(network)
    seconds = choose_seconds(network, made)
    with streams(lab, seconds) as undisturbed:
        baseline = undisturbed.tcp.result()

    deployed = 0
    with start_sniffer(lab, "uplink", "transit") as sniffer:
        with streams(lab, seconds) as disturbed:
            for _ in zip(range(DEPLOYS), made, strict=False):
                rollout = reconcile(network.group)
                assert rollout is not None
                assert rollout.state == Rollout.State.CONFIRMED
                deployed += disturbed.under_way
        leaked = sniffer.stop()
    sent, received = disturbed.udp.result()
    transfer = disturbed.tcp.result()

    assert deployed == DEPLOYS, "the streams must outlast the deploys"
    assert (sent.sent, sent.failed) == (seconds * 500, 0)
    assert (received.received, received.missing, received.duplicate) == (sent.sent, 0, 0), received
    assert transfer.is_intact
    assert transfer.retransmits <= baseline.retransmits
    assert leaked.seen > seconds * 500
    assert (leaked.leaked, leaked.dropped) == (0, 0), leaked.examples

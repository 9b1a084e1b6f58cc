"""Rate limits on a real kernel, with real TCP: how fast it gets, whom it leaves alone, and what ends it."""

import socket
import time
from contextlib import ExitStack, closing
from datetime import datetime, timedelta
from functools import partial
from threading import Thread

import pytest
from django.utils import timezone

from apps.deployments.services import reconcile
from apps.members.models import Member, Tariff
from apps.traffic.models import RateLimit
from apps.traffic.rates import services
from firewall.ruleset import BURST
from lab.lab import Lab
from tests import rows
from tests.whole.packets import counter
from tests.whole.system import inside, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

INTERNET, INTERNET6 = "203.0.113.10", "2001:db8:cafe::10"
RATE = 4000  # kbit/s: 500,000 octets a second
SECOND = RATE * 125


class Speaker:
    """Sends as much as TCP takes, in one direction, until it is closed; `octets` is what has arrived."""

    def __init__(self, lab: Lab, host: str, other: str, *, up: bool) -> None:
        family = socket.AF_INET6 if ":" in other else socket.AF_INET
        with inside(lab, "internet"):
            listener = socket.create_server((other, 0), family=family)
        with closing(listener):
            with inside(lab, host):
                near = socket.create_connection(listener.getsockname()[:2], timeout=10)
            far, _peer = listener.accept()
        self._source, self._sink = (near, far) if up else (far, near)
        self.octets, self.since = 0, time.monotonic()
        for each in (near, far):
            each.settimeout(60)
        self._threads = [Thread(target=self._send, daemon=True), Thread(target=self._receive, daemon=True)]
        for thread in self._threads:
            thread.start()

    def _send(self) -> None:
        chunk = bytes(1 << 14)
        try:
            while True:
                self._source.sendall(chunk)
        except OSError:
            return

    def _receive(self) -> None:
        try:
            while got := self._sink.recv(1 << 16):
                self.octets += len(got)
        except OSError:
            return

    def close(self) -> None:
        for each in (self._source, self._sink):
            each.close()


def held_back(speaker: Speaker, rate: int = SECOND) -> bool:
    """Has no more arrived than a full bucket and what filled it since? Only of who was limited before he connected."""
    return speaker.octets <= rate * (1 + time.monotonic() - speaker.since) + BURST


def set_free(speaker: Speaker) -> None:
    """Wait until twice as much arrives as any bucket would let through."""
    start, before = time.monotonic(), speaker.octets
    wait_for(lambda: speaker.octets - before > 2 * (SECOND * (2 + time.monotonic() - start) + BURST), seconds=90)


def listed(lab: Lab, node: str, name: str) -> str:
    return lab.run(node, ["nft", "list", "set", "inet", "netzwart", name], check=False).stdout


def traces_of_limits(lab: Lab) -> list[str]:
    """What the gateways have of ours that limits rates: chains, sets, queueing disciplines."""
    found = [
        line for node in ("nat-1", "nat-2") for line in lab.run(node, ["nft", "list", "table", "inet", "netzwart"]).stdout.splitlines()
    ]
    found += [line for node in ("nat-1", "nat-2") for line in lab.run(node, ["tc", "qdisc"]).stdout.splitlines()]
    return [line for line in found if any(word in line for word in ("rates_", "rateup", "ratedown", "tariffup", "tariffdown", "htb"))]


def limit(network: rows.Network, host: str, until: datetime | None = None) -> RateLimit:
    member = network.residents[host].member
    return services.limit(member=member, up_kbit=RATE, down_kbit=RATE, reason="other", until=until, by=network.admin)


def test_a_limited_member_gets_his_rate_both_ways_and_nobody_else_is_slowed(lab: Lab, network: rows.Network) -> None:
    """One lab for everything: limit, tariff, neighbour, the end by itself, the switch, the release."""
    reconcile(network.group)
    assert traces_of_limits(lab) == []
    ends = timezone.now() + timedelta(seconds=12)
    released, _ends_by_itself = limit(network, "m1"), limit(network, "m3", ends)
    tariff = Tariff.objects.create(name="Trial", up_kbit=RATE // 2)
    Member.objects.filter(pk=network.residents["m4"].member.pk).update(tariff=tariff)
    reconcile(network.group)
    with ExitStack() as stack:
        speak = partial(speaking, stack, lab)
        limited = [speak("m1", other, up=up) for other in (INTERNET, INTERNET6) for up in (True, False)]
        trial, neighbour = speak("m4", INTERNET, up=True), speak("m2", INTERNET, up=False)
        set_free(neighbour)
        neighbour.close()
        wait_for(lambda: all(each.octets > 3 * SECOND for each in limited), seconds=90)
        assert all(map(held_back, limited))
        wait_for(lambda: trial.octets > SECOND, seconds=90)
        assert held_back(trial, SECOND // 2)
        trial.close()
        assert min(counter(lab, node, name) for node in ("nat-1", "nat-2") for name in ("rates_up", "rates_down")) > 0
        wait_for(lambda: "10.16.0.12" not in listed(lab, "nat-1", "rateup4") + listed(lab, "nat-1", "ratedown4"), seconds=60)
        assert "10.16.0.10" in listed(lab, "nat-1", "rateup4")
        set_free(speak("m3", INTERNET, up=True))
        services.switch(group=network.group, on=False, by=network.admin)
        reconcile(network.group)
        assert not [line for line in traces_of_limits(lab) if "rates_" in line]
        for each in limited:
            set_free(each)
            each.close()
        services.switch(group=network.group, on=True, by=network.admin)
        reconcile(network.group)
        again = speak("m1", INTERNET, up=True)
        wait_for(lambda: again.octets > 2 * SECOND, seconds=90)
        assert held_back(again)
        services.release(limits=[released.pk], by=network.admin)
        Tariff.objects.update(up_kbit=None)
        reconcile(network.group)
        set_free(again)
        assert traces_of_limits(lab) == []


def speaking(stack: ExitStack, lab: Lab, host: str, other: str, *, up: bool) -> Speaker:
    return stack.enter_context(closing(Speaker(lab, host, other, up=up)))

"""Rate limits on a real kernel, with real TCP: the rate reached, members not affected, and what ends a limit."""

from contextlib import ExitStack, closing
from datetime import datetime, timedelta
from functools import partial

import pytest
from django.utils import timezone

from apps.deployments.services import reconcile
from apps.members.models import Member, Tariff
from apps.traffic.models import RateLimit
from apps.traffic.rates import services
from lab.lab import Lab
from tests import factories
from tests.whole.packets import counter
from tests.whole.system import wait_for
from tests.whole.tcp_streams import Speaker, is_rate_limited, wait_until_unlimited

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

INTERNET, INTERNET6 = "203.0.113.10", "2001:db8:cafe::10"
RATE = 4000  # kbit/s: 500,000 octets a second
SECOND = RATE * 125


def list_set(lab: Lab, node: str, name: str) -> str:
    return lab.run(node, ["nft", "list", "set", "inet", "netzwart", name], check=False).stdout


def traces_of_limits(lab: Lab) -> list[str]:
    """Return what limits rates on the gateways: lines about chains, sets and queueing disciplines."""
    found = [
        line for node in ("nat-1", "nat-2") for line in lab.run(node, ["nft", "list", "table", "inet", "netzwart"]).stdout.splitlines()
    ]
    found += [line for node in ("nat-1", "nat-2") for line in lab.run(node, ["tc", "qdisc"]).stdout.splitlines()]
    return [line for line in found if any(word in line for word in ("rates_", "rateup", "ratedown", "tariffup", "tariffdown", "htb"))]


def limit(network: factories.Network, host: str, until: datetime | None = None) -> RateLimit:
    member = network.residents[host].member
    return services.limit_member(member=member, up_kbit=RATE, down_kbit=RATE, reason="other", until=until, by=network.admin)


def test_a_limited_member_gets_his_rate_both_ways_and_nobody_else_is_slowed(lab: Lab, network: factories.Network) -> None:
    """One lab for all of it: limit, tariff, neighbour, the end by itself, the switch, the release."""
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
        wait_until_unlimited(neighbour, SECOND)
        neighbour.close()
        wait_for(lambda: all(each.octets > 3 * SECOND for each in limited), seconds=90)
        assert all(is_rate_limited(each, SECOND) for each in limited)
        wait_for(lambda: trial.octets > SECOND, seconds=90)
        assert is_rate_limited(trial, SECOND // 2)
        trial.close()
        assert min(counter(lab, node, name) for node in ("nat-1", "nat-2") for name in ("rates_up", "rates_down")) > 0
        wait_for(lambda: "10.16.0.12" not in list_set(lab, "nat-1", "rate_up4") + list_set(lab, "nat-1", "rate_down4"))
        assert "10.16.0.10" in list_set(lab, "nat-1", "rate_up4")
        wait_until_unlimited(speak("m3", INTERNET, up=True), SECOND)
        services.switch_rate_limits(group=network.group, on=False, by=network.admin)
        reconcile(network.group)
        assert not [line for line in traces_of_limits(lab) if "rates_" in line]
        for each in limited:
            wait_until_unlimited(each, SECOND)
            each.close()
        services.switch_rate_limits(group=network.group, on=True, by=network.admin)
        reconcile(network.group)
        again = speak("m1", INTERNET, up=True)
        wait_for(lambda: again.octets > 2 * SECOND, seconds=90)
        assert is_rate_limited(again, SECOND)
        services.release_rate_limits(limits=[released.pk], by=network.admin)
        Tariff.objects.update(up_kbit=None)
        reconcile(network.group)
        wait_until_unlimited(again, SECOND)
        assert traces_of_limits(lab) == []


def speaking(stack: ExitStack, lab: Lab, host: str, other: str, *, up: bool) -> Speaker:
    return stack.enter_context(closing(Speaker(lab, host, other, up=up)))

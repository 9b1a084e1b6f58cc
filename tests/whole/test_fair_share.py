"""Fair share on an uplink of 10 Mbit/s that one member fills: the kernel limits that member only, and none afterwards."""

from contextlib import closing
from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.utils import timezone

from apps.deployments.services import reconcile
from apps.gateways.services import collect_counters
from apps.lib.database.validity import is_valid_now
from apps.members.models import Member
from apps.traffic.fairshare.models import FairShare
from apps.traffic.fairshare.services import adjust_limits
from apps.traffic.models import RateLimit
from apps.traffic.rates import services as rates
from lab.lab import Lab
from tests import factories
from tests.db.page_client import signed_in, text
from tests.whole.system import GATEWAYS, INTERNET, conversation, wait_for
from tests.whole.tcp_streams import Speaker, is_rate_limited, wait_until_unlimited

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

LINE, RATE = 10_000, 2000  # kbit/s
SECOND = RATE * 125
HEAVY, LIGHT = "10.16.0.10", "10.16.0.11"


def read(network: factories.Network) -> FairShare:
    """Read both gateways, and adjust the limits."""
    assert all(map(collect_counters, network.gateways))
    adjust_limits(network.group, timezone.now())
    return FairShare.objects.get()


def limited_in_kernels(lab: Lab) -> set[str]:
    """Return which of the two addresses both gateways limit."""
    listed = [lab.run(node, ["nft", "list", "table", "inet", "netzwart"]).stdout for node in GATEWAYS]
    sets = [[part.partition("}\n")[0] for part in text.split("set rate")[1:]] for text in listed]
    return {address for address in (HEAVY, LIGHT) if all(any(f"{address} " in part for part in parts) for parts in sets)}


def test_who_fills_the_line_is_limited_until_it_is_no_longer_full_and_a_neighbour_never(
    lab: Lab, network: factories.Network, settings: LazySettings
) -> None:
    settings.COLLECT_SECONDS = 2.0
    rates.set_uplink(group=network.group, version=0, up_kbit=LINE, down_kbit=LINE, limits_rates=True, by=network.admin)
    FairShare.objects.create(group=network.group, on=True, up_kbit=RATE, down_kbit=RATE, calm_minutes=1)
    reconcile(network.group)
    read(network)
    with conversation(lab, "m2", INTERNET, 443) as goes_on, closing(Speaker(lab, "m1", INTERNET, up=True)) as heavy:
        wait_for(lambda: goes_on() and read(network).since, seconds=90)
        assert heavy.octets > 0
        assert [each.member for each in RateLimit.objects.all()] == [network.residents["m1"].member]
        reconcile(network.group)
        assert limited_in_kernels(lab) == {HEAVY}
        assert "has been full since" in text(signed_in(network.admin).get("/limited/"))
        account = factories.user("heavy", staff=False)
        Member.objects.filter(pk=network.residents["m1"].member.pk).update(user=account)
        assert "the uplink was full" in text(signed_in(account).get("/me/"))
        with closing(Speaker(lab, "m1", INTERNET, up=False)) as more:
            wait_for(lambda: more.octets > 2 * SECOND, seconds=90)
            assert is_rate_limited(more, SECOND)
        with closing(Speaker(lab, "m2", INTERNET, up=False)) as neighbour:
            wait_until_unlimited(neighbour, SECOND)
        assert goes_on()
    wait_for(lambda: read(network).calm_since)
    read(network)
    adjust_limits(network.group, timezone.now() + timedelta(minutes=2))
    assert not RateLimit.objects.filter(is_valid_now()).exists()
    reconcile(network.group)
    assert limited_in_kernels(lab) == set()
    with closing(Speaker(lab, "m1", INTERNET, up=True)) as free:
        wait_until_unlimited(free, SECOND)

"""Fair share of a full uplink: the heaviest members are limited, told so and released. Without readings nobody is limited."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.lib.errors import Conflict, Problem
from apps.members.models import Tariff
from apps.network.models import GatewayGroup
from apps.traffic.counter_collection import draw_ticket, forget_rates, record_reading
from apps.traffic.fairshare.models import FairShare
from apps.traffic.fairshare.selectors import list_releasable_limits, list_uplink_loads
from apps.traffic.fairshare.services import adjust_limits, set_fair_share, switch_fair_share_off
from apps.traffic.models import Collected, RateLimit
from apps.traffic.rates import services as rates
from tests import factories
from tests.counter_factories import reading
from tests.db.page_client import signed_in, text
from workers.collect import share_fairly

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
MBIT = 125_000 * 60  # octets a minute at 1 Mbit/s


def settings_of(**changes: Any) -> dict[str, Any]:
    names = ("on", "start_percent", "end_percent", "calm_minutes", "minutes", "most", "limit_minutes", "up_kbit", "down_kbit")
    return {name: getattr(FairShare(), name) for name in names} | {"on": True, "exempt": []} | changes


def share_uplink(network: factories.Network, **changes: Any) -> FairShare:
    """Share an uplink of 100 Mbit/s fairly. Limited members get 5 Mbit/s."""
    rates.set_uplink(group=network.group, version=0, up_kbit=100_000, down_kbit=100_000, limits_rates=True, by=network.admin)
    return set_fair_share(group=network.group, version=0, by=network.admin, **settings_of(**changes))


class Line:
    """Readings of one gateway, minute by minute, of what residents received. Its counters only grow."""

    def __init__(self, network: factories.Network, gateway: int = 0) -> None:
        self.network, self.gateway, self.at = network, network.gateways[gateway], timezone.now() - 30 * MINUTE
        self.sequence, self.counters = 0, dict.fromkeys(network.residents, 0)
        self.carries({})

    def carries(self, mbits: Mapping[str, float], *, minutes: int = 1) -> None:
        """Let each resident receive that many Mbit/s, and adjust the limits after each minute."""
        for _ in range(minutes):
            self.at += MINUTE
            self.sequence += 1
            for name, rate in mbits.items():
                self.counters[name] += int(rate * MBIT)
            held = {name: (str(each.holding.prefix.network_address), each.holding.pk) for name, each in self.network.residents.items()}
            down = {held[name]: (1, octets) for name, octets in self.counters.items() if octets}
            read = reading(self.sequence, down4=down)
            record_reading(gateway=self.gateway, ticket=draw_ticket(self.gateway), reading=read, at=self.at)
            adjust_limits(self.network.group, self.at)


def list_limited(network: factories.Network) -> list[str]:
    """Return the names of the residents who are limited now."""
    names = {each.member.pk: name for name, each in network.residents.items()}
    return sorted(names[row.member_id] for row in RateLimit.objects.all() if row.valid.upper is None or row.valid.upper > timezone.now())


def test_the_heaviest_is_limited_while_the_line_is_full_and_released_when_it_no_longer_is(network: factories.Network) -> None:
    share = share_uplink(network)
    line = Line(network)
    line.carries({"m1": 60, "m2": 15, "m3": 10}, minutes=3)
    assert list_limited(network) == [], "85 % is not full"
    line.carries({"m1": 70, "m2": 15, "m3": 10})
    assert list_limited(network) == ["m1"]
    made = RateLimit.objects.get()
    assert (made.up_kbit, made.down_kbit, made.reason, made.author) == (5000, 5000, "congestion", None)
    assert made.valid.upper <= timezone.now() + share.limit_minutes * MINUTE, "it ends on the gateways by itself"
    line.carries({"m1": 5, "m2": 80, "m3": 1})
    assert list_limited(network) == ["m1"], "86 % is between the two shares: nobody more, nobody less"
    line.carries({"m1": 5, "m2": 91, "m3": 1})
    assert list_limited(network) == ["m1", "m2"]
    line.carries({"m1": 5, "m2": 5}, minutes=share.calm_minutes)
    assert list_limited(network) == ["m1", "m2"], "not for long enough"
    line.carries({"m1": 5, "m2": 5})
    assert list_limited(network) == []
    assert all(row.released_by is None and row.author is None for row in RateLimit.objects.all())


def test_limits_are_renewed_while_the_line_is_full_and_end_when_nobody_knows_what_passes(network: factories.Network) -> None:
    share_uplink(network)
    line = Line(network)
    line.carries({"m1": 99})
    soon = timezone.now() + MINUTE
    with connection.cursor() as cursor:
        cursor.execute("UPDATE traffic_ratelimit SET valid = tstzrange(lower(valid), %s)", [soon])
    adjust_limits(network.group, line.at + 6 * MINUTE)
    assert RateLimit.objects.get().valid.upper == soon, "nothing was read for six minutes"
    line.carries({"m1": 80})
    assert RateLimit.objects.get().valid.upper > soon + MINUTE


def test_no_more_than_may_be_are_limited_and_whoever_pays_for_it_or_is_limited_otherwise_is_left_out(network: factories.Network) -> None:
    free = Tariff.objects.create(name="Never limited")
    share = share_uplink(network, most=1, exempt=[free])
    of = network.residents
    type(of["m1"].member).objects.filter(pk=of["m1"].member.pk).update(tariff=free)
    rates.limit_member(member=of["m2"].member, up_kbit=None, down_kbit=50_000, reason="quota", by=network.admin)
    line = Line(network)
    line.carries({"m1": 40, "m2": 30, "m3": 20, "m4": 19})
    assert list_limited(network) == ["m2", "m3"], "m1 is exempt, m2 keeps the other limit, and one is as many as may be"
    assert RateLimit.objects.get(member=of["m2"].member).reason == "quota"
    switch_fair_share_off(group=network.group, by=network.admin)
    switch_fair_share_off(group=network.group, by=network.admin)
    assert list_limited(network) == ["m2"]
    share.refresh_from_db()
    assert (share.on, share.since) == (False, None)
    line.carries({"m1": 99})
    assert list_limited(network) == ["m2"], "it is off"


def test_a_limit_of_somebody_whose_account_is_gone_is_no_limit_of_the_rule(network: factories.Network) -> None:
    share_uplink(network)
    other = User.objects.create_user("leaving")
    holder = network.residents["m2"].member
    rates.limit_member(member=holder, up_kbit=None, down_kbit=900, reason="congestion", by=other)
    other.delete()
    Line(network).carries({"m1": 60, "m2": 35}, minutes=3)
    assert list_limited(network) == ["m1", "m2"]
    assert RateLimit.objects.get(member=holder).valid.upper is None


def test_without_a_capacity_or_while_it_is_off_nobody_is_limited(network: factories.Network) -> None:
    share = set_fair_share(group=network.group, version=0, by=network.admin, **settings_of())
    line = Line(network)
    line.carries({"m1": 10_000})
    assert list_limited(network) == []
    rates.set_uplink(group=network.group, version=0, up_kbit=None, down_kbit=100_000, limits_rates=False, by=network.admin)
    line.carries({"m1": 10_000})
    assert list_limited(network) == [], "nobody's rate is limited here"
    rates.switch_rate_limits(group=network.group, on=True, by=network.admin)
    set_fair_share(group=network.group, version=share.version, by=network.admin, **settings_of(on=False))
    line.carries({"m1": 10_000})
    assert list_limited(network) == []
    assert FairShare(group=network.group).on is False, "off by default"


def test_two_readings_at_once_make_no_rate_and_lose_none(network: factories.Network) -> None:
    share_uplink(network)
    line = Line(network)
    line.carries({"m1": 10}, minutes=2)
    line.at -= MINUTE * 0.999
    line.carries({"m1": 6})
    state = Collected.objects.get(gateway=network.gateways[0])
    assert (state.down_bits, state.down_octets) == (10_000_000, 6 * MBIT), "6 Mbit in 60 ms are not 6 Gbit/s"
    line.carries({"m1": 6})
    state.refresh_from_db()
    assert (round(state.down_bits or 0, -5), state.down_octets, list_limited(network)) == (12_000_000, 0, [])


def test_what_a_dead_gateway_carried_is_not_added_to_what_the_other_carries_in_its_place(network: factories.Network) -> None:
    share_uplink(network)
    lines = Line(network), Line(network, 1)
    lines[0].carries({"m1": 50}, minutes=3)
    lines[1].carries({}, minutes=3)
    forget_rates(gateway=network.gateways[0])
    lines[1].carries({"m1": 50}, minutes=3)
    assert list_limited(network) == []
    [up, down] = list_uplink_loads(network.group, lines[1].at)
    assert (up.carried, down.carried) == (0, 50_000_000)


def test_a_group_releases_nobody_whom_another_full_uplink_of_theirs_needs_limited(network: factories.Network) -> None:
    share_uplink(network)
    other = GatewayGroup.objects.create(name="House B")
    rates.set_uplink(group=other, version=0, up_kbit=100_000, down_kbit=100_000, limits_rates=True, by=network.admin)
    set_fair_share(group=other, version=0, by=network.admin, **settings_of())
    pool = factories.pool(other, "private4", "10.99.0.0/24")
    for name, prefix in (("m1", "10.99.0.10/32"), ("m2", "10.99.0.11/32")):
        factories.make_holding(network.residents[name].member, pool, prefix)
    line = Line(network)
    Collected.objects.create(gateway=factories.gateway(other, "far-1"), at=line.at, rated_at=line.at, up_bits=0, down_bits=1000)
    line.carries({"m1": 60, "m2": 35})
    adjust_limits(other, line.at)
    assert list_limited(network) == ["m1"]
    assert not list_releasable_limits(other).exists()
    switch_fair_share_off(group=other, by=network.admin)
    assert list_limited(network) == ["m1"]
    line.carries({"m1": 5}, minutes=6)
    assert list_limited(network) == []


def test_a_task_looks_at_each_group_that_shares(network: factories.Network) -> None:
    share_uplink(network)
    line = Line(network)
    line.at = timezone.now() - 1.5 * MINUTE
    line.carries({})
    gateway = network.gateways[0]
    held = (str(network.residents["m1"].holding.prefix.network_address), network.residents["m1"].holding.pk)
    at = timezone.now() + MINUTE
    record_reading(gateway=gateway, ticket=draw_ticket(gateway), reading=reading(99, down4={held: (1, 500 * MBIT)}), at=at)
    share_fairly()
    share_fairly()
    assert list_limited(network) == ["m1"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"end_percent": 90}, "below the start threshold"), ({"up_kbit": None, "down_kbit": None}, "Enter a download rate")],
)
def test_what_makes_no_sense_is_refused(network: factories.Network, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(Problem, match=words):
        set_fair_share(group=network.group, version=0, by=network.admin, **settings_of(**changes))


@pytest.mark.parametrize(
    "change", ["end_percent = 95", "most = 0", "minutes = 4", "up_kbit = NULL, down_kbit = NULL", "start_percent = 101"]
)
def test_the_database_itself_refuses_nonsense(network: factories.Network, change: str) -> None:
    share_uplink(network)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE traffic_fairshare SET {change}")


def test_two_who_change_it_at_once_are_a_conflict(network: factories.Network) -> None:
    share = share_uplink(network)
    set_fair_share(group=network.group, version=share.version, by=network.admin, **settings_of(most=7))
    for version in (share.version, 0):
        with pytest.raises(Conflict, match="changed by someone else"):
            set_fair_share(group=network.group, version=version, by=network.admin, **settings_of(most=8))
    assert FairShare.objects.get().most == 7


def test_pages_say_that_it_is_full_who_is_limited_why_and_until_when(network: factories.Network, client: Client) -> None:
    client.force_login(network.admin)
    path = f"/fair-share/{network.group.pk}/"
    given = settings_of(down_kbit="5", up_kbit="5", version=0, on="on") | {"exempt": []}
    assert "Fair share cannot work" in text(client.post(path, given, follow=True))
    assert "The end threshold must be below" in text(client.post(path, given | {"version": 1, "end_percent": 99}))
    rates.set_uplink(group=network.group, version=0, up_kbit=100_000, down_kbit=100_000, limits_rates=True, by=network.admin)
    line = Line(network)
    line.at = timezone.now() - 3 * MINUTE
    line.carries({"m1": 20})
    assert "is not full" in text(client.get("/limited/"))
    line.carries({"m1": 97})
    page = text(client.get("/limited/"))
    assert "The uplink of Lindenhof has been full since" in page and "down 97" in page and "1 member with the most traffic" in page
    member = network.residents["m1"].member
    why = "the uplink was full, and this connection was among the heaviest users of the last 10 minutes"
    assert why in text(client.get(f"/members/{member.pk}/"))
    account = factories.user("resident", staff=False)
    type(member).objects.filter(pk=member.pk).update(user=account)
    own = text(signed_in(account).get("/me/"))
    assert "You are connected, with a rate limit" in own and why in own
    assert "The limit of 1 member is released" in text(client.get(f"{path}off/"))
    assert "has been full since" not in text(client.post(f"{path}off/", follow=True))
    assert list_limited(network) == []
    assert signed_in(account).get(path).status_code == signed_in(account).post(f"{path}off/").status_code == 403

"""A member's traffic, for the member and for staff: chart, table, CSV and quota. Gaps are not zero, and other members stay hidden."""

import csv
import io
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.lib.ui.formats import SPACE
from apps.members.models import Member
from apps.traffic import quotas
from apps.traffic.models import Quota
from apps.traffic.rollup import compute_bucket_start
from tests import factories, usage_factories
from tests.db.page_client import queries, signed_in, text

HOUR = timedelta(hours=1)


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def selin(network: factories.Network) -> Client:
    """A client in which the resident of m1 is signed in."""
    account = factories.user("selin", staff=False)
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(user=account)
    return signed_in(account)


@pytest.fixture
def read(network: factories.Network, now: datetime) -> None:
    """Record readings of both gateways for the last three days."""
    usage_factories.read(network.gateways, now - timedelta(days=3), now)


def plain(response: Any) -> str:
    return text(response).replace(SPACE, " ")


def table(response: Any) -> list[list[str]]:
    """Return the cells of a CSV."""
    return list(csv.reader(io.StringIO(b"".join(response.streaming_content).decode().removeprefix("\ufeff"))))


def some(network: factories.Network, at: datetime) -> None:
    """Count usage: m1 receives 3 MB by IPv4 and 5 MB by IPv6 and sends 1 MB, m2 receives 777 MB."""
    usage_factories.count_usage(network.residents["m1"].holding, at, down=3_000_000, up=1_000_000)
    usage_factories.count_usage(network.residents["m1"].prefix, at, down=5_000_000)
    usage_factories.count_usage(network.residents["m2"].holding, at, down=777_000_000)


@pytest.mark.parametrize("window", ["day", "week", "month", "year"])
@pytest.mark.usefixtures("read")
def test_every_window_shows_what_was_received_and_sent_as_figures_svg_and_table(
    network: factories.Network, selin: Client, now: datetime, window: str
) -> None:
    some(network, now - 2 * HOUR)
    page = plain(selin.get("/me/", {"window": window}))
    assert '<dd><b>8.00</b> MB</dd><dd class="nw-key"><span>received</span>' in page
    assert '<dd><b>1.00</b> MB</dd><dd class="nw-key nw-key-b"><span>sent</span>' in page
    assert f'id="window-{window}" href="/me/?window={window}#traffic" hx-get="/me/?window={window}"' in page
    assert page.count('aria-current="true"') == 2
    assert '<path class="nw-a" d="M' in page
    assert '<td class="nw-num">8.00 MB</td><td class="nw-num">1.00 MB</td>' in page


@pytest.mark.usefixtures("read")
def test_one_ip_version_can_be_shown_alone_and_both_are_summed_up(network: factories.Network, selin: Client, now: datetime) -> None:
    some(network, now - 2 * HOUR)
    page = plain(selin.get("/me/", {"family": "6"}))
    assert '<dd><b>5.00</b> MB</dd><dd class="nw-key"><span>received</span>' in page
    for version, down, both in (("IPv4", "3.00 MB", "4.00 MB"), ("IPv6", "5.00 MB", "5.00 MB"), ("both", "8.00 MB", "9.00 MB")):
        row = page.split(f'<th scope="row">{version}</th>')[1].split("</tr>")[0]
        assert down in row
        assert both in row


@pytest.mark.usefixtures("read")
def test_the_fragment_is_the_card_alone(network: factories.Network, selin: Client, now: datetime) -> None:
    some(network, now - 2 * HOUR)
    fragment = text(selin.get("/me/?window=week", headers={"HX-Request": "true", "HX-Target": "traffic"}))
    assert fragment.strip().startswith("<section")
    assert 'id="window-week" href="/me/?window=week#traffic"' in fragment
    assert "<html" not in fragment
    assert "My open ports" not in fragment


@pytest.mark.usefixtures("read")
def test_the_csv_has_every_bucket_with_octets_as_they_are(network: factories.Network, selin: Client, now: datetime) -> None:
    some(network, now - 2 * HOUR)
    response = selin.get("/me/traffic.csv?window=day")
    assert response["Content-Disposition"].startswith(f'attachment; filename="traffic-M-{network.residents["m1"].member.number}-day-')
    head, *cells = table(response)
    assert head == ["Begins", "Ends", "IPv4 down, bytes", "IPv4 up, bytes", "IPv6 down, bytes", "IPv6 up, bytes", "Remark"]
    assert len(cells) == 288
    begin = compute_bucket_start("fiveminutes", now - 2 * HOUR)
    of_it = [begin.isoformat(), (begin + usage_factories.FIVE).isoformat(), "3000000", "1000000", "5000000", "0", ""]
    assert [row for row in cells if row[2] not in ("0", "")] == [of_it]


def test_what_nobody_read_is_a_gap_on_the_page_and_in_the_csv_and_what_was_read_without_traffic_is_zero(
    network: factories.Network, selin: Client, now: datetime
) -> None:
    usage_factories.read(network.gateways, now - 30 * HOUR, now - 10 * HOUR)
    usage_factories.read(network.gateways, now - 6 * HOUR, now)
    some(network, now - 2 * HOUR)
    page = text(selin.get("/me/?window=day"))
    assert page.count('<rect class="nw-gap"') == 1
    assert '<td class="nw-num">no reading</td>' in page
    remarks = [row[6] for row in table(selin.get("/me/traffic.csv?window=day"))[1:]]
    assert remarks.count("no reading") in (47, 48)
    cells = table(selin.get("/me/traffic.csv?window=day"))[1:]
    assert {tuple(row[2:6]) for row in cells if row[6]} == {("", "", "", "")}
    assert ("0", "0", "0", "0") in {tuple(row[2:6]) for row in cells}


def test_before_anything_was_counted_the_page_says_so_instead_of_an_empty_chart(selin: Client) -> None:
    page = text(selin.get("/me/"))
    assert "Nothing has been counted yet" in page
    assert "nw-plot" not in page


@pytest.mark.usefixtures("read")
def test_it_is_compared_with_the_window_before_once_that_was_counted_whole(
    network: factories.Network, selin: Client, now: datetime
) -> None:
    usage_factories.count_usage(network.residents["m1"].holding, now - 40 * HOUR, down=4_000_000)
    some(network, now - 2 * HOUR)
    assert "Counting began on " in text(selin.get("/me/?window=day"))
    usage_factories.count_usage(network.residents["m1"].holding, now - 60 * HOUR, down=1)
    assert "125 % more than in the 24 hours before (4.00 MB)." in plain(selin.get("/me/?window=day"))
    assert "Counting began on " in text(selin.get("/me/?window=week"))


@pytest.mark.usefixtures("read")
@pytest.mark.parametrize("asked", ["member=2", "pk=2", "id=2", "holding=3&member=M-2"])
def test_a_member_gets_only_the_own_traffic_whatever_is_asked(network: factories.Network, selin: Client, now: datetime, asked: str) -> None:
    some(network, now - 2 * HOUR)
    other = network.residents["m2"].member
    query = asked.replace("2", str(other.pk)).replace("3", str(network.residents["m2"].holding.pk))
    page = plain(selin.get(f"/me/?{query}"))
    assert "777 MB" not in page and "777000000" not in page  # "777" alone also occurs in the times of charts
    assert all("777000000" not in row for row in table(selin.get(f"/me/traffic.csv?{query}")))
    for path in ("traffic/", "traffic.csv"):
        for member in (other, network.residents["m1"].member):
            assert selin.get(f"/members/{member.pk}/{path}").status_code == 403
    assert selin.get("/traffic/talkers.csv").status_code == 403
    assert selin.get(f"/api/traffic/members/{other.pk}/").status_code == 403


@pytest.mark.usefixtures("read")
def test_staff_see_the_panel_alone_and_on_the_member_s_page_once_they_reach_it(network: factories.Network, now: datetime) -> None:
    some(network, now - 2 * HOUR)
    admin, pk = signed_in(network.admin), network.residents["m1"].member.pk
    page = plain(admin.get(f"/members/{pk}/"))
    assert f'id="traffic" hx-get="/members/{pk}/traffic/" hx-trigger="load"' in page
    assert f'<a href="/members/{pk}/traffic/">Show the traffic</a>' in page
    fragment = plain(admin.get(f"/members/{pk}/traffic/", headers={"HX-Request": "true", "HX-Target": "traffic"}))
    assert fragment.strip().startswith("<section")
    for shown in (fragment, plain(admin.get(f"/members/{pk}/traffic/?window=day"))):
        assert '<dd><b>8.00</b> MB</dd><dd class="nw-key"><span>down</span>' in shown
        assert f'href="/members/{pk}/traffic/?window=year#traffic"' in shown
    cells = table(admin.get(f"/members/{pk}/traffic.csv?window=week"))
    assert len(cells) == 169
    assert admin.get("/members/999999/traffic/").status_code == 404


@pytest.mark.usefixtures("read")
@pytest.mark.parametrize(
    ("octets", "said"), [(900_000_000, "<b>Quota</b>"), (10_000_000, "Quota nearly used up"), (9_000_000, "Quota used up")]
)
def test_a_quota_is_a_bar_with_words(network: factories.Network, selin: Client, now: datetime, octets: int, said: str) -> None:
    assert "nw-quota" not in text(selin.get("/me/"))
    member = network.residents["m1"].member
    quotas.set_tariff_quota(tariff=member.tariff, octets=octets, by=network.admin)
    some(network, now)
    page = plain(selin.get("/me/"))
    assert said in page
    assert f"9.00 MB of {octets // 1_000_000}" in page
    assert '<svg class="nw-meter nw-' in page


@pytest.mark.usefixtures("read")
def test_a_quota_begins_again_with_the_month_by_the_clock_on_the_wall(network: factories.Network, now: datetime) -> None:
    member = network.residents["m1"].member
    Quota.objects.create(tariff=member.tariff, octets=100)
    _since, next_one = quotas.compute_month_bounds(now)
    since, until = quotas.compute_month_bounds(next_one + HOUR)
    assert (since, timezone.localtime(since).day, timezone.localtime(since).hour, timezone.localtime(until).day) == (next_one, 1, 0, 1)
    usage_factories.count_usage(network.residents["m1"].holding, since - timedelta(minutes=1), down=50)
    usage_factories.count_usage(network.residents["m1"].holding, since, down=7)
    found = quotas.find_quota_usage(member, now=since + HOUR)
    assert found is not None
    assert (found.used, found.percent) == (7, 7)


@pytest.mark.usefixtures("read")
@pytest.mark.parametrize("count", [1, 150])
def test_the_page_takes_as_many_queries_for_a_long_history_as_for_a_short_one(
    network: factories.Network, selin: Client, now: datetime, count: int
) -> None:
    Quota.objects.create(tariff=network.residents["m1"].member.tariff, octets=100)
    for ago in range(count):
        usage_factories.count_usage(network.residents["m1"].holding, now - ago * usage_factories.FIVE, down=50)
        usage_factories.read(network.gateways, now - timedelta(days=9, minutes=ago), now - timedelta(days=9))
    assert queries(selin, "/me/?window=year") <= 31  # four of them for the months

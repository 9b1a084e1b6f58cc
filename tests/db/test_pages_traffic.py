"""Traffic for staff: gateways, top talkers, sums, quotas, their CSVs, and the API."""

import csv
import io
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.lib.ui.formats import SPACE
from apps.members.models import Member, Room, Site
from apps.traffic.models import Quota
from tests import factories, usage_factories
from tests.db.page_client import queries, signed_in, text

HOUR = timedelta(hours=1)
NAMES = {"m1": "Ada", "m2": "Berta", "m3": "=cmd|' /C calc'!A0"}


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def admin(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def busy(network: factories.Network, now: datetime) -> datetime:
    """The moment two hours ago at which Ada received most, Berta sent most, and a third member had a little."""
    usage_factories.read(network.gateways, now - timedelta(days=3), now)
    at = now - 2 * HOUR
    for (host, name), (down, up) in zip(NAMES.items(), ((90, 1), (20, 30), (5, 2)), strict=True):
        Member.objects.filter(pk=network.residents[host].member.pk).update(name=name)
        usage_factories.count_usage(network.residents[host].holding, at, down=down * 10**6, up=up * 10**6)
    return at


def plain(response: Any) -> str:
    return text(response).replace(SPACE, " ")


def table(response: Any) -> list[list[str]]:
    return list(csv.reader(io.StringIO(b"".join(response.streaming_content).decode().removeprefix("\ufeff"))))


def format_input(at: datetime) -> str:
    """Return the time as the form takes it. With its offset, so that daylight saving time does not matter."""
    return at.isoformat()


def list_ranked(page: str) -> list[str]:
    """Return the names in the order of the page."""
    return sorted((name for name in ("Ada", "Berta") if f">{name}</a>" in page), key=lambda name: page.index(f">{name}</a>"))


def test_the_greatest_talkers_are_sorted_by_what_one_presses(admin: Client, busy: datetime) -> None:
    page = plain(admin.get("/traffic/talkers/"))
    assert list_ranked(page) == ["Ada", "Berta"]
    assert 'aria-sort="descending"><a href="?sort=both">' in page
    assert "91.0 MB" in page
    assert list_ranked(plain(admin.get("/traffic/talkers/?sort=up"))) == ["Berta", "Ada"]
    assert list_ranked(plain(admin.get("/traffic/talkers/?sort=down"))) == ["Ada", "Berta"]


def test_any_window_can_be_asked_for(admin: Client, busy: datetime, now: datetime) -> None:
    inside = {"since": format_input(busy - HOUR), "until": format_input(busy + HOUR)}
    assert list_ranked(plain(admin.get("/traffic/talkers/", inside))) == ["Ada", "Berta"]
    after = plain(admin.get("/traffic/talkers/", {"since": format_input(busy + 10 * usage_factories.FIVE)}))
    assert "No traffic" in after
    assert [row[1] for row in table(admin.get("/traffic/talkers.csv", inside))[1:]][:2] == ["Ada", "Berta"]


@pytest.mark.parametrize("path", ["/traffic/talkers/", "/traffic/sums/", "/traffic/talkers.csv", "/traffic/sums.csv"])
def test_a_window_that_cannot_be_is_explained_at_its_field_and_shows_nothing(admin: Client, busy: datetime, path: str) -> None:
    for asked, said in (
        ({"since": format_input(busy), "until": format_input(busy - HOUR)}, "“To” must be after “From”."),
        ({"since": format_input(busy + timedelta(days=2))}, "This time is in the future."),
        ({"since": "2001-01-01T00:00"}, "is no longer kept."),
        ({"until": format_input(busy)}, "Fill in “From”, too."),
        ({"since": "yesterday"}, "Enter a valid date/time."),
    ):
        response = admin.get(path, asked)
        assert response.status_code == 422, asked
        page = text(response)
        assert said in page
        assert 'aria-invalid="true"' in page
        assert "Ada" not in page


@pytest.mark.usefixtures("busy")
def test_sums_are_by_site_room_or_tariff(admin: Client, network: factories.Network) -> None:
    site = Site.objects.create(name="House A", code="A")
    room = Room.objects.create(site=site, floor=1, name="101")
    Member.objects.filter(name__in=("Ada", "Berta")).update(room=room)
    for by, name, members in (("site", "House A", "2"), ("room", "A-101", "2"), ("tariff", "Standard", "3")):
        found = table(admin.get(f"/traffic/sums.csv?by={by}"))
        assert found[1][:2] == [name, members]
        page = plain(admin.get(f"/traffic/sums/?by={by}"))
        assert f">{name}</th>" in page
        assert f'href="?by={by}" aria-current="true"' in page
    assert table(admin.get("/traffic/sums.csv?by=site"))[1:] == [
        ["House A", "2", "110000000", "31000000", "141000000"],
        ["none", "1", "5000000", "2000000", "7000000"],
    ]


@pytest.mark.usefixtures("busy")
def test_no_cell_of_a_csv_is_run_by_a_spreadsheet(admin: Client) -> None:
    assert table(admin.get("/traffic/talkers.csv"))[3][1] == f"'{NAMES['m3']}"


def test_gateways_show_bits_and_packets_a_second_by_ip_version_and_gaps(admin: Client, network: factories.Network, now: datetime) -> None:
    first, second = network.gateways
    usage_factories.read([first], now - 30 * HOUR, now)
    usage_factories.read([second], now - 30 * HOUR, now - 20 * HOUR)
    usage_factories.count_throughput(first, 4, now - 2 * HOUR, down=300_000_000, up=30_000_000)
    page = plain(admin.get("/traffic/"))
    assert f'id="way-{first.pk}-4"' in page
    assert '<td class="nw-num">8.00 Mbit/s</td><td class="nw-num">800 kbit/s</td>' in page
    assert "No IPv6 traffic here in this time." in page
    assert "300 MB down, 30.0 MB up in all" in page
    assert "No IPv4 traffic here while readings came in." in page
    assert '<td class="nw-num">no reading</td>' in plain(admin.get("/traffic/?window=week")).split(f'id="way-{first.pk}-4"')[1]
    packets = plain(admin.get("/traffic/?measure=packets"))
    assert '<td class="nw-num">1.00 k/s</td><td class="nw-num">100 /s</td>' in packets
    found = table(admin.get("/traffic/throughput.csv?window=day"))
    assert found[0][4:] == ["Down, bit/s", "Up, bit/s", "Down, packets/s", "Up, packets/s", "Remark"]
    assert len([row for row in found if row[4:] == ["8000000.0", "800000.0", "1000.0", "100.0", ""]]) == 1
    assert {row[8] for row in found if row[0] == second.name} == {"", "no reading", "a part was not read"}


@pytest.mark.usefixtures("busy")
def test_the_first_page_says_how_many_are_limited_and_leads_there(admin: Client) -> None:
    page = text(admin.get("/traffic/"))
    assert 'href="/limited/"' in page
    assert "0 members limited now" in page


def test_who_is_near_the_quota_or_over_it_is_listed_the_fullest_first(admin: Client, network: factories.Network, busy: datetime) -> None:
    assert "No tariff has a quota" in text(admin.get("/traffic/quotas/"))
    tariff = network.residents["m1"].member.tariff
    assert admin.post(f"/traffic/quotas/{tariff.pk}/", {"gigabytes": "0.06"}).status_code == 302
    found = table(admin.get("/traffic/quotas.csv"))
    in_this_month = timezone.localtime(busy).month == timezone.localtime().month
    assert [row[0] for row in found[1:]] == (["Ada", "Berta"] if in_this_month else [])
    page = plain(admin.get("/traffic/quotas/"))
    assert ("1 member is over the quota." in page) is in_this_month
    assert "60.0 MB" in page


def test_a_quota_is_set_changed_and_taken_away(admin: Client, network: factories.Network) -> None:
    tariff = network.residents["m1"].member.tariff
    path = f"/traffic/quotas/{tariff.pk}/"
    admin.post(path, {"gigabytes": "250.5"})
    assert Quota.objects.get().octets == 250_500_000_000
    assert 'value="250.5"' in text(admin.get(path))
    for wrong in ("0", "-1", "many", "1000000000"):
        response = admin.post(path, {"gigabytes": wrong})
        assert response.status_code == 422
        assert 'aria-invalid="true"' in text(response)
    assert Quota.objects.get().octets == 250_500_000_000
    admin.post(path, {"gigabytes": ""})
    assert not Quota.objects.exists()


@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.usefixtures("busy")
def test_pages_take_as_many_queries_for_few_members_as_for_many(
    admin: Client, network: factories.Network, now: datetime, count: int
) -> None:
    Quota.objects.create(tariff=network.residents["m1"].member.tariff, octets=1)
    for number in range(count):
        holding = factories.make_holding(factories.member(f"Further {number}"), network.private, f"10.16.9.{number}/32")
        usage_factories.count_usage(holding, now - HOUR, down=1000)
    most = {"/traffic/": 37, "/traffic/talkers/": 39, "/traffic/sums/?by=room": 39, "/traffic/quotas/": 42}
    took = {path: queries(admin, path) for path in most}
    assert {path: number for path, number in took.items() if number > most[path]} == {}

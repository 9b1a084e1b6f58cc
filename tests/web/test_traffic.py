"""Pages of traffic for a member and an administrator, with and without JavaScript."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.members.models import Member
from tests import factories, usage_factories
from tests.web.conftest import sign_in, signed_in

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("whole"), pytest.mark.django_db(transaction=True)]

HOUR = timedelta(hours=1)


@pytest.fixture
def counted_network(transactional_db: None) -> factories.Network:
    """A network in which Selin received most and Jonas sent most two hours ago, after some hours without readings."""
    network, now = factories.network(), timezone.now()
    for host, name in (("m1", "Selin Kaya"), ("m2", "Jonas Brandt")):
        Member.objects.filter(pk=network.residents[host].member.pk).update(name=name)
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(user=factories.user("selin", staff=False))
    usage_factories.read(network.gateways, now - 30 * HOUR, now - 12 * HOUR)
    usage_factories.read(network.gateways, now - 6 * HOUR, now)
    _hours(network, now)
    return network


def _hours(network: factories.Network, now: datetime) -> None:
    for ago in range(2, 5):
        usage_factories.count_usage(network.residents["m1"].holding, now - ago * HOUR, down=ago * 10**9, up=10**8)
        usage_factories.count_usage(network.residents["m2"].holding, now - ago * HOUR, down=10**6, up=10**9)
        usage_factories.count_throughput(network.gateways[0], 4, now - ago * HOUR, down=ago * 10**9, up=10**8)


def test_a_member_chooses_a_year_opens_the_table_and_saves_the_csv(page: Page, counted_network: factories.Network) -> None:
    sign_in(page, "selin", lands="/me/")
    traffic = page.locator("#traffic")
    expect(traffic.locator(".uplot canvas")).to_be_visible()
    expect(traffic.locator(".nw-gap-key")).to_have_count(1)
    traffic.get_by_role("link", name="A year").click()
    expect(traffic.get_by_role("link", name="A year")).to_have_attribute("aria-current", "true")
    page.wait_for_url("/me/?window=year")
    expect(traffic.locator(".uplot canvas")).to_be_visible()
    traffic.get_by_text("Show as table").first.click()
    expect(traffic.locator("figure .nw-as-table tbody tr")).to_have_count(365)
    with page.expect_download() as saving:
        traffic.get_by_role("link", name="CSV", exact=True).click()
    lines = Path(saving.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert saving.value.suggested_filename.startswith(f"traffic-M-{counted_network.residents['m1'].member.number}-year-")
    assert len(lines) == 366
    page.reload()
    expect(traffic.get_by_role("link", name="A year")).to_have_attribute("aria-current", "true")


def test_an_admin_sorts_the_top_talkers_and_asks_for_another_time(page: Page, counted_network: factories.Network) -> None:
    sign_in(page)
    page.get_by_role("navigation", name="Sections").get_by_role("link", name="Traffic").click()
    expect(page.locator(".uplot canvas").first).to_be_visible()
    page.get_by_role("link", name="Top talkers").click()
    first = page.locator("tbody tr").first
    expect(first).to_contain_text("Selin Kaya")
    page.get_by_role("columnheader", name="Up").get_by_role("link").click()
    expect(first).to_contain_text("Jonas Brandt")
    expect(page.get_by_role("columnheader", name="Up")).to_have_attribute("aria-sort", "descending")
    page.get_by_label("From").fill("2100-01-01T00:00")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("This time is in the future.")).to_be_visible()
    expect(page.get_by_label("From")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("tbody tr")).to_have_count(0)


def test_without_javascript_there_are_svg_table_and_links(
    chromium: Browser, live_server: LiveServer, counted_network: factories.Network
) -> None:
    resident = counted_network.residents["m1"].member
    resident.refresh_from_db()
    assert resident.user is not None
    for user, path in (
        (resident.user, "/me/"),
        (counted_network.admin, f"/members/{resident.pk}/traffic/"),
        (counted_network.admin, "/traffic/"),
    ):
        context = signed_in(chromium, live_server, user, java_script_enabled=False)
        page = context.new_page()
        page.goto(path)
        figure = page.locator("figure").first
        expect(figure.locator("svg.nw-plot")).to_be_visible()
        expect(figure.locator("path.nw-a")).to_have_count(1)
        expect(page.locator("canvas")).to_have_count(0)
        figure.get_by_text("Show as table").click()
        expect(figure.get_by_text("no reading").last).to_be_visible()
        page.get_by_role("link", name="7 days").click()
        expect(page.get_by_role("link", name="7 days")).to_have_attribute("aria-current", "true")
        context.close()

"""A member opens a port without an administrator, and it works: real gateways, real packets."""

import pytest
from playwright.sync_api import Page, expect

from apps.members.models import Member
from apps.nat.pinholes.services import add_pinhole
from lab.lab import Lab
from tests import factories
from tests.web.conftest import sign_in
from tests.whole.system import must_reach, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.browser, pytest.mark.xdist_group("whole")]


def test_a_member_opens_a_port_closes_it_and_undoes_that(page: Page, lab: Lab, network: factories.Network, working: None) -> None:
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(user=factories.user("selin", staff=False))
    sign_in(page, "selin", lands="/me/")
    expect(page.get_by_role("heading", name="You are connected")).to_be_visible()
    page.get_by_role("link", name="Open a port").click()
    page.get_by_label("Public port").fill("8443")
    page.get_by_label("Device port").fill("443")
    page.get_by_label("What for").fill("Nextcloud")
    page.get_by_role("button", name="Open the port").click()
    expect(page.get_by_role("status").get_by_text("Active, ")).to_be_visible()
    answer = must_reach(lab, "internet", "198.51.100.7", 8443)
    assert (answer.node, answer.port) == ("m1", 443)

    page.get_by_role("link", name="Close TCP 8443").click()
    page.get_by_role("dialog").get_by_role("button", name="Close port 8443").click()
    expect(page.get_by_text("after you asked.")).to_be_visible()
    assert reaches(lab, "internet", "198.51.100.7", 8443) is None

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").get_by_text("Active, ")).to_be_visible()
    wait_for(lambda: reaches(lab, "internet", "198.51.100.7", 8443))


def test_the_longest_address_pushes_no_page_sideways_on_the_smallest_phone(page: Page, transactional_db: None) -> None:
    network = factories.network()
    who = network.residents["m1"]
    Member.objects.filter(pk=who.member.pk).update(user=factories.user("selin", staff=False))
    add_pinhole(holding=who.prefix, address=who.prefix.prefix[0x1000200030004000], protocol="tcp", port=443, by=network.admin)
    page.set_viewport_size({"width": 320, "height": 720})
    sign_in(page, "selin", lands="/me/")
    for path in ("/me/", "/me/pinholes/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") == 320, path

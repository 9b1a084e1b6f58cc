"""The live trace in a browser, on a real gateway: the page updates itself, and stops at the end."""

import pytest
from playwright.sync_api import Page, expect

from apps.deployments.services import reconcile
from lab.lab import Lab
from tests import factories
from tests.web.conftest import sign_in
from tests.whole.system import INTERNET, must_reach

pytestmark = [pytest.mark.browser, pytest.mark.kernel, pytest.mark.xdist_group("whole")]


def test_a_members_packet_appears_while_one_watches(lab: Lab, network: factories.Network, page: Page) -> None:
    reconcile(network.group)
    member = network.residents["m1"].member
    sign_in(page)
    page.goto(f"/why/live/?source=M-{member.number}&protocol=tcp&port=443&seconds=30&most=5")
    page.get_by_role("button", name="Watch", exact=True).click()
    expect(page.get_by_text("nat-1 is watching.")).to_be_visible()
    must_reach(lab, "m1", INTERNET, 443)
    expect(page.get_by_role("heading", name="Packet 1", exact=True)).to_be_visible()
    expect(page.locator("#packet-1").get_by_text("Went through.")).to_be_visible()
    page.locator("#packet-1 summary").click()
    expect(page.locator("#packet-1 mark")).to_contain_text("198.51.100.")
    expect(page.get_by_text("packets seen on nat-1")).to_be_visible()
    page.get_by_role("link", name="What should happen to it?").first.click()
    expect(page.get_by_role("heading", name="The packet’s path")).to_be_visible()

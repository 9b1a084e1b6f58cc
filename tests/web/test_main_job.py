"""The main task of an administrator: open a port on a page, see both gateways confirm, and reach the member's host."""

import pytest
from playwright.sync_api import Page, expect

from lab.lab import Lab
from tests import factories
from tests.web.conftest import sign_in
from tests.whole.system import INTERNET, must_reach, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.browser, pytest.mark.xdist_group("whole")]


def fill(page: Page, public_port: int, private_port: int, purpose: str = "Nextcloud") -> None:
    form = page.locator("#forward-form")
    form.get_by_label("Public port").fill(str(public_port))
    form.get_by_label("Device port").fill(str(private_port))
    form.get_by_label("What for").fill(purpose)
    form.get_by_role("button", name="Save and deploy").click()


def test_an_admin_opens_a_port_and_closes_it_again(page: Page, lab: Lab, network: factories.Network, working: None) -> None:
    resident = network.residents["m1"].member
    sign_in(page)
    page.goto(f"/members/{resident.pk}/")
    fill(page, 8443, 443)
    expect(page.get_by_text("is up to date on all gateways")).to_be_visible()
    expect(page.get_by_role("row", name="TCP 8443")).to_contain_text("both")

    answer = must_reach(lab, "internet", "198.51.100.7", 8443)
    assert (answer.node, answer.port, answer.peer_address) == ("m1", 443, INTERNET)

    page.get_by_role("row", name="TCP 8443").get_by_role("link", name="Remove").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("port 443 of 10.16.0.10 (Nextcloud) is no longer reachable from the internet")
    dialog.get_by_role("button", name="Close port 8443").click()
    expect(page.get_by_text("is closed on all gateways")).to_be_visible()
    assert reaches(lab, "internet", "198.51.100.7", 8443) is None

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("is up to date on all gateways")).to_be_visible()
    wait_for(lambda: reaches(lab, "internet", "198.51.100.7", 8443))


def test_a_taken_port_is_explained_at_its_field_and_a_free_one_is_one_press_away(
    page: Page, lab: Lab, network: factories.Network, working: None
) -> None:
    sign_in(page)
    page.goto(f"/members/{network.residents['m1'].member.pk}/")
    fill(page, 25565, 25565, "Minecraft")
    expect(page.get_by_text("is up to date on all gateways")).to_be_visible()

    page.goto(f"/members/{network.residents['m2'].member.pk}/")
    fill(page, 25565, 25565, "Minecraft with the floor")
    field = page.locator("#forward-form").get_by_label("Public port")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#forward-form")).to_contain_text("is held by forward")
    expect(page.locator("#forward-form").get_by_label("What for")).to_have_value("Minecraft with the floor")
    page.get_by_role("button", name="Use 25566").click()
    expect(page.get_by_text("is up to date on all gateways")).to_be_visible()
    answer = must_reach(lab, "internet", "198.51.100.7", 25566)
    assert answer.node == "m2"

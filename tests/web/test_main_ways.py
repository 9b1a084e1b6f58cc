"""The main path on each page with settings or objects: add, see it active, remove. Two gateways in memory; changes are deployed at once."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.bans.feed_refresh import refresh_feed
from apps.bans.models import BanList, Block
from apps.deployments.services import reconcile
from apps.nat.services import add_forward
from tests import factories
from tests.db.conftest import served_network
from tests.fake_http import FakeAnswer, Server, serving
from tests.web.conftest import is_answer_to_form, signed_in

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("whole")]

__all__ = ["served_network"]
MOST_TABS = 80
SETTINGS = (("limits", "New connections of a member per second", "50", "0"), ("protection", "BGP neighbours", "192.0.2.1", ""))


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A feed on loopback, which the portal is allowed to fetch."""
    monkeypatch.setattr("django.conf.settings.FEED_PRIVATE", True)
    with serving(FakeAnswer(body=b"203.0.113.66 # scans\n")) as running:
        yield running


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until the element has the focus."""
    for _press in range(MOST_TABS):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"{wanted} is not reached with Tab")


def wait_deployed(page: Page, network: factories.Network) -> None:
    """Deploy what was saved, and reload the page."""
    assert reconcile(network.group, by=network.admin.pk)
    page.reload()


def test_what_staff_sets_is_added_shown_as_active_and_taken_back(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network, feed: Server
) -> None:
    assert reconcile(served_network.group)
    context = signed_in(chromium, live_server, served_network.admin, locale="en-GB")
    page, group = context.new_page(), served_network.group.pk

    # The allow list, with the keyboard alone.
    page.goto("/bans/allowed/")
    tab_to(page, page.get_by_label("Address or prefix"))
    page.keyboard.type("203.0.113.66")
    tab_to(page, page.get_by_label("Comment"))
    page.keyboard.type("our mirror")
    page.keyboard.press("Enter")
    expect(page.get_by_text("no ban affects 203.0.113.66 any more")).to_be_visible()
    wait_deployed(page, served_network)
    expect(page.get_by_role("row", name="203.0.113.66")).to_contain_text("both")
    tab_to(page, page.get_by_role("link", name="Remove 203.0.113.66…"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("203.0.113.66")
    tab_to(page, page.get_by_role("dialog").get_by_role("button", name="Remove from the list"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("is no longer on the allow list")).to_be_visible()

    # A pool, and its sharing.
    page.goto("/addresses/")
    page.get_by_role("link", name="Add pool").click()
    page.get_by_label("Name", exact=True).fill("House C")
    page.get_by_label("Kind").select_option("public4")
    page.get_by_label("Prefix", exact=True).fill("192.0.2.0/25")
    page.get_by_label("How members use public IPv4").select_option("shared")
    page.get_by_role("button", name="Add pool").click()
    expect(page.get_by_role("row", name="House C")).to_contain_text("shared")
    page.get_by_role("link", name="House C").click()
    edit = page.get_by_role("link", name="Edit").get_attribute("href") or ""
    for sharing in ("own", "shared"):
        page.goto(edit)
        page.get_by_label("How members use it").select_option(sharing)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("button", name="Save")).to_have_count(0)
        page.goto(edit)
        expect(page.get_by_label("How members use it")).to_have_value(sharing)

    # Limits and protection of the group.
    for path, field, value, before in SETTINGS:
        page.goto(f"/gateways/groups/{group}/{path}/")
        for wanted in (value, before):
            page.get_by_label(field).fill(wanted)
            with page.expect_response(is_answer_to_form):
                page.get_by_role("button", name="Save").click()
            page.goto(f"/gateways/groups/{group}/{path}/")
            wait_deployed(page, served_network)
            expect(page.get_by_label(field)).to_have_value(wanted)
            expect(page.get_by_role("complementary")).to_contain_text("since")

    # A listener.
    page.goto("/bans/listeners/")
    page.get_by_label("Name", exact=True).fill("Name server")
    page.get_by_label("Address", exact=True).fill("192.0.2.200")
    page.get_by_label("Protocol").select_option("udp")
    page.get_by_label("Port", exact=True).fill("53")
    page.get_by_role("button", name="Add listener").click()
    expect(page.get_by_role("row", name="Name server")).to_be_visible()
    wait_deployed(page, served_network)
    expect(page.get_by_role("row", name="Name server")).to_contain_text("both")
    page.get_by_role("link", name="Remove Name server…").click()
    page.get_by_role("dialog").get_by_role("button").first.click()
    expect(page.get_by_text("No listener yet")).to_be_visible()

    # A feed.
    banlist = BanList.objects.create(name="Scanners")
    page.goto(f"/bans/{banlist.pk}/")
    page.get_by_role("link", name="Feed…").click()
    page.get_by_label("Address").fill(feed.url())
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#feed")).to_be_visible()
    banlist.refresh_from_db()
    assert refresh_feed(banlist.feed.pk)
    expect(page.locator("#feed")).to_contain_text("1 added, 0 lifted, 0 unchanged")  # the page reloads itself at the end of the refresh
    wait_deployed(page, served_network)
    expect(page.get_by_role("row", name="203.0.113.66")).to_contain_text("both")
    page.locator("#feed").get_by_role("link", name="Change").click()
    page.get_by_role("link", name="Remove feed…").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove feed").click()
    expect(page.locator("#feed")).to_have_count(0)
    expect(page.get_by_role("row", name="203.0.113.66")).to_be_visible()
    context.close()


def test_each_kind_of_form_works_without_javascript(chromium: Browser, live_server: LiveServer, served_network: factories.Network) -> None:
    holding = served_network.residents["m1"].holding
    forward = add_forward(
        holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, by=served_network.admin
    )
    context = signed_in(chromium, live_server, served_network.admin, locale="en-GB", java_script_enabled=False)
    page = context.new_page()

    # A form in a table, and its confirmation.
    page.goto("/bans/allowed/")
    page.get_by_label("Address or prefix").fill("203.0.113.66")
    page.get_by_role("button", name="Allow", exact=True).click()
    page.get_by_role("link", name="Remove 203.0.113.66…").click()
    page.get_by_role("button", name="Remove from the list").click()
    expect(page.get_by_text("No allow entry yet")).to_be_visible()

    # A page of settings, with an error at its field.
    page.goto(f"/gateways/groups/{served_network.group.pk}/limits/")
    page.get_by_label("New connections of a member per second").fill("-1")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("New connections of a member per second")).to_have_attribute("aria-invalid", "true")

    # A page that edits one object: a taken port, and the offered one.
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=9443, private_port=443, by=served_network.admin)
    page.goto(f"/members/{holding.member_id}/")
    page.get_by_role("link", name=f"Edit {forward}").click()
    page.get_by_label("Public port").fill("9443")
    page.get_by_role("button", name="Save and deploy").click()
    page.get_by_role("button", name="Use 9444").click()
    expect(page.get_by_role("row", name="TCP 9444")).to_be_visible()
    expect(page.get_by_role("row", name="TCP 8443")).to_have_count(0)

    # Many at once, with a preview.
    page.goto("/members/")
    for name in ("Resident of m1", "Resident of m2"):
        page.get_by_label(f"Select {name}").check()
    page.get_by_role("button", name="Block…").click()
    page.get_by_label("Reason").select_option("unpaid")
    page.get_by_role("button", name="Block 2 members").click()
    expect(page.get_by_text("2 members are blocked.")).to_be_visible()
    expect(page.get_by_role("row", name="Resident of m1")).to_contain_text("Blocked")
    assert Block.objects.filter(reason="unpaid").count() == 2
    context.close()

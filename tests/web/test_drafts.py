"""What was typed, in a browser: it comes back where it was not saved, and only there."""

import pytest
from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY
from django.conf import LazySettings
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.bans.models import BanList
from apps.members.models import Site
from apps.nat.services import add_forward
from tests import factories
from tests.db import page_client
from tests.db.conftest import served_network
from tests.web.conftest import end_sessions, sign_in, signed_in
from tests.web.test_signing_in import add_passkey

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("whole")]
__all__ = ["served_network"]


def expect_nothing_back(page: Page) -> None:
    expect(page.get_by_text("Your text that was not saved is back.")).to_be_hidden()


# --- Forms whose answer takes their place


def open_forward_form(chromium: Browser, live_server: LiveServer, network: factories.Network) -> Locator:
    """Sign in as an administrator, and return the form for a new forward on a member's page."""
    page = signed_in(chromium, live_server, network.admin).new_page()
    page.goto(f"/members/{network.residents['m1'].member.pk}/")
    return page.locator("#forward-form")


def test_a_forward_that_was_saved_does_not_come_back(chromium: Browser, live_server: LiveServer, served_network: factories.Network) -> None:
    form = open_forward_form(chromium, live_server, served_network)
    form.get_by_label("Public port").fill("8443")
    form.get_by_label("Device port").fill("443")
    form.get_by_role("button", name="Save and deploy").click()
    expect(form.page.get_by_role("row", name="TCP 8443")).to_be_visible()
    expect(form.get_by_label("Public port")).to_have_value("")
    form.page.reload()
    expect(form.get_by_label("Public port")).to_have_value("")
    expect_nothing_back(form.page)
    form.page.context.close()


def test_a_forward_that_was_refused_comes_back(chromium: Browser, live_server: LiveServer, served_network: factories.Network) -> None:
    form = open_forward_form(chromium, live_server, served_network)
    form.get_by_label("Public port").fill("70000")
    form.get_by_role("button", name="Save and deploy").click()
    expect(form.locator("[name=forward-public_port][aria-invalid=true]")).to_be_visible()
    form.page.reload()
    expect(form.get_by_label("Public port")).to_have_value("70000")
    form.page.context.close()


def test_what_is_being_typed_stays_when_something_else_of_the_member_is_changed(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    ports = {"protocol": "tcp", "public_port": 8443, "private_port": 443}
    holding, admin = served_network.residents["m1"].holding, served_network.admin
    forward = add_forward(holding=holding, public=factories.PUBLIC, by=admin, **ports)  # type: ignore[arg-type]
    form = open_forward_form(chromium, live_server, served_network)
    page, device_port = form.page, form.get_by_label("Device port")
    device_port.fill("22")
    switch = page.get_by_role("switch", name=str(forward))
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false")
    expect(device_port).to_have_value("22")
    form.evaluate("form => { form.dataset.before = '' }")
    page.locator("[name=hold-pool]").select_option(str(served_network.private.pk))
    page.get_by_role("button", name="Give this address").click()
    expect(page.locator("#forward-form:not([data-before])")).to_be_visible()
    expect(device_port).to_have_value("22")
    expect_nothing_back(page)
    page.context.close()


def test_a_refused_switch_says_why_above_the_list(chromium: Browser, live_server: LiveServer, served_network: factories.Network) -> None:
    ports = {"protocol": "tcp", "public_port": 8443, "private_port": 443}
    holding, admin = served_network.residents["m1"].holding, served_network.admin
    forward = add_forward(holding=holding, public=factories.PUBLIC, by=admin, **ports)  # type: ignore[arg-type]
    form = open_forward_form(chromium, live_server, served_network)
    page, switch = form.page, form.page.get_by_role("switch", name=str(forward))
    page.route("**/switch/", lambda route: route.continue_(post_data=(route.request.post_data or "").replace("version=1", "version=0")))
    switch.click()
    expect(page.locator("#forwards-problem")).to_contain_text("changed or removed by someone else")
    page.unroute("**/switch/")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false")
    expect(page.locator("#forwards-problem")).to_be_empty()
    page.context.close()


def test_a_ban_that_was_saved_does_not_come_back(chromium: Browser, live_server: LiveServer, served_network: factories.Network) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    page.goto(f"/bans/{BanList.objects.create(name='Scanners').pk}/")
    form = page.locator("#add")
    form.get_by_label("Address or prefix").fill("203.0.113.66")
    form.get_by_label("Comment").fill("scans")
    form.get_by_role("button", name="Ban", exact=True).click()
    expect(page.get_by_role("row", name="203.0.113.66")).to_be_visible()
    page.reload()
    expect(form.get_by_label("Comment")).to_have_value("")
    expect_nothing_back(page)
    context.close()


# --- Forms behind a page that confirms who somebody is


def open_old_session(browser: Browser, server: LiveServer, user: User) -> Page:
    """Return a page of a session whose password was given too long ago for a decision."""
    context = signed_in(browser, server, user)
    old = page_client.signed_in(user, seconds_ago=400)
    context.add_cookies([{"name": "sessionid", "value": old.cookies["sessionid"].value, "url": server.url}])
    return context.new_page()


def add_gateway(page: Page, address: str = "172.31.0.13") -> None:
    """Fill and send the form that adds nat-3."""
    page.goto("/gateways/join/")
    page.get_by_label("Name", exact=True).fill("nat-3")
    page.get_by_label("Management address").fill(address)
    page.get_by_role("button", name="Show the command").click()


def confirm(page: Page, password: str = "correct horse battery") -> None:
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Continue").click()


def expect_empty_form(page: Page) -> None:
    """Expect that nat-3 joins, and that nothing of it stands in the form for the next gateway."""
    expect(page.get_by_role("heading", name="nat-3 joins")).to_be_visible()
    page.goto("/gateways/join/")
    expect(page.get_by_label("Name", exact=True)).to_have_value("")
    expect_nothing_back(page)


def test_a_gateway_that_was_added_after_confirming_does_not_come_back(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    page = open_old_session(chromium, live_server, served_network.admin)
    add_gateway(page)
    confirm(page, "wrong")
    expect(page.locator("input[name=password][aria-invalid=true]")).to_be_visible()
    confirm(page)
    expect_empty_form(page)
    page.context.close()


def test_a_gateway_that_was_refused_after_confirming_does_not_come_back_once_it_is_added(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    page = open_old_session(chromium, live_server, served_network.admin)
    add_gateway(page, "nowhere")
    confirm(page)
    address = page.get_by_label("Management address")
    expect(address).to_have_value("nowhere")
    address.fill("172.31.0.13")
    page.get_by_role("button", name="Show the command").click()
    expect_empty_form(page)
    page.context.close()


def age_sessions(seconds: float) -> None:
    """Let everybody have confirmed who they are so many seconds earlier."""
    for session in Session.objects.all():
        facts = session.get_decoded()
        for record in facts[AUTHENTICATION_METHODS_SESSION_KEY]:
            record["at"] -= seconds
        session.session_data = Session.objects.encode(facts)
        session.save()


def test_a_gateway_that_was_added_after_confirming_with_a_passkey_does_not_come_back(
    page: Page, settings: LazySettings, served_network: factories.Network
) -> None:
    settings.REQUIRE_SECOND_FACTOR = settings.MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = True
    add_passkey(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("/")
    age_sessions(400)
    add_gateway(page)
    page.get_by_role("link", name="Use a passkey").click()
    page.get_by_role("button", name="Use a passkey").click()
    expect_empty_form(page)


def test_a_gateway_comes_back_if_nobody_confirms(chromium: Browser, live_server: LiveServer, served_network: factories.Network) -> None:
    page = open_old_session(chromium, live_server, served_network.admin)
    add_gateway(page)
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    page.goto("/gateways/join/")
    expect(page.get_by_label("Name", exact=True)).to_have_value("nat-3")
    page.context.close()


# --- Forms with a preview


def test_rooms_that_were_previewed_come_back_after_signing_in(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    path = f"/sites/{Site.objects.create(name='House R', code='R').pk}/rooms/add/"
    page.goto(path)
    page.get_by_label("Doors on each floor").fill("01-60")
    expect(page.get_by_text("60 rooms, from")).to_be_visible()
    end_sessions()
    page.get_by_role("button", name="Add rooms").click()
    expect(page.get_by_text("You were signed out, so nothing was saved.")).to_be_visible()
    sign_in(page, at="", lands=path)
    expect(page.get_by_label("Doors on each floor")).to_have_value("01-60")
    context.close()


# --- Signing out


def test_what_was_typed_does_not_come_back_after_signing_out_on_a_page_with_a_query(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    page.goto("/tickets/new/")
    page.locator("textarea").first.fill("We have found the broken switch.")
    page.goto("/account/logout/?next=/account/login/")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    sign_in(page, at="")
    page.goto("/tickets/new/")
    expect(page.locator("textarea").first).to_have_value("")
    expect_nothing_back(page)
    context.close()

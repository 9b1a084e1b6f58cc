"""Signing in in a browser: password, authenticator app, recovery code, passkey; and the end of a session."""

import re
from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts import sessions
from apps.accounts.models import User
from tests import factories
from tests.db.test_signing_in import PASSWORD, code
from tests.web.conftest import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def mara(transactional_db: None, settings: LazySettings) -> Iterator[User]:
    """A staff account, which needs a second factor."""
    settings.REQUIRE_SECOND_FACTOR = True
    settings.MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = True
    yield factories.user()


def with_password(page: Page) -> None:
    page.goto("/account/login/")
    page.get_by_label("Username").fill("mara")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page) -> None:
    page.goto("/account/logout/")
    page.get_by_role("button", name="Sign out").last.click()
    page.wait_for_url("**/account/login/")


def test_staff_set_up_an_app_and_sign_in_with_its_code_and_with_a_recovery_code(page: Page, mara: User) -> None:
    with_password(page)
    expect(page.get_by_role("heading", name="Set up a second factor first")).to_be_visible()
    page.goto("/members/")
    expect(page.get_by_role("heading", name="Set up a second factor first")).to_be_visible()
    page.get_by_role("link", name="Set up an app").click()
    picture = page.get_by_alt_text("QR code of the secret below")
    expect(picture).to_be_visible()
    page.emulate_media(color_scheme="dark")
    expect(picture).to_have_css("background-color", "rgb(255, 255, 255)")  # cameras need dark on light
    secret = page.locator("code").inner_text()
    page.locator("input[name=code]").fill(code(secret))
    page.get_by_role("button", name="Set up").click()
    page.wait_for_url("**/account/second-factor/recovery-codes/")
    recovery = page.locator("li code").first.inner_text()
    page.goto("/members/")
    expect(page.get_by_role("heading", name="Members").first).to_be_visible()
    sign_out(page)
    with_password(page)
    page.locator("input[name=code]").fill(recovery)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("/")
    sign_out(page)
    with_password(page)
    page.locator("input[name=code]").fill(recovery)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_text("Wrong code")).to_be_visible()


def add_passkey(page: Page) -> None:
    """Set up a passkey as the second factor of the user, who has none yet, and sign out."""
    authenticator = page.context.new_cdp_session(page)
    authenticator.send("WebAuthn.enable")
    has = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True}
    authenticator.send("WebAuthn.addVirtualAuthenticator", {"options": {**has, "automaticPresenceSimulation": True}})
    with_password(page)
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Name").fill("My laptop")
    page.get_by_role("button", name="Add a passkey").click()
    page.wait_for_url(re.compile("recovery-codes|webauthn/$"))
    page.goto("/account/second-factor/webauthn/")
    expect(page.get_by_text("My laptop")).to_be_visible()
    sign_out(page)


def test_a_passkey_is_added_and_signs_in_without_a_password(page: Page, mara: User) -> None:
    add_passkey(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("/")
    page.goto("/members/")
    expect(page.get_by_role("heading", name="Members").first).to_be_visible()
    sign_out(page)
    with_password(page)
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url("/")


def test_a_passkey_that_was_cancelled_is_tried_again_with_the_same_button(page: Page, mara: User) -> None:
    add_passkey(page)
    page.evaluate(
        """() => {
          navigator.credentials.get = () => {
            delete navigator.credentials.get;
            return Promise.reject(new DOMException("", "NotAllowedError"));
          };
        }"""
    )
    button = page.get_by_role("button", name="Sign in with a passkey")
    button.click()
    expect(page.get_by_text("No passkey was used. Try again, or sign in with your password.")).to_be_visible()
    expect(button).to_be_enabled()
    button.click()
    page.wait_for_url("/")


def test_a_lost_phone_is_signed_out_from_the_laptop(page: Page, chromium: Browser, live_server: LiveServer, transactional_db: None) -> None:
    factories.user()
    sign_in(page)
    phone = chromium.new_context(base_url=live_server.url, locale="en-GB", user_agent="Mozilla/5.0 (iPhone) Safari/605").new_page()
    sign_in(phone)
    page.goto("/account/sessions/")
    page.get_by_role("button", name="Safari, iPhone").click()
    expect(page.get_by_text("That device is signed out.")).to_be_visible()
    phone.goto("/members/")
    expect(phone.get_by_role("heading", name="Sign in")).to_be_visible()
    phone.context.close()
    assert sessions.describe_device("curl/8.0") == "curl/8.0"

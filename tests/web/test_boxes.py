"""Check boxes for the collections of a token: by column with JavaScript, and by keyboard without it."""

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import ApiToken
from tests import factories
from tests.web.conftest import signed_in

pytestmark = [pytest.mark.browser]


def box(scope: str) -> str:
    return f'input[name="scopes"][value="{scope}"]'


def test_the_box_at_the_head_picks_its_column_and_shows_how_much_of_it_is_picked(
    chromium: Browser, live_server: LiveServer, network: factories.Network
) -> None:
    page = signed_in(chromium, live_server, network.admin, locale="en-GB").new_page()
    page.goto("/account/tokens/")
    head = page.get_by_label("all of People: read")
    head.check()
    for scope in ("member:read", "room:read"):
        expect(page.locator(box(scope))).to_be_checked()
    for scope in ("member:write", "pool:read", "*:read"):
        expect(page.locator(box(scope))).not_to_be_checked()
    page.get_by_label("Houses: read").uncheck()
    expect(head).to_be_checked(indeterminate=True)
    head.click()
    expect(page.get_by_label("Houses: read")).to_be_checked()
    head.uncheck()
    assert page.locator('input[name="scopes"]:checked').count() == 0
    page.context.close()


def test_without_a_script_and_with_the_keyboard_a_token_is_made_and_revoked(
    chromium: Browser, live_server: LiveServer, network: factories.Network
) -> None:
    page = signed_in(chromium, live_server, network.admin, locale="en-GB", java_script_enabled=False).new_page()
    page.goto("/account/tokens/")
    expect(page.get_by_label("all of People: read")).to_be_hidden()
    page.get_by_label("What for").fill("door")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # the scope “read all”
    page.get_by_label("Port forwards: write").focus()
    page.keyboard.press("Space")
    page.get_by_label("Your password").fill("correct horse battery")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your new token")).to_be_visible()
    expect(page.get_by_text("reads and writes: Port forwards · reads: everything")).to_be_visible()
    assert ApiToken.objects.get().scopes == ["*:read", "forward:write"]
    page.get_by_role("link", name="Revoke… door").click()
    expect(page.get_by_text("It was never used.")).to_be_visible()
    page.get_by_role("button", name="Revoke the token").click()
    expect(page.get_by_text("No tokens yet.")).to_be_visible()
    page.context.close()

"""In a browser: text is not lost when a session ends, and a slow or refused request is said."""

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from tests import rows
from tests.db.conftest import served
from tests.web.conftest import signed_in

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("whole")]
__all__ = ["served"]
TEXT = "We have found the broken switch, it is replaced tonight."


def test_text_that_was_written_stands_in_its_field_again_after_signing_in(
    chromium: Browser, live_server: LiveServer, served: rows.Network
) -> None:
    context = signed_in(chromium, live_server, served.admin)
    page = context.new_page()
    page.goto("/tickets/new/")
    page.locator("textarea").first.fill(TEXT)
    cookies = context.cookies()
    context.clear_cookies()
    page.locator("textarea").first.evaluate("element => element.form.submit()")
    expect(page.get_by_role("heading", name="You were signed out")).to_be_visible()
    context.add_cookies(cookies)  # type: ignore[arg-type]  # what `cookies` gives, which playwright types apart
    page.get_by_role("link", name="Back to the page").click()
    expect(page.locator("textarea").first).to_have_value(TEXT)
    expect(page.get_by_text("Your text that was not saved is back.")).to_be_visible()
    context.close()


def test_a_request_after_the_session_ended_says_so_and_keeps_the_input(
    chromium: Browser, live_server: LiveServer, served: rows.Network
) -> None:
    context = signed_in(chromium, live_server, served.admin)
    page = context.new_page()
    page.goto(f"/members/{served.residents['m1'].member.pk}/")
    form = page.locator("#forward-form")
    form.locator("input[name=forward-public_port]").fill("8443")
    context.clear_cookies()
    form.get_by_role("button").first.click()
    expect(page.get_by_text("You are signed out, or may not do this any more.")).to_be_visible()
    expect(form.locator("input[name=forward-public_port]")).to_have_value("8443")
    expect(form.get_by_role("button").first).to_be_enabled()
    context.close()


def test_a_slow_answer_is_said_and_the_button_is_not_pressed_twice(
    chromium: Browser, live_server: LiveServer, served: rows.Network
) -> None:
    context = signed_in(chromium, live_server, served.admin)
    page = context.new_page()
    page.goto(f"/members/{served.residents['m1'].member.pk}/")
    held = []
    page.route("**/forwards/add/", lambda route: held.append(route))
    form = page.locator("#forward-form")
    form.locator("input[name=forward-public_port]").fill("8443")
    form.get_by_role("button").first.click()
    expect(form.get_by_role("button").first).to_be_disabled()
    expect(page.get_by_text("Still waiting for the portal.")).to_be_visible()
    held[0].continue_()
    expect(page.get_by_text("Still waiting for the portal.")).to_be_hidden()
    context.close()

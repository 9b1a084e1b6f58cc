"""Requests that fail or take long, in a browser: input survives the end of a session, and slow or refused requests are reported."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from apps.nat.models import PortForward
from apps.nat.services import add_forward
from apps.tickets.models import Ticket
from tests import factories
from tests.db.conftest import served_network
from tests.web.conftest import end_sessions, sign_in, signed_in

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("whole")]
__all__ = ["served_network"]
TEXT = "We have found the broken switch, it is replaced tonight."


def test_text_that_was_written_stands_in_its_field_again_after_signing_in(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    page.goto("/tickets/new/")
    page.locator("textarea").first.fill(TEXT)
    cookies = context.cookies()
    context.clear_cookies()
    page.locator("textarea").first.evaluate("element => element.form.submit()")
    expect(page.get_by_role("heading", name="You were signed out")).to_be_visible()
    context.add_cookies(cookies)  # type: ignore[arg-type]  # Playwright types the value of `cookies` differently
    page.get_by_role("link", name="Back to the page").click()
    expect(page.locator("textarea").first).to_have_value(TEXT)
    expect(page.get_by_text("Your text that was not saved is back.")).to_be_visible()
    context.close()


def test_lines_that_were_written_or_changed_stand_in_their_fields_again_after_signing_in(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    member = served_network.residents["m1"].member
    page.goto(f"/members/{member.pk}/edit/")
    page.get_by_label("Name", exact=True).fill("Noura Brandt")
    page.get_by_label("E-mail").fill("noura@lindenhof.example")
    end_sessions()
    page.get_by_role("main").get_by_role("button", name="Save").click()
    expect(page.get_by_text("You were signed out, so nothing was saved.")).to_be_visible()
    sign_in(page, at="", lands=f"/members/{member.pk}/edit/")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Noura Brandt")
    expect(page.get_by_label("E-mail")).to_have_value("noura@lindenhof.example")
    page.get_by_role("main").get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Noura Brandt")).to_be_visible()
    member.refresh_from_db()
    assert (member.name, member.email) == ("Noura Brandt", "noura@lindenhof.example")
    context.close()


def test_what_was_written_is_not_put_over_what_somebody_has_saved_meanwhile(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    member = served_network.residents["m1"].member
    page.goto(f"/members/{member.pk}/edit/")
    page.get_by_label("Name", exact=True).fill("Noura Brandt")
    member.name = "Selin Kaya"
    member.save()
    page.goto(f"/members/{member.pk}/edit/")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Selin Kaya")
    context.close()


def test_what_one_person_wrote_is_not_shown_to_the_next_in_the_same_tab(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    page.goto("/tickets/new/")
    page.locator("textarea").first.fill(TEXT)
    other = signed_in(chromium, live_server, factories.user("jonas"))
    context.clear_cookies()
    context.add_cookies(other.cookies())  # type: ignore[arg-type]  # Playwright types the value of `cookies` differently
    page.goto("/tickets/new/")
    expect(page.locator("textarea").first).to_have_value("")
    other.close()
    context.close()


def test_a_question_that_is_refused_does_not_show_the_one_before(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    holding = served_network.residents["m1"].holding
    first, second = (
        add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=80, by=served_network.admin)
        for port in (8443, 8444)
    )
    page.goto(f"/members/{holding.member_id}/")
    page.locator(f"a[data-dialog][href*='/{first.pk}/']").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("8443")
    dialog.get_by_role("link", name="Cancel").click()
    expect(dialog).to_be_hidden()
    held = hold_requests(page, f"**/{second.pk}/remove/**")
    with page.expect_request(f"**/{second.pk}/remove/**"):
        page.locator(f"a[data-dialog][href*='/{second.pk}/']").first.click()
    expect(page.locator("#request-runs")).to_be_visible()
    PortForward.objects.filter(pk=second.pk).delete()  # not before: the page asks for its rows again by itself
    held[0].continue_()
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    assert PortForward.objects.get(pk=first.pk).valid.upper is None
    context.close()


def test_signing_in_after_a_form_was_sent_leads_back_to_its_page_with_the_text(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    ticket = Ticket.objects.create(subject="Switch in house B", member=served_network.residents["m1"].member)
    page.goto(f"/tickets/{ticket.pk}/")
    page.locator("#answer textarea").fill(TEXT)
    end_sessions()
    page.get_by_role("main").get_by_role("button", name="Save").click()  # of the ticket's state, at a route that takes only POST
    expect(page.get_by_text("You were signed out, so nothing was saved.")).to_be_visible()
    sign_in(page, at="", lands=f"/tickets/{ticket.pk}/")
    expect(page.locator("#answer textarea")).to_have_value(TEXT)
    context.close()


def test_a_request_after_the_session_ended_says_so_and_keeps_the_input(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    page.goto(f"/members/{served_network.residents['m1'].member.pk}/")
    form = page.locator("#forward-form")
    form.locator("input[name=forward-public_port]").fill("8443")
    end_sessions()
    form.get_by_role("button").first.click()
    expect(page.get_by_text("You are signed out, or may not do this any more.")).to_be_visible()
    expect(form.locator("input[name=forward-public_port]")).to_have_value("8443")
    expect(form.get_by_role("button").first).to_be_enabled()
    context.close()


def sign_in_again(page: Page) -> None:
    """Sign in in another tab, as the page advises, so that the page keeps its input."""
    with page.context.expect_page() as opened:
        page.locator("#signed-out").get_by_role("link", name="Sign in").click()
    sign_in(opened.value)
    opened.value.close()


def test_after_signing_in_in_another_tab_the_same_button_saves(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    member = served_network.residents["m1"].member
    page.goto(f"/members/{member.pk}/")
    form = page.locator("#forward-form")
    form.get_by_label("Public port").fill("8443")
    form.get_by_label("Device port").fill("443")
    end_sessions()
    save = form.get_by_role("button", name="Save and deploy")
    save.click()
    expect(page.locator("#signed-out")).to_be_visible()
    sign_in_again(page)
    save.click()
    expect(page.get_by_role("row", name="TCP 8443")).to_be_visible()
    expect(page.locator("#signed-out")).to_be_hidden()
    assert PortForward.objects.filter(holding__member=member, public_port=8443).exists()
    context.close()


def test_a_form_of_a_page_that_is_older_than_the_signing_in_is_taken(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    page.goto("/tickets/new/")
    end_sessions()
    other = context.new_page()
    sign_in(other)
    page.locator("input[name=member]").fill(f"M-{served_network.residents['m1'].member.number}")
    page.locator("input[name=subject]").fill("Switch in house B")
    page.locator("textarea").first.fill(TEXT)
    page.get_by_role("main").get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Switch in house B")).to_be_visible()
    context.close()


def test_a_slow_answer_is_said_and_the_button_is_not_pressed_twice(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    page.goto(f"/members/{served_network.residents['m1'].member.pk}/")
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


def stop_clock(page: Page, path: str) -> None:
    """Open the page, and let its time pass only when the test says so."""
    page.clock.install(time=0)
    page.goto(path)
    page.clock.pause_at(3600)


def hold_requests(page: Page, pattern: str, otherwise: Callable[[Route], None] = Route.continue_) -> list[Route]:
    """Hold back what htmx sends to these addresses, and return it as it comes. otherwise: for what the browser itself sends."""
    held: list[Route] = []
    page.route(pattern, lambda route: held.append(route) if "hx-request" in route.request.headers else otherwise(route))
    return held


def test_a_page_that_is_asked_for_says_within_a_tenth_of_a_second_that_it_works(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    stop_clock(page, "/members/")
    working = page.locator("#request-runs")
    held = hold_requests(page, "**/members/?q=*")
    with page.expect_request("**/members/?q=*"):
        page.get_by_role("main").get_by_role("searchbox").fill("m1")
        page.clock.run_for(300)  # the search begins when nobody has typed for so long
    page.clock.run_for(99)
    expect(working).to_be_hidden()
    page.clock.run_for(1)
    expect(working).to_be_visible()
    held[0].continue_()
    expect(working).to_be_hidden()
    context.close()


def test_a_button_and_a_dialog_that_are_slow_say_so_within_a_tenth_of_a_second(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    stop_clock(page, f"/members/{served_network.residents['m1'].member.pk}/")
    held = hold_requests(page, "**/forwards/add/")
    form = page.locator("#forward-form")
    form.get_by_label("Public port").fill("8443")
    with page.expect_request("**/forwards/add/"):
        form.get_by_role("button").first.click()
    page.clock.run_for(100)
    expect(form.get_by_role("button").first).to_have_class(re.compile("nw-working"))
    held[0].abort()
    expect(form.get_by_role("button").first).not_to_have_class(re.compile("nw-working"))
    link = page.locator("a[data-dialog]").first
    held = hold_requests(page, f"**{link.get_attribute('href')}")
    with page.expect_request(f"**{link.get_attribute('href')}"):
        link.click()
    page.clock.run_for(100)
    expect(page.locator("#request-runs")).to_be_visible()
    held[0].continue_()
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator("#request-runs")).to_be_hidden()
    context.close()


def test_a_preview_leaves_the_button_alone_and_the_button_is_not_pressed_twice(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    page.goto("/members/")
    page.get_by_label("Select Resident of m1", exact=True).check()
    page.get_by_role("button", name="Block…").click()
    block = page.get_by_role("button", name="Block 1 member")
    expect(block).to_be_visible()
    held = hold_requests(
        page, "**/members/bulk/**", otherwise=lambda route: route.fulfill(status=204)
    )  # its page stays, as until an answer
    with page.expect_request("**/members/bulk/**"):
        page.get_by_label("Reason").select_option("abuse")
    expect(page.locator("#request-runs")).to_be_visible()
    expect(block).to_be_enabled()
    with page.expect_request(lambda request: request.is_navigation_request()):
        block.click()
    expect(block).to_be_disabled()
    held[0].continue_()
    expect(page.locator("#bulk.htmx-request")).to_have_count(0)
    expect(block).to_be_disabled()
    context.close()


def test_a_part_that_comes_after_the_page_shows_that_it_comes(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    member = served_network.residents["m1"].member
    held = hold_requests(page, f"**/members/{member.pk}/history/")
    page.goto(f"/members/{member.pk}/")
    place = page.locator("#history.htmx-request .nw-later a")
    expect(place).to_be_visible()
    assert place.evaluate("element => getComputedStyle(element, '::before').content") == '""'
    held[0].continue_()
    expect(page.locator("#history .nw-later")).to_have_count(0)
    context.close()


def test_a_page_that_asks_by_itself_shows_nothing_of_it(
    chromium: Browser, live_server: LiveServer, served_network: factories.Network
) -> None:
    context = signed_in(chromium, live_server, served_network.admin)
    page = context.new_page()
    held = hold_requests(page, "**/gateways/")
    with page.expect_request(lambda request: "hx-request" in request.headers):
        stop_clock(page, "/gateways/")  # an hour passes, so the page asks again
    page.clock.run_for(1000)
    assert held and page.locator("#request-runs").is_hidden()
    context.close()


def test_what_the_reader_opened_stays_open_when_the_page_asks_for_itself_again(
    chromium: Browser, live_server: LiveServer, db: None
) -> None:
    context = chromium.new_context(base_url=live_server.url)
    page = context.new_page()
    page.clock.install()
    page.goto("/status/")
    days = page.locator("#days-not-fine")
    days.locator("summary").click()
    expect(days).to_have_attribute("open", "")
    days.evaluate("element => element.dataset.before = 'yes'")
    page.clock.run_for(61_000)
    expect(page.locator("#days-not-fine:not([data-before])")).to_have_attribute("open", "")
    context.close()

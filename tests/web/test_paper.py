"""A member's page on paper: there is nothing to press and nothing to fill in, and what it says is still there."""

from typing import Final

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.members.models import Member
from tests.web.conftest import signed_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TO_PRESS: Final = "main :is(button, .btn, input, select, textarea):not([role=switch]):visible"
"""A switch says whether something is on, on paper too."""


def test_on_paper_a_members_page_has_nothing_to_press_or_to_fill_in(chromium: Browser, live_server: LiveServer, looks: User) -> None:
    member = Member.objects.filter(holdings__isnull=False).order_by("pk")[0]
    with signed_in(chromium, live_server, looks) as context:
        page = context.new_page()
        page.goto(f"/members/{member.pk}/", wait_until="networkidle")
        assert page.locator(TO_PRESS).count() > 10
        page.emulate_media(media="print")
        expect(page.get_by_role("heading", name=member.name)).to_be_visible()
        expect(page.locator("main table").first).to_be_visible()
        assert page.locator(TO_PRESS).evaluate_all("found => found.map((each) => each.outerHTML.slice(0, 120))") == []

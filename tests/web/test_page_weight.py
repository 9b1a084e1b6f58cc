"""What a browser loads for a page: octets on the wire at a first visit, all of it compressed, and nothing again at the next one."""

from typing import Any, Final

import pytest
from playwright.sync_api import Browser, CDPSession
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from tests.web.conftest import signed_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MOST: Final = 120_000  # octets of a first visit: HTML, styles, scripts and icons, with the fields of their responses


class Wire:
    """What a page loads, as the browser's network log has it."""

    def __init__(self, session: CDPSession) -> None:
        self.octets: dict[str, float] = {}
        self._urls: dict[str, str] = {}
        session.on("Network.responseReceived", self._note_response)
        session.on("Network.loadingFinished", self._note_end)
        session.send("Network.enable")

    def _note_response(self, event: dict[str, Any]) -> None:
        self._urls[event["requestId"]] = event["response"]["url"]

    def _note_end(self, event: dict[str, Any]) -> None:
        url = self._urls.get(event["requestId"], "")
        self.octets[url] = self.octets.get(url, 0) + event["encodedDataLength"]


def test_the_dashboard_is_light_and_its_files_are_loaded_once(chromium: Browser, live_server: LiveServer, looks: User) -> None:
    with signed_in(chromium, live_server, looks) as context:
        page = context.new_page()
        first = Wire(context.new_cdp_session(page))
        page.goto("/", wait_until="networkidle")
        assert sum(first.octets.values()) <= MOST, sorted(first.octets.items(), key=lambda each: -each[1])
        page.goto("/members/", wait_until="networkidle")
        before = dict(first.octets)
        page.goto("/", wait_until="networkidle")
        again = {url: octets - before.get(url, 0) for url, octets in first.octets.items() if octets > before.get(url, 0)}
        assert not any("/static/" in url for url in again), again

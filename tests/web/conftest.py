"""Browser tests: the installed Chromium, a live server, a worker, a lab."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from playwright.sync_api import Browser, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from apps.lib import nudge
from tests import rows
from tests.whole.conftest import bare_lab, lab, network, processes, sockets
from tests.whole.worker import broker, worker

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # playwright runs an event loop in the thread that also asks the database

__all__ = ["bare_lab", "lab", "network", "processes", "sockets"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The installed browser, without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    """A page whose addresses are relative to the live server. A violated content security policy or an error in a script fails the test."""
    context = chromium.new_context(base_url=live_server.url, locale="en-GB", timezone_id="Europe/Berlin")
    faults: list[str] = []
    opened = context.new_page()
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda message: faults.append(message.text) if "Content Security Policy" in message.text else None)
    yield opened
    context.close()
    assert faults == []


@pytest.fixture
def working(network: rows.Network, sockets: Path, settings: LazySettings) -> Iterator[None]:
    """A broker that takes nudges, and a worker that heeds them."""
    with broker(sockets) as url:
        settings.REDIS_URL = url
        nudge._publisher.cache_clear()
        with worker(url, sockets / "worker.log"):
            yield
    nudge._publisher.cache_clear()


def sign_in(page: Page, username: str = "mara", password: str = "correct horse battery") -> None:
    """Through the form, as a person does."""
    page.goto("/account/login/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("/")

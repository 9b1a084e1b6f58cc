"""Fixtures of browser tests: the installed Chromium and pages of a live server, beside the fixtures of tests of the whole system."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.sessions.models import Session
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, Response, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.deployments import services
from apps.deployments.rollouts.gateway_cache import RulesetCache
from tests.db.conftest import in_memory
from tests.web import demo_scene
from tests.web.picture_list import confirm_password
from tests.whole.conftest import bare_lab, by_ssh, lab, machines, network, processes, sockets, working

__all__ = ["bare_lab", "by_ssh", "lab", "machines", "network", "processes", "sockets", "working"]
PATIENCE = 120_000  # milliseconds


@contextmanager
def database_in_event_loop() -> Iterator[None]:
    """Allow queries inside an event loop, because Playwright runs one in the thread of the test."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    yield
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The installed browser, headless. Expectations wait up to two minutes, for busy machines."""
    expect.set_options(timeout=PATIENCE)
    with database_in_event_loop(), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@pytest.fixture
def looks(transactional_db: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[User]:
    """The user to view the pages with, in the demo network with one of everything on two gateways in memory."""
    monkeypatch.setattr(services, "gateway_cache", RulesetCache())
    settings.REDIS_URL = "unix:///nonexistent/redis.sock"
    with TemporaryDirectory(prefix="nw-") as directory:
        settings.GATEWAY_SOCKETS = Path(directory)
        with in_memory(settings.GATEWAY_SOCKETS):
            yield demo_scene.make()


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    """A page with addresses relative to the live server. Script errors and violations of the content security policy fail the test."""
    context = chromium.new_context(base_url=live_server.url, locale="en-GB", timezone_id="Europe/Berlin")
    context.set_default_timeout(PATIENCE)
    faults: list[str] = []
    opened = context.new_page()
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda message: faults.append(message.text) if "Content Security Policy" in message.text else None)
    yield opened
    context.close()
    assert faults == []


def signed_in(browser: Browser, server: LiveServer, user: User, **given: Any) -> BrowserContext:
    """Return a browser window in which the user is signed in and has just given the password again."""
    client = Client()
    client.force_login(user)
    confirm_password(client.session, user)
    context = browser.new_context(base_url=server.url, timezone_id="Europe/Berlin", reduced_motion="reduce", **given)
    context.set_default_timeout(PATIENCE)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": server.url}])
    return context


def end_sessions() -> None:
    """End them on the server: an answer that is under way may set a cookie again that is only deleted in the browser."""
    Session.objects.all().delete()


def is_answer_to_form(answer: Response) -> bool:
    """Tell whether this answers a form that was sent. Going to another page before that would take the form back."""
    return answer.request.method == "POST"


def sign_in(
    page: Page, username: str = "mara", password: str = "correct horse battery", *, at: str = "/account/login/", lands: str = "/"
) -> None:
    """Sign in through the form at `at`, or on the page that is already open if `at` is empty."""
    if at:
        page.goto(at)
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lands)

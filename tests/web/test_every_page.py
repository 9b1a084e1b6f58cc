"""Every page in a browser, for staff, members and visitors: no violation found by axe-core in light and dark, no horizontal
scrolling, and nothing that moves while the page loads."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ViewportSize
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from tests.web import demo_scene, picture_list
from tests.web.conftest import signed_in

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.xdist_group("whole")]

AXE: Final = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
TAGS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OF_WIDTH: Final = [  # rules that depend on the page's width; the others find the same as at desk width
    "aria-hidden-focus", "button-name", "color-contrast", "label", "link-name", "page-has-heading-one", "scrollable-region-focusable",
    "select-name", "summary-name", "target-size",
]  # fmt: skip
RUN: Final = """async (runOnly) => {
    const found = await axe.run(document, { runOnly, resultTypes: ["violations"], preload: false });
    return found.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).slice(0, 3).join(" | ")}`);
}"""
TOO_WIDE: Final = """() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    const all = [...document.querySelectorAll("main *, header *")];
    const wide = all.filter((each) => each.getBoundingClientRect().right > root.clientWidth + 1);
    return [`${root.scrollWidth} wide: ` + wide.slice(0, 3).map((each) => each.outerHTML.slice(0, 120)).join(" | ")];
}"""
WATCH_SHIFTS: Final = """window.shifts = [];
new PerformanceObserver((list) => window.shifts.push(...list.getEntries())).observe({ type: "layout-shift", buffered: true });"""
SETTLED: Final = "() => !document.querySelector('.htmx-request, [hx-trigger=load]')"
SHIFTS: Final = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(window.shifts.map((each) => ({
    value: each.value, moved: each.sources.map((source) => source.node?.outerHTML?.slice(0, 120) ?? "").slice(0, 3).join(" | "),
}))))))"""
MOST_SHIFT: Final = 0.01  # of the layout, all shifts of a page together (https://web.dev/articles/cls); 0.1 is called good
LOADS: Final = 3
"""A page is blamed if it moves each time: a browser that gets too little of the processor shows a page before all of it is there."""
DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 900}
PHONE: Final[ViewportSize] = {"width": 360, "height": 740}


class Looker:
    """Browser window that opens pages and collects their faults."""

    def __init__(self, context: BrowserContext, own: str) -> None:
        self.faults: list[str] = []
        self.context = context
        self.own = urlsplit(own).netloc
        self.at = ""
        context.add_init_script(AXE)
        context.add_init_script(WATCH_SHIFTS)
        self.page = context.new_page()
        self.page.on("request", self._check_request)
        self.page.on("pageerror", lambda error: self.blame(f"script: {error}"))
        self.page.on("console", lambda message: self.blame(f"console: {message.text}") if self._wrong(message) else None)

    def _check_request(self, request: Any) -> None:
        if urlsplit(request.url).netloc not in (self.own, ""):
            self.blame(f"asks {request.url}")

    def _wrong(self, message: Any) -> bool:
        """True if the console message is an error or a warning. Answers like 404 and 422 are expected."""
        return message.type in ("error", "warning") and "status of 4" not in message.text

    def blame(self, fault: str) -> None:
        self.faults.append(f"{self.at}: {fault}")

    def open(self, path: str, at: str) -> None:
        self.at = at
        answer = self.page.goto(path, wait_until="load")
        there = (404,) if at.startswith(demo_scene.NOTHING) else (200, 401, 422)
        assert answer is not None and answer.status in there, f"{at}: no page; if there is none, say so in tests/web/demo_scene.py"

    def shifts(self) -> None:
        """Blame what moved by itself until all parts that come later were there, each time that the page was loaded."""
        found = self._list_shifts()
        for _again in range(LOADS - 1):
            if sum(each["value"] for each in found) <= MOST_SHIFT:
                return
            self.page.reload(wait_until="load")
            found = self._list_shifts()
        if sum(each["value"] for each in found) > MOST_SHIFT:
            self.blame("layout shift " + "; ".join(f"{each['value']:.3f}: {each['moved']}" for each in found))

    def _list_shifts(self) -> list[dict[str, Any]]:
        self.page.wait_for_function(SETTLED)
        found: list[dict[str, Any]] = self.page.evaluate(SHIFTS)
        return found

    def axe(self, run: dict[str, Any]) -> None:
        for each in self.page.evaluate(RUN, run):
            self.blame(each)

    def width(self) -> None:
        for each in self.page.evaluate(TOO_WIDE):
            self.blame(each)


def check_what_is_not_visited(user: User) -> None:
    """Check that the routes listed as POST alone or as files are not pages."""
    client = Client()
    client.force_login(user)
    for name in demo_scene.POSTED:
        assert client.get(demo_scene.address(name)).status_code == 405, f"{name} can be visited"
    for name in demo_scene.FILES:
        assert not client.get(demo_scene.address(name))["Content-Type"].startswith("text/html"), f"{name} can be visited"


def check_what_is_pictured(pages: Iterable[demo_scene.Page]) -> None:
    """Check that script/screenshots finds every page, except those that need two revisions or tickets, and the one that does not exist."""
    lost = {each.path for each in pages} - {each["path"] for each in picture_list.shots()}
    assert [path for path in lost if "?from=" not in path and "?ticket=" not in path] == ["/nowhere/"]


def look_at(desk: Looker, phone: Looker, pages: Iterable[demo_scene.Page]) -> None:
    """Check each page in both windows, and on the desk in both themes."""
    for each in pages:
        desk.open(each.path, f"{each.name} {each.path}")
        desk.shifts()
        desk.axe({"type": "tag", "values": TAGS})
        desk.width()
        desk.page.emulate_media(color_scheme="dark")
        desk.axe({"type": "rule", "values": ["color-contrast", "link-in-text-block"]})
        desk.page.emulate_media(color_scheme="light")
        phone.open(each.path, f"{each.name} {each.path} on a phone")
        phone.shifts()
        phone.axe({"type": "rule", "values": OF_WIDTH})
        phone.width()


def test_every_page_is_accessible_and_fits_a_phone(chromium: Browser, live_server: LiveServer, looks: User) -> None:
    check_what_is_not_visited(looks)
    check_what_is_pictured([*demo_scene.pages(), *demo_scene.own()])
    desk = Looker(signed_in(chromium, live_server, looks, viewport=DESKTOP, locale="en-GB", color_scheme="light"), live_server.url)
    given = {"viewport": PHONE, "locale": "de-DE", "color_scheme": "dark", "has_touch": True}
    phone = Looker(signed_in(chromium, live_server, looks, **given), live_server.url)
    stranger = Looker(chromium.new_context(base_url=live_server.url, viewport=PHONE, reduced_motion="reduce"), live_server.url)
    for name in demo_scene.STRANGERS:
        stranger.open(demo_scene.address(name), name)
        stranger.shifts()
        stranger.axe({"type": "tag", "values": TAGS})
        stranger.width()
    look_at(desk, phone, demo_scene.pages())
    resident = User.objects.get(username=demo_scene.RESIDENT)
    own_desk = Looker(signed_in(chromium, live_server, resident, viewport=DESKTOP, locale="en-GB", color_scheme="light"), live_server.url)
    own_phone = Looker(signed_in(chromium, live_server, resident, **given), live_server.url)
    look_at(own_desk, own_phone, demo_scene.own())
    lookers = (stranger, desk, phone, own_desk, own_phone)
    for looker in lookers:
        looker.context.close()
    faults = [fault for looker in lookers for fault in looker.faults]
    assert not faults, "\n".join(faults)

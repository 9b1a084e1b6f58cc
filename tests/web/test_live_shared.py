"""Many tabs of one browser over HTTP/1.1, which allows six connections to a host, share one stream of live events."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.deployments.models import GatewayState, Revision, Rollout
from tests import factories
from tests.events_client import events_process
from tests.reverse_proxy import Front, front
from tests.web.conftest import signed_in

pytestmark = [pytest.mark.browser]
TABS = 8
LISTENS = "html[data-stream=up]"
OPEN = 1  # EventSource.readyState
# A shared worker whose messages arrive only after answer() was called, and `sources`, the streams of the tab itself.
SLOW_WORKER = """
    const Worker = SharedWorker, Source = EventSource;
    window.sources = [];
    window.EventSource = class extends Source { constructor(...given) { super(...given); sources.push(this); } };
    window.SharedWorker = function (...given) {
        const { port } = new Worker(...given);
        const held = [];
        let told = (event) => held.push(event);
        port.onmessage = (event) => told(event);
        this.port = { postMessage: (message) => port.postMessage(message) };
        window.answer = () => { told = (event) => this.port.onmessage(event); held.splice(0).forEach(told); };
    };
"""


class TraceWindow:
    """Browser window on a reverse proxy for pages and events, and a rollout that its pages show."""

    def __init__(self, before: Front, window: BrowserContext, rollout: Rollout) -> None:
        self.front, self.window, self.rollout = before, window, rollout
        self.faults: list[str] = []

    def tab(self) -> Page:
        """Open a tab, and return it when it listens for events."""
        page = self.window.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda message: self.faults.append(message.text) if "Content Security Policy" in message.text else None)
        page.goto(f"{self.front.url}/rollouts/revisions/")  # only the top bar polls here, once a minute
        expect(page.locator(LISTENS)).to_be_attached()
        return page

    def turn(self, state: Rollout.State) -> None:
        """Set the state of the rollout, which publishes an event."""
        Rollout.objects.filter(pk=self.rollout.pk).update(state=state)


@pytest.fixture
def desk(
    chromium: Browser, live_server: LiveServer, settings: LazySettings, tmp_path: Path, network: factories.Network
) -> Iterator[TraceWindow]:
    rollout = Rollout.objects.create(group=network.group, revision=Revision.objects.create(group=network.group, snapshot="1:1:"))
    GatewayState.objects.bulk_create(GatewayState(gateway=gateway) for gateway in network.gateways)
    pages = urlsplit(live_server.url).port or 0
    settings.EVENTS_URL = "/events/"
    with ExitStack() as stack:
        process = stack.enter_context(events_process(tmp_path, NETZWART_URL=live_server.url))
        before = stack.enter_context(front(pages=pages, events=process.port))
        window = signed_in(chromium, live_server, network.admin, locale="en-GB")
        stack.callback(window.close)
        yield TraceWindow(before, window, rollout)


def test_eight_tabs_share_one_stream_and_all_load_and_are_all_told(desk: TraceWindow) -> None:
    tabs = [desk.tab() for _number in range(TABS)]
    for tab in tabs:
        expect(tab.locator("#running")).to_contain_text(str(desk.rollout))
    assert desk.front.streams == 1
    desk.turn(Rollout.State.CONFIRMED)
    for tab in tabs:
        expect(tab.locator("#running")).to_contain_text("no revision on the gateways yet")

    tabs.pop(0).close()
    tabs[0].reload()
    expect(tabs[0].locator(LISTENS)).to_be_attached()
    desk.turn(Rollout.State.APPLYING)
    for tab in tabs:
        expect(tab.locator("#running")).to_contain_text(str(desk.rollout))
    assert desk.front.streams == 1 and desk.faults == []


def test_a_browser_without_shared_workers_has_a_stream_for_each_tab(desk: TraceWindow) -> None:
    desk.window.add_init_script("delete window.SharedWorker")
    tabs = [desk.tab() for _number in range(2)]
    assert desk.front.streams == 2
    desk.turn(Rollout.State.CONFIRMED)
    for tab in tabs:
        expect(tab.locator("#running")).to_contain_text("no revision on the gateways yet")
    assert desk.faults == []


def test_a_tab_whose_shared_worker_cannot_start_has_a_stream_of_its_own(desk: TraceWindow) -> None:
    desk.window.add_init_script("const Real = SharedWorker; window.SharedWorker = function () { return new Real('/nowhere.js'); }")
    tab = desk.tab()
    assert desk.front.streams == 1
    desk.turn(Rollout.State.CONFIRMED)
    expect(tab.locator("#running")).to_contain_text("no revision on the gateways yet")


def test_a_tab_that_is_not_told_that_its_shared_worker_cannot_start_has_a_stream_of_its_own(desk: TraceWindow) -> None:
    desk.window.add_init_script(
        "const Real = SharedWorker; window.SharedWorker = function () { this.port = new Real('/nowhere.js').port; }"
    )
    desk.tab()
    assert desk.front.streams == 1


def test_a_tab_gives_up_its_own_stream_when_a_slow_shared_worker_answers(desk: TraceWindow) -> None:
    desk.window.add_init_script(SLOW_WORKER)
    tab = desk.tab()
    assert tab.evaluate("sources.map((each) => each.readyState)") == [OPEN]
    tab.evaluate("answer()")
    tab.wait_for_function("sources[0].readyState === EventSource.CLOSED")
    expect(tab.locator(LISTENS)).to_be_attached()
    desk.turn(Rollout.State.CONFIRMED)
    expect(tab.locator("#running")).to_contain_text("no revision on the gateways yet")
    assert desk.front.streams == 2 and desk.faults == []

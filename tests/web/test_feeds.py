"""A feed that an administrator sets up: from the page through a real worker and a real server to a dropped packet."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from apps.bans.models import BanList
from apps.nat.services import add_forward
from lab.lab import Lab
from tests import factories
from tests.fake_http import FakeAnswer, Server, serving
from tests.web.conftest import sign_in
from tests.whole.system import reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.browser, pytest.mark.xdist_group("whole")]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A feed on loopback, which the worker is allowed to fetch."""
    monkeypatch.setenv("NETZWART_FEED_PRIVATE", "1")
    with serving(FakeAnswer(body=b"203.0.113.66 # scans\n")) as running:
        yield running


def test_a_feed_is_set_up_and_refreshed_at_a_press(page: Page, lab: Lab, network: factories.Network, server: Server, working: None) -> None:
    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, by=network.admin)
    banlist = BanList.objects.create(name="Scanners")
    sign_in(page)
    page.goto(f"/bans/{banlist.pk}/")
    page.get_by_role("link", name="Feed…").click()
    page.get_by_label("Address").fill(server.url())
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#feed")).to_contain_text("1 added, 0 lifted, 0 unchanged")
    expect(page.get_by_role("row", name="203.0.113.66")).to_contain_text("scans")
    wait_for(lambda: reaches(lab, "internet", "198.51.100.7", 8443) is not None)
    wait_for(lambda: reaches(lab, "internet", "198.51.100.7", 8443, source="203.0.113.66") is None)

    server.answer = lambda _path, _headers: FakeAnswer(503)
    page.get_by_role("button", name="Refresh now").click()
    expect(page.locator("#feed")).to_contain_text("The server answered 503")
    expect(page.get_by_role("row", name="203.0.113.66")).to_be_visible()

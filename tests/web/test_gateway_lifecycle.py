"""A gateway is replaced, another retired, the primary of IPv6 moved and moved back, in the browser, while a member's download runs.

The download is one TCP connection through nat-1. While nat-2 gets another machine, that is the gateway that stays; once nat-1 is
retired, its machine goes on by its last ruleset, as the page says. Beside it another download, by IPv6 through nat-2, runs while the
primary of IPv6 moves, and a third one through nat-2's new machine while nat-1 is retired.

The lab has no keepalived: its routes choose the gateway. So nothing is claimed about a connection that changes the gateway; that takes
state sync, which is another subject.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.servers.basehttp import ThreadedWSGIServer
from playwright.sync_api import Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from apps.deployments.models import GatewayState, Rollout
from apps.deployments.services import reconcile
from apps.network.models import Gateway
from lab.lab import Lab
from tests import factories
from tests.db.agents import runs, steps
from tests.web.conftest import sign_in
from tests.whole.download import Download
from tests.whole.machines import LabMachines
from tests.whole.system import INTERNET, inside, reached_by_ssh, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.browser, pytest.mark.xdist_group("whole")]

INTERNET6 = "2001:db8:cafe::10"


@pytest.fixture
def live_server(bare_lab: Lab) -> Iterator[LiveServer]:
    """The portal's pages, whose requests reach gateways from the portal's node; the browser finds them on this machine."""

    class ServerInNode(ThreadedWSGIServer):
        def serve_forever(self, poll_interval: float = 0.5) -> None:
            with inside(bare_lab, "portal"):
                super().serve_forever(poll_interval)

    server = LiveServer("localhost", start=False)
    server.thread.server_class = ServerInNode
    server.start()
    yield server
    server.stop()


@pytest.fixture
def portal(page: Page, bare_lab: Lab, machines: LabMachines, network: factories.Network, working: None, sockets: Path) -> Page:
    """The portal in mara's browser; both gateways confirmed their first ruleset."""
    reached_by_ssh(bare_lab, network.gateways, sockets)
    assert steps(reconcile(network.group)) == {"nat-1": "confirmed", "nat-2": "confirmed"}
    sign_in(page)
    return page


def open_gateway(page: Page, name: str) -> None:
    page.goto("/gateways/")
    page.locator("main").get_by_role("link", name=name, exact=True).first.click()
    expect(page.get_by_role("heading", name=name, exact=True, level=1)).to_be_visible()


def expect_said(where: Page | Locator, *sentences: str) -> None:
    for sentence in sentences:
        expect(where.get_by_text(sentence).first).to_be_visible()


def expect_primary(page: Page, family: int, gateway: str) -> None:
    """Expect the open gateway's page to call this one the primary for the family, and the other one standby."""
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=f"IPv{family}", exact=True))
    names = page.get_by_role("row").filter(has=page.get_by_role("columnheader", name="Family")).get_by_role("columnheader")
    expect(row).to_be_visible()
    gateways = names.all_inner_texts()[1:]
    assert gateway in gateways
    roles = [re.compile(r"^primary" if name == gateway else r"^(?!primary)") for name in gateways]
    expect(row.get_by_role("cell")).to_have_text(roles, use_inner_text=True)


def move_primary_and_undo_it(page: Page) -> None:
    open_gateway(page, "nat-1")
    expect_primary(page, 6, "nat-2")
    page.get_by_role("link", name="Make primary for IPv6").click()
    dialog = page.get_by_role("dialog")
    expect_said(dialog, "Make nat-1 the primary for IPv6?", "nat-2 is no longer the IPv6 primary.")
    expect_said(dialog, "No packet takes another way", "No rule and no open connection changes.")
    dialog.get_by_role("button", name="Make primary for IPv6").click()
    saved = page.get_by_role("status").filter(has_text="nat-1 is the IPv6 primary of Lindenhof.")
    expect(saved).to_be_visible()
    expect_primary(page, 6, "nat-1")
    saved.get_by_role("button", name="Undo").click()
    expect_said(page, "Undone: nat-1.")
    expect_primary(page, 6, "nat-2")


def replace_machine(page: Page, fingerprint: str) -> None:
    """Replace nat-2's machine by the one whose console shows this fingerprint."""
    open_gateway(page, "nat-2")
    page.get_by_role("link", name="Replace the machine").click()
    page.get_by_role("button", name="Show its host key").click()
    expect_said(
        page, "Is this the new machine’s host key?", "The portal talks only to this machine as nat-2", "Its counters begin at zero."
    )
    expect_said(page, "If the old machine still runs, it keeps forwarding", "Nothing changes on nat-1: what goes through there goes on.")
    shown = page.get_by_role("definition").filter(has_text="SHA256:").all_inner_texts()
    assert shown[0] == fingerprint != shown[1]
    page.get_by_role("button", name="It is the same: replace").click()
    expect_said(page, "nat-2 is another machine now.", "nat-2 answers and runs")
    expect(page.get_by_role("heading", name="On the machine")).to_have_count(0)
    expect(page.get_by_role("definition").filter(has_text=fingerprint)).to_be_visible()


def retire(page: Page) -> None:
    open_gateway(page, "nat-1")
    page.get_by_role("link", name="Retire").click()
    dialog = page.get_by_role("dialog")
    expect_said(dialog, "Retire nat-1?", "nat-1 is the IPv4 primary; nat-2 becomes it.", "The machine keeps forwarding by")
    expect_said(dialog, "nat-2 is the only gateway of Lindenhof then.")
    expect_said(dialog, "No rule changes for members: nat-2 carries them by the same policy.")
    dialog.get_by_role("button", name="Retire the gateway").click()
    expect_said(page, "nat-1 is out of service.", "nat-1 has been out of service since")


def test_a_download_outlives_what_a_person_does_with_the_gateways(
    portal: Page, bare_lab: Lab, machines: LabMachines, network: factories.Network
) -> None:
    nat_1, nat_2 = network.gateways
    with Download(bare_lab, "m1", INTERNET) as download:
        assert download.seen_as == str(factories.PUBLIC)
        with Download(bare_lab, "m1", INTERNET6) as through_nat_2:
            move_primary_and_undo_it(portal)
            assert download.goes_on() and through_nat_2.goes_on()

        replace_machine(portal, machines.exchange("nat-2"))
        assert download.goes_on()
        portal.goto("/gateways/")
        expect_said(portal, "All gateways answer and run the last confirmed revision.")
        nat_2.refresh_from_db()
        assert runs(nat_2) == GatewayState.objects.get(gateway=nat_2).digest
        wait_for(lambda: not Rollout.objects.filter(state__in=Rollout.OPEN).exists())

        with Download(bare_lab, "m1", INTERNET6) as through_new_machine:
            before = runs(nat_1)
            retire(portal)
            assert runs(nat_1) == before and download.goes_on() and through_new_machine.goes_on()
    assert [each.is_whole() for each in (download, through_nat_2, through_new_machine)] == [True] * 3
    portal.goto("/gateways/")
    expect_said(portal, "All gateways answer and run the last confirmed revision.", "Out of service")
    assert list(Gateway.objects.values_list("name", "carries4", "carries6")) == [("nat-2", True, True)]

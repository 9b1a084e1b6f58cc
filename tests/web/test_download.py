"""A member downloads a file and sees the usage on their own page a minute later: real gateways, packets and readings."""

import csv
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.deployments.services import reconcile
from apps.lib.ui.formats import format_volume
from apps.members.models import Member
from lab.lab import Lab
from tests import factories
from tests.web.conftest import sign_in
from tests.whole import witness_table
from tests.whole.system import GATEWAYS, INTERNET, wait_for
from tests.whole.witness_table import Where
from workers.collect import collect_one

pytestmark = [pytest.mark.kernel, pytest.mark.browser, pytest.mark.xdist_group("whole")]

SIZE = 3_000_000
LAST_HOUR = 12  # buckets of five minutes
FETCH = "import sys, urllib.request; print(len(urllib.request.urlopen(sys.argv[1], timeout=20).read()))"


@pytest.fixture
def film(lab: Lab, tmp_path: Path) -> Iterator[str]:
    """The URL of a file on a web server in the lab's internet."""
    (tmp_path / "film").write_bytes(bytes(SIZE))
    command = [sys.executable, "-u", "-m", "http.server", "--bind", INTERNET, "--directory", str(tmp_path), "0"]
    with lab.popen("internet", command) as server:
        try:
            assert server.stdout
            port = server.stdout.readline().partition(" port ")[2].split()[0]
            yield f"http://{INTERNET}:{port}/film"
        finally:
            server.terminate()


def read(lab: Lab, network: factories.Network) -> dict[Where, int]:
    """Read all gateways as the worker does, and return what the witness table counted until then, or {} if packets passed meanwhile."""
    before = witness_table.ask(lab, *GATEWAYS)
    for gateway in network.gateways:
        collect_one(gateway.pk)
    return before if witness_table.ask(lab, *GATEWAYS) == before else {}


def table(page: Page) -> list[str]:
    """Return the received volumes in the table below the chart, without empty buckets and gaps."""
    page.reload()
    traffic = page.locator("#traffic")
    traffic.get_by_text("Show as table").first.click()
    cells = traffic.locator("figure .nw-as-table tbody tr td:nth-child(2)").all_inner_texts()
    return [cell for cell in cells if cell not in ("0 B", "no reading")]


def test_what_a_member_downloads_stands_in_the_last_hour_of_the_own_page(
    page: Page, lab: Lab, network: factories.Network, film: str
) -> None:
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(user=factories.user("selin", staff=False))
    for name in GATEWAYS:
        witness_table.call(lab, name)
    reconcile(network.group)
    read(lab, network)
    assert int(lab.run("m1", [sys.executable, "-c", FETCH, film]).stdout) == SIZE
    seen = wait_for(lambda: read(lab, network), seconds=60)
    received, sent = (sum(octets for where, octets in seen.items() if where.way == way) for way in ("down", "up"))
    assert SIZE < received < 1.2 * SIZE

    sign_in(page, "selin", lands="/me/")
    traffic = page.locator("#traffic")
    traffic.get_by_role("link", name="1 h", exact=True).click()
    page.wait_for_url("/me/?window=hour")
    expect(traffic.locator(".uplot canvas")).to_be_visible()
    for octets, name in ((received, "received"), (sent, "sent")):
        expect(traffic.locator(".nw-figure", has_text=name)).to_contain_text(format_volume(octets))
    with page.expect_download() as saving:
        traffic.get_by_role("link", name="CSV", exact=True).click()
    found = list(csv.DictReader(Path(saving.value.path()).read_text(encoding="utf-8-sig").splitlines()))
    down, up = ([int(row[f"IPv4 {way}, bytes"] or 0) for row in found] for way in ("down", "up"))
    assert (len(found), sum(down), sum(up)) == (LAST_HOUR, received, sent)

    def whole() -> list[str]:
        """Return the volumes of buckets that are over. A part of a bucket would look like less traffic."""
        over = [datetime.fromisoformat(row["Ends"]) <= timezone.now() for row in found]
        return [format_volume(octets) for octets, ended in zip(down, over, strict=True) if octets and ended]

    wait_for(lambda: table(page) == whole(), seconds=120)

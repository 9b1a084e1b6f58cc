"""Live traces of packets on a real gateway, from the page and from the command line."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from subprocess import Popen

import pytest
from django.core.management import call_command
from django.db import connections
from django.test import Client

from apps.bans.models import Ban, BanList
from apps.deployments.services import reconcile
from apps.nat.services import add_forward
from lab.lab import Lab
from tests import factories
from tests.db.page_client import HTMX, signed_in, text
from tests.whole.system import INTERNET, must_reach, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

BANNED = "203.0.113.66"


@pytest.fixture
def staff(lab: Lab, network: factories.Network) -> Client:
    """Client of an administrator, at a deployed network with a forward and a ban."""
    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, by=network.admin)
    Ban.objects.create(list=BanList.objects.create(name="Own"), prefix="203.0.113.64/26", comment="scans")
    reconcile(network.group)
    return signed_in(network.admin)


def begin_trace(client: Client, **asked: object) -> str:
    """Start a live trace; return its page's URL."""
    response = client.post("/why/live/", {"gateway": "nat-1", "seconds": 30, "most": 20, **asked})
    assert response.status_code == 302, text(response)
    return response.headers["Location"]


def fates(page: str) -> list[str]:
    return re.findall(r"<b>(Went through|Dropped|Refused|Ended without a rule)\.</b>", page)


def test_what_becomes_of_a_banned_host_and_of_a_member_is_seen_as_it_happens(staff: Client, lab: Lab, network: factories.Network) -> None:
    url = begin_trace(staff, destination="198.51.100.7", protocol="tcp", port=8443)
    assert "nat-1 is watching." in text(staff.get(url))
    assert reaches(lab, "internet", "198.51.100.7", 8443, source=BANNED) is None
    page = text(staff.get(url, headers=HTMX | {"HX-Target": "now"}))
    assert set(fates(page)) == {"Dropped"}
    assert "@bans4_26 drop" in page and f"TCP {BANNED}" in page and "<html" not in page
    assert f'href="/members/{network.residents["m1"].member.pk}/"' in page
    must_reach(lab, "internet", "198.51.100.7", 8443)
    page = text(staff.get(url))
    assert "Went through" in fates(page) and "@forward4" in page
    ended = text(staff.post(url.replace("?", "end/?"), follow=True))
    assert "Stopped early." in ended and 'hx-trigger="every' not in ended
    assert "netzwart_live" not in lab.run("nat-1", ["nft", "list", "tables"]).stdout


def test_the_page_is_sent_again_only_when_something_came(staff: Client, lab: Lab, network: factories.Network) -> None:
    url = begin_trace(staff, source=f"M-{network.residents['m2'].member.number}")
    polled = {"HX-Target": "now"} | HTMX
    assert staff.get(f"{url}&seen=0", headers=polled).status_code == 204
    must_reach(lab, "m2", INTERNET, 443)
    page = text(staff.get(f"{url}&seen=0", headers=polled))
    assert set(fates(page)) == {"Went through"}
    assert "TCP 198.51.100." in page


def test_where_one_goes_on_another_is_refused_with_the_reason(staff: Client) -> None:
    begin_trace(staff, source="10.16.0.0/16")
    answer = staff.post("/why/live/", {"gateway": "nat-1", "source": "10.16.0.0/16"})
    assert answer.status_code == 422
    assert "nat-1 refuses: a live trace already runs here, for another" in text(answer)


def test_a_gateway_that_is_away_is_said_so(staff: Client, processes: dict[str, Popen[str]]) -> None:
    url = begin_trace(staff, source="10.16.0.0/16")
    processes["nat-1"].kill()
    processes["nat-1"].wait()
    page = text(staff.get(url))
    assert "nat-1 does not answer" in page and 'hx-trigger="every' not in page


def test_the_command_prints_what_the_kernel_does_until_it_is_over(staff: Client, lab: Lab) -> None:
    out = StringIO()

    def watch() -> None:
        try:
            call_command("trace", "any", "198.51.100.7", "8443", live=True, gateway="nat-1", most=1, json=True, stdout=out)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        wait_for(lambda: "netzwart_live" in lab.run("nat-1", ["nft", "list", "tables"]).stdout)
        assert reaches(lab, "internet", "198.51.100.7", 8443, source=BANNED) is None
        watching.result(20)
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    assert {event["packet"] for event in events} == {1}
    assert (events[0]["mark"], events[-1]["chain"], events[-1]["verdict"]) == ("comes", "bans_from4", "drop")

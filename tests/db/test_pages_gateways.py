"""Pages of gateways: the list, one gateway, and its form."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.deployments.models import GatewayState, Hold, Revision
from apps.gateways.retirement import retire_gateway
from apps.network.models import Gateway, GatewayGroup
from apps.traffic.models import Collected
from tests import factories
from tests.db.page_client import text

pytestmark = pytest.mark.django_db

PAST_DRIFT = {
    "since": "2026-01-05T10:00:00+00:00",
    "until": "2026-01-05T11:00:00+00:00",
    "rules": 1,
    "missing": 0,
    "foreign": 0,
    "sysctls": 0,
}


@pytest.fixture
def staff(network: factories.Network, client: Client) -> Client:
    client.force_login(network.admin)
    return client


def note_answer(gateway: Gateway, **changes: Any) -> None:
    """Record that the gateway answered just now."""
    GatewayState.objects.update_or_create(gateway=gateway, defaults={"seen": timezone.now(), "unreachable_since": None} | changes)


def poll(client: Client, shown: Any) -> Any:
    """Ask for what changed since the response, as the page does that it shows."""
    [path] = re.findall(r'id="now" hx-get="([^"]+)"', text(shown))
    return client.get(path, headers={"HX-Request": "true", "HX-Target": "now"})


def build_form(gateway: Gateway, **changes: Any) -> dict[str, Any]:
    """Return what the gateway's form posts."""
    values = {"lan": "lan0", "wan": "wan0", "management": "mgmt0", "sync": "sync0", "management_port": 22, "version": gateway.version}
    return values | {"management_networks": "172.31.0.0/24"} | changes


def test_only_staff_sees_gateways(network: factories.Network, client: Client) -> None:
    pk = network.gateways[0].pk
    assert [client.get(path).status_code for path in ("/gateways/", f"/gateways/{pk}/", f"/gateways/{pk}/edit/")] == [302] * 3
    client.force_login(factories.user("guest", staff=False))
    assert [client.get(path).status_code for path in ("/gateways/", f"/gateways/{pk}/", f"/gateways/{pk}/edit/")] == [403] * 3


def test_without_gateways_the_list_says_what_will_stand_there(db: None, client: Client) -> None:
    client.force_login(factories.user())
    assert "No gateway yet" in text(client.get("/gateways/"))
    GatewayGroup.objects.create(name="Lindenhof")
    assert "No gateway in this group yet" in text(client.get("/gateways/"))


def test_a_gateway_says_what_it_runs_and_carries(staff: Client, network: factories.Network) -> None:
    first = network.gateways[0]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_snapshot()::text")
        (snapshot,) = cursor.fetchone()
    note_answer(first, revision=Revision.objects.create(group=network.group, snapshot=snapshot), since=timezone.now(), in_memory=True)
    page = text(staff.get(f"/gateways/{first.pk}/"))
    assert "nat-1 answers and runs r" in page and "no packets pass through it" in page and "IPv4 primary" in page
    assert "172.31.0.0/24" in page and "lan0" in page and str(network.public.prefix) in page


def test_a_silent_gateway_says_since_when(staff: Client, network: factories.Network) -> None:
    first, second = network.gateways
    note_answer(first, unreachable_since=timezone.now() - timedelta(minutes=5), error="nat-1: no <i>answer</i>")
    note_answer(second)
    page = text(staff.get("/gateways/"))
    assert "nat-1 has not answered the portal since" in page and "Unreachable since" in page and "no &lt;i&gt;answer" in page


def test_carrying_both_alone_is_a_warning(staff: Client, network: factories.Network) -> None:
    first, second = network.gateways
    Gateway.objects.filter(pk=second.pk).update(carries6=False)
    Gateway.objects.filter(pk=first.pk).update(carries6=True)
    note_answer(first)
    note_answer(second)
    assert "carries IPv4 and IPv6 alone" not in text(staff.get(f"/gateways/{first.pk}/"))
    note_answer(second, unreachable_since=timezone.now())
    assert "nat-1 carries IPv4 and IPv6 alone" in text(staff.get(f"/gateways/{first.pk}/"))


def test_a_family_that_nobody_carries_is_a_warning(staff: Client, network: factories.Network) -> None:
    Gateway.objects.update(carries6=False)
    assert "No gateway is primary for IPv6" in text(staff.get("/gateways/"))


def test_workers_that_do_not_look_are_said(staff: Client, network: factories.Network) -> None:
    for gateway in network.gateways:
        note_answer(gateway, seen=timezone.now() - timedelta(hours=1))
    assert "Are the workers running?" in text(staff.get("/gateways/"))


def test_a_machine_that_was_never_asked_is_no_fault_of_the_workers(staff: Client, network: factories.Network) -> None:
    note_answer(network.gateways[0], seen=None)
    page = text(staff.get(f"/gateways/{network.gateways[0].pk}/"))
    assert "nat-1 has not been polled yet." in page and "Are the workers running?" not in page


def test_a_page_that_stays_open_is_told_what_changed_and_a_retired_gateway_is_shown_anew(staff: Client, network: factories.Network) -> None:
    first = network.gateways[0]
    note_answer(first)
    asked = poll(staff, staff.get(f"/gateways/{first.pk}/"))
    assert 'id="now"' in text(asked) and text(asked).count('hx-swap-oob="true"') == 5 and "<h1" not in text(asked)
    retire_gateway(gateway=first, version=first.version)
    asked = staff.get(f"/gateways/{first.pk}/", headers={"HX-Request": "true", "HX-Target": "now"})
    assert (asked.status_code, asked.headers["HX-Refresh"]) == (204, "true")


def test_a_page_that_stays_open_shows_drift_while_there_is_some(staff: Client, network: factories.Network) -> None:
    first = network.gateways[0]
    note_answer(first)
    page = staff.get(f"/gateways/{first.pk}/")
    note_answer(first, drift={"rules": ["chain forward"]}, drift_since=timezone.now())
    asked = poll(staff, page)
    assert "nat-1 was changed by hand" in text(asked) and "Put it right" in text(asked) and "chain forward" in text(asked)
    again = poll(staff, asked)
    assert "nat-1 was changed by hand" in text(again) and 'id="drift"' not in text(again), "nothing of it has changed"
    note_answer(first, drift=None, drift_since=None, drifted_before=[PAST_DRIFT])
    healed = text(poll(staff, again))
    assert 'id="drift"' in healed and "Put it right</button>" not in healed and "Put right earlier" in healed


def test_a_page_that_stays_open_shows_a_hold_and_what_is_wrong_with_readings_while_that_is_so(
    staff: Client, network: factories.Network
) -> None:
    first = network.gateways[0]
    note_answer(first)
    page = staff.get(f"/gateways/{first.pk}/")
    Collected.objects.create(gateway=first, refused="the counters went backwards", refused_at=timezone.now())
    revision = Revision.objects.create(group=network.group, snapshot="1:1:")
    Hold.objects.create(group=network.group, revision=revision, why="wait for Monday")
    asked = poll(staff, page)
    assert "Restart counting" in text(asked) and "wait for Monday" in text(asked)
    Collected.objects.update(refused="", refused_at=None, nobodys=3, nobodys_first="10.0.0.9")
    Hold.objects.update(released=timezone.now())
    later = text(poll(staff, asked))
    assert "Restart counting" not in later and "wait for Monday" not in later and "such as 10.0.0.9" in later


def test_interfaces_are_changed_and_the_history_says_by_whom(staff: Client, network: factories.Network) -> None:
    first = network.gateways[0]
    response = staff.post(
        f"/gateways/{first.pk}/edit/", build_form(first, lan="eth1.10", management_networks="172.31.0.0/24\n2001:db8:f::/64")
    )
    assert response.status_code == 302
    first.refresh_from_db()
    assert (first.lan, first.version, [str(each) for each in first.management_networks]) == (
        "eth1.10",
        2,
        ["172.31.0.0/24", "2001:db8:f::/64"],
    )
    page = text(staff.get(f"/gateways/{first.pk}/"))
    assert "<ins>eth1.10</ins>" in page and "Mara Lindqvist" in page


def test_a_stale_save_shows_both_values_and_loses_neither(staff: Client, network: factories.Network) -> None:
    first = network.gateways[0]
    stale = build_form(first, lan="mine0")
    staff.post(f"/gateways/{first.pk}/edit/", build_form(first, lan="theirs0", management_port=2222))
    response = staff.post(f"/gateways/{first.pk}/edit/", stale)
    page = text(response)
    assert response.status_code == 422 and "Mara Lindqvist changed this gateway at" in page
    assert 'value="mine0"' in page and "Saved meanwhile: <code>theirs0</code>" in page and "<code>2222</code>" in page
    first.refresh_from_db()
    assert first.lan == "theirs0" and f'name="version" value="{first.version}"' in page
    assert staff.post(f"/gateways/{first.pk}/edit/", stale | {"version": first.version}).status_code == 302


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"lan": "lan 0; drop"}, "is not an interface name"),
        ({"lan": "wan0"}, "is already another interface"),
        ({"management_networks": "172.31.0.1/24"}, "is not a network"),
        ({"management_networks": " \n "}, "This field is required"),
        ({"management_networks": "<script>"}, "“&lt;script&gt;” is not a network"),
        ({"management_port": "99999"}, "less than or equal to 65535"),
        ({"version": "x"}, "Enter a whole number"),
        ({"lan": "lan\x00"}, "control character (U+0000)"),
    ],
)
def test_an_invalid_gateway_setting_is_reported_at_its_field(
    staff: Client, network: factories.Network, changes: dict[str, Any], says: str
) -> None:
    first = network.gateways[0]
    response = staff.post(f"/gateways/{first.pk}/edit/", build_form(first, **changes))
    assert response.status_code == 422 and says in text(response)
    assert Gateway.objects.get(pk=first.pk).version == 1


def test_queries_do_not_grow_with_gateways(staff: Client, network: factories.Network) -> None:
    def asked(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert staff.get(path).status_code == 200
        return len(queries)

    paths = ("/gateways/", f"/gateways/{network.gateways[0].pk}/")
    note_answer(network.gateways[0])
    staff.get("/")  # the first page of a session writes to the database
    few = [asked(path) for path in paths]
    for number in range(3, 30):
        note_answer(factories.gateway(network.group, f"nat-{number}"))
    assert [asked(path) for path in paths] == few


def test_the_page_shows_the_command_of_the_probe_with_its_addresses(network: factories.Network, staff: Client) -> None:
    gateway = network.gateways[0]
    assert "none: nothing shows whether packets pass" in text(staff.get(f"/gateways/{gateway.pk}/"))
    addresses = {"probe_source4": "172.31.254.2", "probe_public4": "192.0.2.251", "probe_source6": "2001:db8:b1::2"}
    Gateway.objects.filter(pk=gateway.pk).update(probe_interface="probe0", **addresses)
    shown = text(staff.get(f"/gateways/{gateway.pk}/"))
    assert "172.31.254.2, outside 192.0.2.251" in shown
    assert "netzwart-probe --ipv4 172.31.254.2 --ipv6 2001:db8:b1::2" in shown
    Gateway.objects.filter(pk=gateway.pk).update(probe_interface="cable7", probe_source6=None)
    assert "netzwart-probe --ipv4 172.31.254.2 --interface cable7" in text(staff.get(f"/gateways/{gateway.pk}/"))

"""IPv6 pinholes on pages, in the search, in the members list as CSV, and in the API."""

import csv
import io
from datetime import timedelta
from ipaddress import IPv6Address
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.audit.selectors import list_row_history
from apps.desk.selectors.search import search_everything
from apps.nat.pinholes import services
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.selectors import list_pinholes
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import HTMX, signed_in, text

HOST = IPv6Address("2001:db8:a0:10::10")


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def api(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def open_own_pinhole(network: factories.Network, **changes: Any) -> Pinhole:
    given: dict[str, Any] = {"address": HOST, "protocol": "udp", "port": 6000, "ports": 10, "purpose": "game", "by": network.admin}
    return services.add_pinhole(holding=network.residents["m1"].prefix, **(given | changes))


def add(mara: Client, network: factories.Network, *, htmx: bool = True, **changes: Any) -> Any:
    given = {"protocol": "tcp", "port": "443", "address": "::10", "purpose": "web"} | changes
    path = f"/members/{network.residents['m1'].member.pk}/pinholes/add/"
    return mara.post(path, {f"pinhole-{name}": value for name, value in given.items()}, headers=HTMX if htmx else None)


def test_the_end_of_an_address_is_enough_and_the_panel_shows_what_is_open(mara: Client, network: factories.Network) -> None:
    page = text(add(mara, network))
    made = Pinhole.objects.get()
    assert (made.address, made.scope_text, made.purpose) == (HOST, "TCP 443", "web")
    assert "TCP 443" in page and "2001:db8:a0:10::10" in page and "is on its way to nat-1, nat-2" in page


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"port": "6000-6009", "protocol": "udp"}, "UDP 6000–6009"),
        ({"port": ""}, "TCP, all ports"),
        ({"protocol": "all", "port": ""}, "everything"),
    ],
)
def test_ranges_all_ports_and_everything_can_be_opened(
    mara: Client, network: factories.Network, changes: dict[str, Any], what: str
) -> None:
    assert what in text(add(mara, network, **changes))
    assert Pinhole.objects.get().scope_text == what


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"address": "2001:db8:a0:11::10"}, "is not in 2001:db8:a0:10::/64"),
        ({"address": "10.16.0.10"}, "This is not an IPv6 address"),
        ({"address": "fe80::1%eth0"}, "is not in 2001:db8:a0:10::/64|This is not an IPv6 address"),
        ({"port": "80-70"}, "is neither a port nor a range"),
        ({"protocol": "all"}, "The protocol “everything” has no ports"),
        ({"until": "2001-01-01"}, "This day is in the past"),
        ({"port": "6005", "protocol": "udp"}, "UDP 6000–6009 is already open on 2001:db8:a0:10::10"),
    ],
)
def test_what_cannot_be_opened_keeps_the_form_and_says_why(
    mara: Client, network: factories.Network, changes: dict[str, Any], said: str
) -> None:
    open_own_pinhole(network)
    answer = add(mara, network, **changes)
    assert answer.status_code == 422
    assert any(each in text(answer) for each in said.split("|"))
    assert list_pinholes().count() == 1


def test_a_pinhole_with_a_last_day_ends_with_it(mara: Client, network: factories.Network) -> None:
    day = timezone.localdate() + timedelta(days=2)
    add(mara, network, until=day.isoformat())
    [made] = list_pinholes()
    assert timezone.localtime(made.valid.upper).date() == day + timedelta(days=1)


def test_without_htmx_the_members_page_says_what_was_saved(mara: Client, network: factories.Network) -> None:
    answer = add(mara, network, htmx=False)
    page = text(mara.get(answer["Location"]))
    assert "TCP 443 on 2001:db8:a0:10::10" in page and "<b>Saved.</b>" in page


def test_switching_removing_and_undoing(mara: Client, network: factories.Network) -> None:
    pinhole = open_own_pinhole(network)
    page = text(mara.post(f"/pinholes/{pinhole.pk}/switch/", {"version": "1", "enabled": "0"}, headers=HTMX))
    assert 'aria-checked="false"' in page
    assert mara.post(f"/pinholes/{pinhole.pk}/switch/", {"version": "1", "enabled": "1"}, headers=HTMX).status_code == 422
    assert "connections that came in through it end" in text(mara.get(f"/pinholes/{pinhole.pk}/remove/"))
    page = text(mara.post(f"/pinholes/{pinhole.pk}/remove/", headers=HTMX))
    assert "<b>Removed.</b>" in page and f"/pinholes/{pinhole.pk}/restore/" in page
    assert "<b>Saved.</b>" in text(mara.post(f"/pinholes/{pinhole.pk}/restore/", headers=HTMX))
    assert list_pinholes().count() == 1


def test_adding_can_be_undone_until_it_was_changed(mara: Client, network: factories.Network) -> None:
    page = text(add(mara, network))
    pinhole = Pinhole.objects.get()
    undo = f'<form method="post" action="/pinholes/{pinhole.pk}/remove/">'
    assert undo in page
    changed = text(mara.post(f"/pinholes/{pinhole.pk}/switch/", {"version": "1", "enabled": "0"}, headers=HTMX))
    assert "<b>Saved.</b>" in changed and undo not in changed
    assert "<b>Removed.</b>" in text(mara.post(f"/pinholes/{pinhole.pk}/remove/", follow=True))
    assert not list_pinholes().exists()


def test_what_a_pinhole_opens_can_be_edited(mara: Client, network: factories.Network) -> None:
    pinhole = open_own_pinhole(network)
    assert 'value="6000-6009"' in text(mara.get(f"/pinholes/{pinhole.pk}/edit/"))
    given = {"protocol": "udp", "port": "6000-6019", "address": str(HOST), "purpose": "games", "version": "1"}
    sent = {f"pinhole-{name}": value for name, value in given.items()}
    assert mara.post(f"/pinholes/{pinhole.pk}/edit/", sent).status_code == 302
    pinhole.refresh_from_db()
    assert (pinhole.scope_text, pinhole.purpose) == ("UDP 6000–6019", "games")
    late = mara.post(f"/pinholes/{pinhole.pk}/edit/", sent | {"pinhole-port": "1"})
    assert late.status_code == 422 and "This pinhole was changed or removed by someone else" in text(late)


@pytest.mark.parametrize(("sent", "left"), [({"follow": "on"}, 1), ({}, 0)])
def test_a_prefix_is_changed_and_the_page_says_what_becomes_of_its_pinholes(
    mara: Client, network: factories.Network, sent: dict[str, str], left: int
) -> None:
    open_own_pinhole(network)
    holding = network.residents["m1"].prefix
    assert "1 IPv6 pinhole" in text(mara.get(f"/holdings/{holding.pk}/renumber/"))
    answer = mara.post(f"/holdings/{holding.pk}/renumber/", sent)
    assert answer.status_code == 302
    assert list_pinholes().count() == left
    assert "instead of 2001:db8:a0:10::/64" in text(mara.get(answer["Location"]))


def test_a_full_pool_is_said_and_changes_nothing(mara: Client, network: factories.Network) -> None:
    pool = factories.pool(network.group, "prefix6", "2001:db8:ff::/64")
    holding = factories.make_holding(factories.member("Last"), pool, "2001:db8:ff::/64")
    answer = mara.post(f"/holdings/{holding.pk}/renumber/", {"follow": "on"})
    assert answer.status_code == 422 and "is full" in text(answer)
    holding.refresh_from_db()
    assert holding.valid.upper is None


def test_the_panel_needs_as_many_queries_for_few_as_for_many(
    mara: Client, network: factories.Network, django_assert_max_num_queries: Any
) -> None:
    for port in range(1, 30):
        open_own_pinhole(network, protocol="tcp", port=port, ports=1)
    with django_assert_max_num_queries(7):
        mara.get(f"/members/{network.residents['m1'].member.pk}/pinholes/")


@pytest.mark.parametrize("asked", ["2001:db8:a0:10::10", "[2001:db8:a0:10::10]:6005", "2001:db8:a0:10::/64", "6005"])
def test_the_search_finds_what_is_open(network: factories.Network, asked: str) -> None:
    open_own_pinhole(network)
    assert "UDP 6000–6009 on 2001:db8:a0:10::10" in [hit.name for group in search_everything(asked) for hit in group.hits]


@pytest.mark.parametrize("asked", ["2001:db8:a0:11::10", "[2001:db8:a0:10::10]:7000", "6010"])
def test_the_search_finds_nothing_beside_it(network: factories.Network, asked: str) -> None:
    open_own_pinhole(network)
    assert not [hit for group in search_everything(asked) for hit in group.hits if "UDP 6000" in hit.name]


def test_the_list_as_a_file_counts_them(mara: Client, network: factories.Network) -> None:
    open_own_pinhole(network)
    body = b"".join(mara.get("/members.csv").streaming_content).decode().removeprefix("\ufeff")  # type: ignore[attr-defined]
    head, *lines = csv.reader(io.StringIO(body))
    column = head.index("IPv6 pinholes")
    assert {line[1]: line[column] for line in lines}["Resident of m1"] == "1"


def test_the_history_knows_them(network: factories.Network) -> None:
    pinhole = open_own_pinhole(network)
    services.remove_pinhole(pinhole=pinhole, by=network.admin)
    assert "IPv6 pinhole" in str(list_row_history(network.residents["m1"].member, 8))


def test_a_script_opens_reads_and_closes(api: Client, network: factories.Network) -> None:
    body = {"holding": network.residents["m1"].prefix.pk, "address": str(HOST), "protocol": "udp", "port": 6000, "ports": 10}
    made = api.post("/api/nat/pinholes/", body, content_type="application/json")
    assert made.status_code == 201, made.json()
    assert (made.json()["port"], made.json()["ports"], made.json()["until"]) == (6000, 10, None)
    assert made.json()["active"] == [{"gateway": name, "since": None, "waits": ""} for name in ("nat-1", "nat-2")]
    path = f"/api/nat/pinholes/{made.json()['id']}/"
    assert api.get(path).json() == made.json()
    refused = api.post("/api/nat/pinholes/", body | {"port": 6009, "ports": 1}, content_type="application/json")
    assert refused.status_code == 400 and "is already open on" in wrong(refused)["port"][0]
    assert api.delete(path).status_code == 204
    assert api.get(path).status_code == 404


@pytest.mark.parametrize("protocol", ["tcp", "all"])
def test_a_script_opens_all_ports_by_leaving_them_out(api: Client, network: factories.Network, protocol: str) -> None:
    body = {"holding": network.residents["m1"].prefix.pk, "address": str(HOST), "protocol": protocol}
    made = api.post("/api/nat/pinholes/", body, content_type="application/json").json()
    assert (made["port"], made["ports"]) == (None, None)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"port": 443}, "TCP 443"),
        ({"port": 443, "ports": None}, "TCP 443"),
        ({"port": 443, "ports": 3}, "TCP 443–445"),
        ({"purpose": "web"}, "TCP, all ports"),
    ],
)
def test_a_script_narrows_a_pinhole_of_all_ports(api: Client, network: factories.Network, change: dict[str, Any], what: str) -> None:
    pinhole = open_own_pinhole(network, protocol="tcp", port=0)
    answer = api.patch(f"/api/nat/pinholes/{pinhole.pk}/", change, content_type="application/json")
    assert answer.status_code == 200, answer.json()
    assert Pinhole.objects.get().scope_text == what


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("address=2001:db8:a0:10::/64", 1),
        ("address=2001:db8:a0:11::/64", 0),
        ("protocol=udp", 1),
        ("protocol=tcp", 0),
    ],
)
def test_a_script_asks_for_some(api: Client, network: factories.Network, query: str, found: int) -> None:
    open_own_pinhole(network)
    assert api.get(f"/api/nat/pinholes/?{query}").json()["count"] == found

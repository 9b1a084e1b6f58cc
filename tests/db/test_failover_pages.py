"""Failover of a group by page, API and command: the settings, the files that result, and what is said about them."""

import io
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from apps.accounts import tokens
from apps.gateways.failover_settings import get_failover
from apps.gateways.joining.services import finish_joining
from apps.network.models import Failover, Gateway, Pool
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import signed_in, text
from tests.joining_machines import build_facts, build_interface, make_ready_machine

pytestmark = pytest.mark.django_db(transaction=True)

JSON = "application/json"
FORM = {"version": 0, "inside": "10.16.0.1/11\nfe80::1/64", "outside": "192.0.2.2/24, 2001:db8:b0::fe/64", "servers": ""} | {
    "virtual_router": 1,
    "interval": 20,
    "failback": "",
    "cache": "direct",
}

FILES = ["conntrackd.conf", "failover.conf", "keepalived.conf"]


@pytest.fixture(autouse=True)
def _link(network: factories.Network) -> None:
    """Gateways with addresses on their sync interfaces, and a pool that keeps the router's address free."""
    for number, gateway in enumerate(network.gateways, 1):
        Gateway.objects.filter(pk=gateway.pk).update(sync_address=f"172.31.255.{number}")
    Pool.objects.filter(pk=network.private.pk).update(kept_first=1)


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def api(network: factories.Network) -> Client:
    key = tokens.create_token(user=network.admin, name="script")[1]
    return Client(headers={"authorization": f"Bearer {key}"})


def path(network: factories.Network, more: str = "") -> str:
    return f"/gateways/groups/{network.group.pk}/failover/{more or 'settings/'}"


def command(*arguments: str) -> str:
    """Return what the command prints."""
    output = io.StringIO()
    call_command(*arguments, stdout=output, stderr=output)
    return output.getvalue()


# --- Pages


def test_the_page_leads_from_nothing_to_the_files_of_each_gateway(mara: Client, network: factories.Network) -> None:
    page = text(mara.get(f"/gateways/groups/{network.group.pk}/failover/"))
    assert "Failover is not managed here yet" in page and path(network) in page
    page = text(mara.post(path(network), FORM, follow=True))
    assert "Saved. Nothing was sent" in page and "Install on nat-1…" in page
    assert "preferred for IPv4" in page and "preferred for IPv6" in page
    assert "apt-get install --no-install-recommends keepalived conntrackd" in page and "netzwart-failover install" in page
    assert page.count("vrrp_version 3") == 4  # for each gateway, to read and to copy
    nat_1 = Gateway.objects.get(name="nat-1")
    answer = mara.get(f"/gateways/{nat_1.pk}/failover/conntrackd.conf")
    assert "IPv4_interface 172.31.255.1" in text(answer)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="conntrackd.conf"'
    assert mara.get(f"/gateways/{nat_1.pk}/failover/passwd").status_code == 404
    assert path(network).removesuffix("settings/") in text(mara.get(f"/gateways/{nat_1.pk}/"))


def test_the_page_names_what_a_gateway_lacks(mara: Client, network: factories.Network) -> None:
    mara.post(path(network), FORM)
    Gateway.objects.filter(name="nat-2").update(sync_address=None)
    page = text(mara.get(path(network)))
    assert "nat-2 has no address on its state sync interface sync0" in page and page.count("vrrp_version 3") == 2
    nat_2 = Gateway.objects.get(name="nat-2")
    assert f"/gateways/{nat_2.pk}/edit/" in page
    assert mara.get(f"/gateways/{nat_2.pk}/failover/conntrackd.conf").status_code == 404


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"inside": "10.16.0.1"}, "inside"),
        ({"inside": "10.16.0.1/255.224.0.0"}, "inside"),
        ({"inside": "fe80::1%eth0/64"}, "inside"),
        ({"outside": "192.0.2.0/24"}, "outside"),
        ({"virtual_router": 300}, "virtual_router"),
        ({"cache": "none"}, "cache"),
    ],
)
def test_an_invalid_value_is_reported_at_its_field(mara: Client, network: factories.Network, given: dict[str, Any], name: str) -> None:
    response = mara.post(path(network), FORM | given)
    assert response.status_code == 422 and f'id="id_{name}_error"' in text(response)
    assert not Failover.objects.exists()


def test_a_second_save_shows_what_the_first_has_saved(mara: Client, network: factories.Network) -> None:
    mara.post(path(network), FORM)
    page = text(mara.post(path(network), FORM | {"virtual_router": 9}))
    assert "Mara Lindqvist changed these settings at" in page and "Saved meanwhile" in page
    assert "Saved." in text(mara.post(path(network), FORM | {"virtual_router": 9, "version": 1}, follow=True))


def test_it_is_stopped_after_a_confirmation_and_brought_back(mara: Client, network: factories.Network) -> None:
    mara.post(path(network), FORM)
    asked = text(mara.get(path(network, "stop/")))
    assert "Stop managing the failover of Lindenhof?" in asked and "go on as they are" in asked
    assert "changed these settings" in text(mara.post(path(network, "stop/"), {"version": 7}, follow=True))
    stopped = mara.post(path(network, "stop/"), {"version": 1}, follow=True)
    assert "does not manage the failover of Lindenhof any more" in text(stopped) and not Failover.objects.exists()
    [message] = stopped.context["messages"]
    assert "10.16.0.1/11" in text(mara.post(message.extra_tags, follow=True))


def test_only_who_operates_the_network_changes_it(network: factories.Network) -> None:
    guest = signed_in(factories.user("guest", staff=False))
    assert guest.post(path(network), FORM).status_code == 403
    auditor = signed_in(factories.user("ada", roles=["auditor"]))
    assert auditor.get(path(network)).status_code == 200 and auditor.post(path(network), FORM).status_code == 403


def test_the_pages_of_a_gateway_take_its_address_on_the_sync_interface(mara: Client) -> None:
    gateway = Gateway.objects.get(name="nat-1")
    given = {"lan": "lan0", "wan": "wan0", "management": "mgmt0", "sync": "sync0", "management_port": 22, "version": gateway.version}
    where = f"/gateways/{gateway.pk}/edit/"
    refused = mara.post(where, given | {"management_networks": "172.31.0.0/24", "sync_address": "172.31.255.2"})
    assert refused.status_code == 422 and "is the address of nat-2 on its state sync interface" in text(refused)
    saved = mara.post(where, given | {"management_networks": "172.31.0.0/24", "sync_address": "172.31.255.7"}, follow=True)
    assert "172.31.255.7" in text(saved)


@pytest.mark.parametrize(
    ("given", "own", "found"),
    [
        (None, "172.31.255.3/29", "172.31.255.3"),
        ("172.31.255.9", "172.31.255.3/29", "172.31.255.9"),
        (None, "10.16.0.77/12", "None"),  # in a pool
        (None, "172.31.255.1/29", "None"),  # of nat-1
        (None, "fe80::2/64", "None"),
    ],
)
def test_a_joining_machine_reports_its_address_on_the_sync_interface(
    network: factories.Network, given: str | None, own: str, found: str
) -> None:
    names = ("eno1", "eno2", "eno3")
    interfaces = (*(build_interface(name) for name in names), build_interface("eno4", own))
    machine = make_ready_machine(network.group, facts=build_facts(interfaces=interfaces))
    chosen: dict[str, Any] = dict(zip(("lan", "wan", "management", "sync"), (*names, "eno4"), strict=True))
    address = ip_address(given) if given else None
    made = finish_joining(machine=machine, sync_address=address, management_networks=network.gateways[0].management_networks, **chosen)
    assert str(made.sync_address) == found


# --- API


def test_a_script_reads_changes_and_stops_it(api: Client, network: factories.Network) -> None:
    where = f"/api/gateways/failover/{network.group.pk}/"
    first = api.get(where)
    assert first.json() == {
        "group": network.group.pk,
        "version": 0,
        "inside": [],
        "outside": [],
        "servers": [],
        "virtual_router": 1,
        "interval": 20,
        "failback": None,
        "cache": "direct",
        "announce": False,
    }
    given = {"version": 0, "inside": ["10.16.0.1/11"], "failback": 300}
    answer = api.patch(where, given, content_type=JSON)
    assert answer.status_code == 200, answer.json()
    assert (answer.json()["inside"], answer.json()["failback"], answer.json()["version"]) == (["10.16.0.1/11"], 300, 1)
    assert api.patch(where, given | {"interval": 30}, content_type=JSON).status_code == 409
    bad = api.patch(where, {"version": 1, "outside": ["192.0.2.1"]}, content_type=JSON)
    assert bad.status_code == 400 and "outside" in " ".join(wrong(bad))
    missing = api.patch(where, {"version": 1, "outside": ["2001:db8:b0::fe/64"]}, content_type=JSON)
    assert missing.status_code == 400 and "There is no IPv6 address inside" in missing.content.decode()
    assert api.patch(where, {"version": 1, "failback": None}, content_type=JSON).json()["failback"] is None
    whole = {name: value for name, value in api.get(where).json().items() if name != "group"} | {"cache": "external"}
    assert api.put(where, whole, content_type=JSON).json()["cache"] == "external"
    old = api.get(where).headers["ETag"]
    api.put(where, whole | {"version": 3, "cache": "direct"}, content_type=JSON)
    assert api.post(f"{where}stop/", headers={"If-Match": old}).status_code == 412
    assert api.post(f"{where}stop/").json()["version"] == 0 and not Failover.objects.exists()


def test_a_script_reads_the_files_of_a_gateway(api: Client, network: factories.Network) -> None:
    where = f"/api/gateways/gateways/{network.gateways[0].pk}/failover-files/"
    refused = api.get(where)
    assert refused.status_code == 400 and "Failover is not set for Lindenhof" in refused.json()["detail"]
    api.patch(f"/api/gateways/failover/{network.group.pk}/", {"version": 0, "inside": ["10.16.0.1/11"]}, content_type=JSON)
    found = api.get(where).json()
    assert found["preferred"] == [4] and sorted(found["files"]) == FILES
    assert "10.16.0.1/11" in found["files"]["keepalived.conf"]


def test_a_script_changes_the_sync_address_of_a_gateway(api: Client, network: factories.Network) -> None:
    where = f"/api/gateways/gateways/{network.gateways[0].pk}/"
    assert api.get(where).json()["sync_address"] == "172.31.255.1"
    assert api.patch(where, {"sync_address": "172.31.255.9"}, content_type=JSON).json()["sync_address"] == "172.31.255.9"
    assert api.patch(where, {"sync_address": None}, content_type=JSON).json()["sync_address"] is None
    assert "sync_address" in wrong(api.patch(where, {"sync_address": "2001:db8::1"}, content_type=JSON))


# --- Commands


def test_the_command_shows_sets_and_stops_it(network: factories.Network) -> None:
    assert "is not managed here. Begin with" in command("group", "failover", "Lindenhof")
    with pytest.raises(CommandError, match="Enter at least one virtual address inside"):
        command("group", "failover", "Lindenhof", "--failback", "300")
    given = ("--inside", "10.16.0.1/11", "--inside", "fe80::1/64", "--outside", "192.0.2.2/24", "--failback", "300")
    shown = command("group", "failover", "Lindenhof", *given)
    assert "inside: 10.16.0.1/11, fe80::1/64\n" in shown and "servers: no address" in shown
    assert "VRID 1  every 0.20 s  takes its family back after 300 s" in shown
    given = ("--outside", "none", "--failback", "none", "--interval", "30", "--cache", "external")
    changed = command("group", "failover", "Lindenhof", *given)
    assert "outside: no address" in changed and "every 0.30 s  a person switches back  states external" in changed
    assert list(map(str, get_failover(network.group).inside)) == ["10.16.0.1/11", "fe80::1/64"]
    with pytest.raises(CommandError, match="is not an address with a prefix length"):
        command("group", "failover", "Lindenhof", "--inside", "10.16.0.1")
    with pytest.raises(CommandError, match="neither a number of seconds"):
        command("group", "failover", "Lindenhof", "--failback", "soon")
    assert "goes on" in command("group", "failover", "Lindenhof", "--off") and not Failover.objects.exists()


def test_the_command_prints_the_files_or_writes_them(network: factories.Network, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Failover is not set for Lindenhof"):
        command("gateway", "failover-files", "nat-1")
    command("group", "failover", "Lindenhof", "--inside", "10.16.0.1/11")
    assert "==> keepalived.conf <==" in command("gateway", "failover-files", "nat-1")
    folder = tmp_path / "new" / "nat-1"
    assert "netzwart-failover install" in command("gateway", "failover-files", "nat-1", "--directory", str(folder))
    assert sorted(each.name for each in folder.iterdir()) == FILES
    assert "10.16.0.1/11" in (folder / "keepalived.conf").read_text()


def test_the_command_changes_the_sync_address_of_a_gateway(network: factories.Network) -> None:
    command("gateway", "change", "nat-1", "--sync-address", "172.31.255.9")
    assert str(Gateway.objects.get(name="nat-1").sync_address) == "172.31.255.9"
    command("gateway", "change", "nat-1", "--sync-address", "none")
    assert Gateway.objects.get(name="nat-1").sync_address is None

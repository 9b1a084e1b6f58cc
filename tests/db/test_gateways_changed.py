"""Gateways are added and changed, and the primary of an address family moves: by page, API and command, and by an undo."""

import io
import shutil
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client

from apps.accounts import tokens
from apps.audit.undo import find_last_event, undo_event
from apps.bans.listeners.services import set_server_facing_interface
from apps.deployments.models import Revision, Rollout, RolloutStep
from apps.deployments.transport import ssh_keys
from apps.gateways import families, primaries
from apps.gateways.services import configure_gateway, get_facts
from apps.lib.errors import Conflict, Problem
from apps.network.models import Gateway, GatewayGroup
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)

JSON = "application/json"
PATH = "/api/gateways/gateways/"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43
PROBE: Mapping[str, Any] = {
    "probe_interface": "probe0",
    "probe_source4": ip_address("172.31.254.2"),
    "probe_public4": ip_address("192.0.2.251"),
    "probe_source6": ip_address("2001:db8:b1::2"),
}


@pytest.fixture(autouse=True)
def _keys(settings: LazySettings, tmp_path: Path) -> None:
    settings.SSH_KEY = tmp_path / "ssh" / "id_ed25519"


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def api(network: factories.Network) -> Client:
    return build_script(network)


def build_script(network: factories.Network, **limits: Any) -> Client:
    key = tokens.create_token(user=network.admin, name="script", **limits)[1]
    return Client(headers={"authorization": f"Bearer {key}"})


def run_gateway(*arguments: str) -> str:
    """Return what the command prints."""
    output = io.StringIO()
    call_command("gateway", *arguments, stdout=output, stderr=io.StringIO())
    return output.getvalue()


def configure(network: factories.Network, which: int = 0, **changes: Any) -> Gateway:
    gateway = Gateway.objects.get(pk=network.gateways[which].pk)
    return configure_gateway(gateway=gateway, version=gateway.version, facts=replace(get_facts(gateway), **changes), by=network.admin)


def undo(network: factories.Network, gateway: Gateway) -> None:
    event = find_last_event(Gateway, gateway.pk)
    assert event
    undo_event(model=Gateway, event=event, by=network.admin)


def list_primaries(network: factories.Network) -> tuple[str, str]:
    """Return the names of the primaries for IPv4 and IPv6."""
    first, second = (families.find_primary(network.group, family) for family in families.FAMILIES)
    return str(first), str(second)


# --- Values


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"sync": "lan0"}, "sync", "lan0 is already another interface"),
    ({"management_port": 65536}, "management_port", "65536 is not a port"),
    ({"ssh_user": "-oProxyCommand=reboot"}, "ssh_user", "is not the name of an account"),
    ({"management_networks": ()}, "management_networks", "Without a management network"),
    ({**PROBE, "probe_interface": ""}, "probe_interface", "Enter the interface that leads to the probe"),
    ({**PROBE, "probe_interface": "sync0"}, "probe_interface", "sync0 is already another interface"),
    ({**PROBE, "probe_interface": "wan0"}, "probe_interface", "wan0 is already another interface"),
    ({"probe_interface": "probe0"}, "probe_interface", "The probe needs an address"),
    ({**PROBE, "probe_public4": None}, "probe_public4", "a private address and the public one"),
    ({**PROBE, "probe_source4": None}, "probe_source4", "a private address and the public one"),
    ({**PROBE, "probe_source6": ip_address("192.0.2.1")}, "probe_source6", "192.0.2.1 is not an IPv6 address"),
    ({**PROBE, "probe_source4": ip_address("2001:db8::1")}, "probe_source4", "2001:db8::1 is not an IPv4 address"),
    ({**PROBE, "probe_source4": ip_address("192.0.2.250")}, "probe_source4", "192.0.2.250 is not a private address"),
    ({**PROBE, "probe_public4": ip_address("10.99.0.1")}, "probe_public4", "10.99.0.1 is a private address"),
]


@pytest.mark.parametrize(("changes", "fieldname", "words"), REFUSED)
def test_what_cannot_be_is_refused_by_the_service_and_by_the_database(
    network: factories.Network, changes: dict[str, Any], fieldname: str, words: str
) -> None:
    with pytest.raises(Problem, match=words) as refused:
        configure(network, **changes)
    assert refused.value.fieldname == fieldname
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in changes.items()}
    with pytest.raises(IntegrityError), transaction.atomic():
        Gateway.objects.filter(pk=network.gateways[0].pk).update(**values)


def test_a_gateway_reached_by_ssh_keeps_an_address(network: factories.Network) -> None:
    Gateway.objects.filter(pk=network.gateways[0].pk).update(link="ssh", address="172.31.0.11", host_key=KEY)
    assert str(configure(network, address=ip_address("172.31.0.12"), ssh_user="nw").address) == "172.31.0.12"
    with pytest.raises(Problem, match="needs an address"):
        configure(network, address=None)


def test_a_probe_gets_no_address_that_somebody_else_has(network: factories.Network) -> None:
    configure(network, **PROBE)
    with pytest.raises(Problem, match=r"172\.31\.254\.2 is the address of the probe of nat-1") as refused:
        configure(network, 1, **PROBE)
    assert refused.value.culprit == network.gateways[0]
    inside = {**PROBE, "probe_source4": network.residents["m1"].holding.prefix[0]}
    with pytest.raises(Problem, match="is in the pool private4"):
        configure(network, **inside)
    with pytest.raises(Problem, match=rf"Members leave as {factories.PUBLIC} or are reached at it"):
        configure(network, **{**PROBE, "probe_public4": factories.PUBLIC})


def test_a_change_is_undone_unless_somebody_has_the_address_by_now(network: factories.Network) -> None:
    configure(network, **PROBE)
    undo(network, network.gateways[0])
    assert Gateway.objects.get(pk=network.gateways[0].pk).probe_interface == ""
    configure(network, **PROBE)
    configure(network, probe_interface="", probe_source4=None, probe_public4=None, probe_source6=None)
    configure(network, 1, **PROBE)
    with pytest.raises(Problem, match="is the address of the probe of nat-2"):
        undo(network, network.gateways[0])


def test_the_interface_of_the_servers_gets_no_other_role_and_an_undo_gives_it_none(network: factories.Network) -> None:
    first = network.gateways[0]
    set_server_facing_interface(gateway=first, name="srv0", by=network.admin)
    with pytest.raises(Problem, match="srv0 is already another interface") as refused:
        configure(network, wan="srv0")
    assert refused.value.fieldname == "wan"
    configure(network, lan="lan9")
    set_server_facing_interface(gateway=Gateway.objects.get(pk=first.pk), name="lan0", by=network.admin)
    with pytest.raises(Problem, match="lan0 is already another interface"):
        undo(network, first)
    assert Gateway.objects.get(pk=first.pk).lan == "lan9"


# --- Primaries


def test_a_new_primary_takes_the_family_off_the_old_one(network: factories.Network) -> None:
    first, second = network.gateways
    primaries.set_primary(gateway=first, family=6, version=first.version, by=network.admin)
    assert list_primaries(network) == ("nat-1", "nat-1")
    second.refresh_from_db()
    primaries.set_primary(gateway=second, family=4, version=second.version, by=network.admin)
    assert list_primaries(network) == ("nat-2", "nat-1")


def test_to_be_primary_already_changes_nothing_and_an_old_version_is_a_conflict(network: factories.Network) -> None:
    first = network.gateways[0]
    assert primaries.set_primary(gateway=first, family=4, version=first.version).version == first.version
    with pytest.raises(Conflict):
        primaries.set_primary(gateway=first, family=6, version=first.version + 1)


@pytest.mark.parametrize("which", [0, 1])
def test_an_undo_gives_the_family_back_from_either_gateway(network: factories.Network, which: int) -> None:
    first = network.gateways[0]
    primaries.set_primary(gateway=first, family=6, version=first.version, by=network.admin)
    undo(network, network.gateways[which])
    assert list_primaries(network) == ("nat-1", "nat-2")


def test_an_undo_of_the_first_primary_leaves_none(network: factories.Network) -> None:
    group = GatewayGroup.objects.create(name="Haus B")
    gateway = factories.gateway(group, "far-1")
    primaries.set_primary(gateway=gateway, family=6, version=gateway.version, by=network.admin)
    undo(network, gateway)
    assert families.find_primary(group, 6) is None


def test_the_command_moves_a_primary(network: factories.Network) -> None:
    assert "nat-1 is the IPv6 primary of Lindenhof instead of nat-2." in run_gateway("primary", "nat-1", "--family", "6")
    assert list_primaries(network) == ("nat-1", "nat-1")
    assert run_gateway("primary", "nat-1", "--family", "6").startswith("nat-1 is the IPv6 primary of Lindenhof.\n")


def test_a_second_gateway_that_would_carry_the_same_is_told_what_to_do(network: factories.Network) -> None:
    words = "nat-2 is the IPv6 primary of Lindenhof. Add nat-3 without it.*gateway primary nat-3 --family 6"
    interfaces = ("--lan", "lan0", "--wan", "wan0", "--management", "mgmt0")
    with pytest.raises(CommandError, match=words):
        run_gateway("add", "nat-3", "--address", "127.0.0.1", "--group", "Lindenhof", "--carries", "6", *interfaces)


def test_the_dialog_says_what_changes_and_makes_the_gateway_primary(mara: Client, network: factories.Network) -> None:
    first = network.gateways[0]
    assert f"/gateways/{first.pk}/primary/6/" in text(mara.get(f"/gateways/{first.pk}/"))
    page = text(mara.get(f"/gateways/{first.pk}/primary/6/"))
    assert "Make nat-1 the primary for IPv6?" in page and "nat-2 is no longer the IPv6 primary" in page and "keepalived" in page
    page = text(mara.post(f"/gateways/{first.pk}/primary/6/", {"version": first.version}, follow=True))
    assert "nat-1 is the IPv6 primary of Lindenhof." in page and list_primaries(network) == ("nat-1", "nat-1")
    event = find_last_event(Gateway, first.pk)
    assert page.count(f'action="/gateways/undo/{event}/"') == 2, "beside what was changed, and in the history"
    assert "Undone: nat-1." in text(mara.post(f"/gateways/undo/{event}/", follow=True))
    assert list_primaries(network) == ("nat-1", "nat-2")
    assert mara.get(f"/gateways/{first.pk}/primary/5/").status_code == 404


def test_what_changed_nothing_offers_no_undo(mara: Client, network: factories.Network) -> None:
    first = network.gateways[0]
    configure(network, ssh_user="nw")
    page = text(mara.post(f"/gateways/{first.pk}/primary/4/", {"version": first.version + 1}, follow=True))
    assert "nat-1 is the IPv4 primary of Lindenhof." in page and page.count('action="/gateways/undo/') == 1, "only in the history"


def test_a_script_moves_a_primary_by_naming_the_new_one(api: Client, network: factories.Network) -> None:
    first, second = (f"{PATH}{each.pk}/" for each in network.gateways)
    moved = api.patch(first, {"carries6": True, "version": network.gateways[0].version}, JSON)
    assert (moved.status_code, moved.json()["carries6"], api.get(second).json()["carries6"]) == (200, True, False)
    assert (
        api.patch(first, {"version": 99}, JSON).status_code == api.patch(first, {"carries4": True, "version": 1}, JSON).status_code == 409
    )
    refused = api.patch(first, {"carries6": False}, JSON)
    assert "stays the IPv6 primary until another gateway" in wrong(refused)["carries6"][0]


# --- Adding


def build_new(network: factories.Network, **changes: Any) -> dict[str, Any]:
    return {
        "name": "nat-3",
        "group": network.group.pk,
        "address": "172.31.0.13",
        "host_key": f"{KEY} root@nat-3",
        "lan": "lan0",
        "wan": "wan0",
        "management": "mgmt0",
    } | changes


def test_a_script_adds_a_gateway(api: Client, network: factories.Network) -> None:
    made = api.post(PATH, build_new(network, management_networks=["172.31.0.0/24"]), JSON)
    assert made.status_code == 201, made.content
    row = made.json()
    assert (row["link"], row["management_port"], row["ssh_user"], row["host_key"]) == ("ssh", 22, "netzwart", KEY)
    assert (row["carries4"], row["carries6"], row["probe_interface"]) == (False, False, "")


@pytest.mark.parametrize(
    ("changes", "fieldname", "words"),
    [
        ({"name": "nat-1"}, "name", "The name nat-1 is taken"),
        ({"name": "Nat 3"}, "name", "is not a valid gateway name"),
        ({"host_key": "ssh-rsa AAAAB3NzaC1yc2E="}, "host_key", "not a host key of ssh-ed25519"),
        ({"address": None}, "address", "needs an address"),
        ({"ssh_user": "-x"}, "ssh_user", "is not the name of an account"),
        ({"wan": "lan0"}, "wan", "already another interface"),
        ({"carries4": True}, "carries4", "nat-1 is the IPv4 primary of Lindenhof"),
    ],
)
def test_a_script_is_told_why_a_gateway_is_not_added(
    api: Client, network: factories.Network, changes: dict[str, Any], fieldname: str, words: str
) -> None:
    refused = api.post(PATH, build_new(network, management_networks=["172.31.0.0/24"]) | changes, JSON)
    assert refused.status_code == 400 and words in wrong(refused)[fieldname][0]
    assert Gateway.objects.count() == 2


def test_a_gateway_is_added_with_its_probe(api: Client, network: factories.Network) -> None:
    probe = {name: str(value) for name, value in PROBE.items()}
    made = api.post(PATH, build_new(network, management_networks=["172.31.0.0/24"]) | probe, JSON)
    assert made.status_code == 201 and made.json()["probe_source6"] == "2001:db8:b1::2"


def test_a_token_of_another_group_adds_no_gateway_here(network: factories.Network) -> None:
    other = GatewayGroup.objects.create(name="Haus B")
    new = build_new(network, management_networks=["172.31.0.0/24"])
    assert build_script(network, group=other.pk).post(PATH, new, JSON).status_code == 403
    assert build_script(network, group=network.group.pk).post(PATH, new, JSON).status_code == 201


def test_the_page_adds_a_gateway_and_says_what_is_left_to_do(mara: Client, network: factories.Network) -> None:
    form = build_new(network, management_port=22, ssh_user="netzwart", management_networks="172.31.0.0/24")
    page = text(mara.post("/gateways/add/", form, follow=True))
    assert "nat-3 is added." in page and "manage.py gateway key" in page and "SHA256:" in page
    assert Gateway.objects.get(name="nat-3").host_key == KEY


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_the_page_shows_the_line_for_authorized_keys_and_never_the_private_key(
    mara: Client, network: factories.Network, settings: LazySettings
) -> None:
    key, _made = ssh_keys.ensure_portal_key()
    made = factories.gateway(network.group, "nat-3", link="ssh", address="172.31.0.13", host_key=KEY)
    page = text(mara.get(f"/gateways/{made.pk}/"))
    assert key in page and "restrict,command=" in page and "PRIVATE KEY" not in page


def test_the_page_says_at_the_field_what_is_wrong(mara: Client, network: factories.Network) -> None:
    form = build_new(network, management_port=22, ssh_user="netzwart", management_networks="172.31.0.0/24", carries4="on")
    response = mara.post("/gateways/add/", form)
    assert response.status_code == 422 and 'id="id_carries4_error"' in text(response) and "nat-1 is the IPv4 primary" in text(response)


def test_the_form_offers_the_families_that_nobody_carries(mara: Client, network: factories.Network) -> None:
    group = GatewayGroup.objects.create(name="Haus B")
    form = mara.get(f"/gateways/add/?group={group.pk}").context["form"]
    assert (form.initial["group"], form.initial["carries4"], form.initial["carries6"]) == (group, True, True)
    form = mara.get(f"/gateways/add/?group={network.group.pk}").context["form"]
    assert (form.initial["carries4"], form.initial["carries6"]) == (False, False)


def test_without_a_group_the_page_says_to_add_one(db: None) -> None:
    assert "/gateways/groups/add/" in text(signed_in(factories.user()).get("/gateways/add/"))


def test_an_undo_of_adding_removes_a_gateway_unless_it_took_part_in_a_rollout(network: factories.Network) -> None:
    made, other = factories.gateway(network.group, "nat-3"), factories.gateway(network.group, "nat-4")
    undo(network, made)
    assert not Gateway.ever.filter(pk=made.pk).exists()
    revision = Revision.objects.create(group=network.group, snapshot="1:1:")
    RolloutStep.objects.create(rollout=Rollout.objects.create(group=network.group, revision=revision), gateway=other, position=0)
    with pytest.raises(Problem, match="nat-4 stays"):
        undo(network, other)


def test_the_edit_page_changes_address_and_probe(mara: Client, network: factories.Network) -> None:
    gateway = network.gateways[0]
    Gateway.objects.filter(pk=gateway.pk).update(link="ssh", address="172.31.0.11", host_key=KEY)
    form = {"version": gateway.version, "lan": "lan0", "wan": "wan0", "management": "mgmt0", "sync": "sync0", "management_port": 22}
    form |= {"management_networks": "172.31.0.0/24", "address": "172.31.0.12", "ssh_user": "nw"}
    page = text(mara.post(f"/gateways/{gateway.pk}/edit/", form | {name: str(value) for name, value in PROBE.items()}, follow=True))
    gateway.refresh_from_db()
    assert page.count(f'action="/gateways/undo/{find_last_event(Gateway, gateway.pk)}/"') == 2
    assert "Saved." in page and (str(gateway.address), gateway.ssh_user, gateway.probe_interface) == ("172.31.0.12", "nw", "probe0")


def test_only_who_operates_the_network_adds_and_moves(network: factories.Network) -> None:
    anna = signed_in(factories.user("anna", roles=["helpdesk"]))
    pk = network.gateways[0].pk
    assert [anna.get(f"/gateways/{path}/").status_code for path in ("add", f"{pk}/primary/6")] == [403, 403]
    assert anna.post(f"/gateways/{pk}/primary/6/", {"version": 1}).status_code == 403


def test_nothing_is_announced_to_gateways_of_a_group_that_is_not_live(mara: Client, network: factories.Network) -> None:
    gateway = network.gateways[1]
    GatewayGroup.objects.update(live_since=None)
    form = {"lan": "lan0", "wan": "wan0", "management": "mgmt0", "sync": "sync0", "management_port": 22, "version": gateway.version}
    page = text(mara.post(f"/gateways/{gateway.pk}/edit/", form | {"management_networks": "172.31.0.0/24"}, follow=True))
    assert "Saved. The gateways get it when Lindenhof goes live." in page and "rollout rewrites" not in page
    page = text(mara.post(f"/gateways/{gateway.pk}/put-right/", follow=True))
    assert "Nothing was sent: nat-2 gets its first rules when Lindenhof goes live." in page

"""A machine becomes a gateway through the REST API: begin, compare, look again, finish; and what is refused on the way."""

from ipaddress import ip_address
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.deployments.transport.ssh import compute_fingerprint
from apps.gateways.joining import services
from apps.gateways.joining.models import JoiningMachine
from apps.network.models import Gateway, GatewayGroup
from tests import factories
from tests.api_responses import wrong
from tests.joining_machines import KEY, PORTAL_KEY, build_facts, make_machine, make_ready_machine

pytestmark = pytest.mark.django_db(transaction=True)

JSON = "application/json"
PATH = "/api/gateways/joining/"
OTHER_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "C" * 43
CHOICE = {"lan": "eno1", "wan": "eno2", "management": "eno3", "sync": "eno4", "management_networks": ["172.31.0.0/24"]}


@pytest.fixture(autouse=True)
def _url(settings: LazySettings) -> None:
    settings.PORTAL_URL = "http://netz.lindenhof.example"


def script(user: Any, **limits: Any) -> Client:
    key = tokens.create_token(user=user, name="script", **limits)[1]
    return Client(headers={"authorization": f"Bearer {key}"})


@pytest.fixture
def api(network: factories.Network) -> Client:
    return script(network.admin)


def begin(api: Client, network: factories.Network, **changes: Any) -> Any:
    return api.post(PATH, {"name": "nat-3", "group": network.group.pk, "address": "172.31.0.13", **changes}, JSON)


def act(api: Client, machine: JoiningMachine, action: str, body: Any = None, **headers: str) -> Any:
    return api.post(f"{PATH}{machine.pk}/{action}/", body, JSON, headers=headers)


def change(api: Client, machine: JoiningMachine, body: Any, **headers: str) -> Any:
    return api.patch(f"{PATH}{machine.pk}/", body, JSON, headers=headers)


def test_a_script_makes_a_gateway_of_a_machine(api: Client, network: factories.Network) -> None:
    begun = begin(api, network)
    assert begun.status_code == 201, begun.content
    assert (begun.json()["progress"], begun.json()["port"], begun.json()["install_command"]) == ("new", 22, None)
    reached = {"progress": "reached", "seen_key": KEY, "portal_key": PORTAL_KEY, "portal_address": "172.31.0.1"}
    JoiningMachine.objects.update(**reached, examined=timezone.now())
    machine = JoiningMachine.objects.get()
    found = api.get(f"{PATH}{machine.pk}/").json()
    assert found["install_command"].splitlines()[-1] == f"netzwart-join nat-3 --from 172.31.0.1 --key '{PORTAL_KEY}'"
    assert (found["seen_fingerprint"], found["host_key"], found["facts"]) == (compute_fingerprint(KEY), "", None)
    trusted = act(api, machine, "trust", {"host_key": found["seen_key"]})
    assert (trusted.status_code, trusted.json()["host_key"], trusted["ETag"]) == (200, KEY, '"v2"')
    JoiningMachine.objects.update(progress="ready", facts=build_facts(), clock_offset=3, clock_doubt=5)
    ready = api.get(f"{PATH}{machine.pk}/").json()
    body = ready["suggestions"] | {"sync": "eno4", "carries4": False, "carries6": False}
    made, again = (act(api, machine, "finish", body, **{"Idempotency-Key": "finish nat-3"}) for _ in range(2))
    assert made.status_code == 201, made.content
    assert (again["Idempotency-Replayed"], again["Location"], again["ETag"]) == ("true", made["Location"], made["ETag"])
    assert made["Location"] == f"/api/gateways/gateways/{made.json()['id']}/"
    assert api.get(made["Location"]).json() == made.json() and made.json()["name"] == "nat-3"
    assert api.get(f"{PATH}{machine.pk}/").status_code == 404


def test_a_ready_machine_shows_what_it_reports_and_what_fits(api: Client, network: factories.Network) -> None:
    machine = make_ready_machine(network.group)
    shown = api.get(f"{PATH}{machine.pk}/").json()
    facts, suggested = shown["facts"], shown["suggestions"]
    assert (facts["system"], facts["kernel"], facts["nft"]) == ("Debian GNU/Linux 13 (trixie)", "6.12.1", "1.1.3")
    assert (facts["forwards4"], facts["forwards6"], shown["clock_offset"], facts["more_interfaces"]) == (True, True, 3, 0)
    assert facts["interfaces"][1] == {
        "name": "eno2",
        "up": True,
        "addresses": ["192.0.2.4/29"],
        "kind": "",
        "mac": "02:00:00:00:00:01",
        "default_route4": True,
        "default_route6": False,
    }
    assert [suggested[name] for name in ("lan", "wan", "management", "sync")] == ["eno1", "eno2", "eno3", ""]
    first = network.gateways[0]
    assert suggested["management_networks"] == [str(each) for each in first.management_networks]
    assert (suggested["carries4"], suggested["carries6"]) == (False, False), "others are primary"


def test_the_list_needs_no_query_for_each_machine(api: Client, network: factories.Network, django_assert_max_num_queries: Any) -> None:
    for number in range(services.MOST):
        make_ready_machine(network.group, f"gw-{number}")
    api.get(PATH)
    with django_assert_max_num_queries(12):
        page = api.get(PATH, {"progress": "ready"}).json()
    assert page["count"] == services.MOST and all(each["suggestions"]["wan"] == "eno2" for each in page["results"])


def test_only_the_key_that_the_machine_shows_now_is_accepted(api: Client, network: factories.Network) -> None:
    machine = make_machine(network.group, seen_key=OTHER_KEY)
    refused = act(api, machine, "trust", {"host_key": KEY})
    assert refused.status_code == 409 and "another host key now" in wrong(refused)[""][0]
    fingerprint = act(api, machine, "trust", {"host_key": compute_fingerprint(OTHER_KEY)})
    assert fingerprint.status_code == 400 and list(wrong(fingerprint)) == ["host_key"]
    machine.refresh_from_db()
    assert machine.host_key == ""


def test_another_host_key_than_the_accepted_one_is_shown_beside_it(api: Client, network: factories.Network) -> None:
    machine = make_machine(network.group, host_key=KEY, seen_key=OTHER_KEY, progress="changed", problem="the host key has changed")
    shown = api.get(f"{PATH}{machine.pk}/").json()
    assert (shown["progress"], shown["host_key"], shown["seen_key"]) == ("changed", KEY, OTHER_KEY)
    assert shown["suggestions"] is None and act(api, machine, "finish", CHOICE).status_code == 409


def test_a_machine_that_is_not_ready_makes_no_gateway(api: Client, network: factories.Network) -> None:
    machine = make_machine(network.group, progress="unreached", problem="no route to host")
    refused = act(api, machine, "finish", CHOICE)
    assert (refused.status_code, wrong(refused)) == (409, {"": ["nat-3 is not ready: no route to host"]})
    assert not Gateway.objects.filter(name="nat-3").exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"lan": "eth7"}, "lan"),
        ({"lan": ""}, "lan"),
        ({"sync": "eno1"}, "sync"),
        ({"management_networks": []}, "management_networks"),
        ({"management_networks": ["here"]}, "management_networks[0]"),
        ({"carries4": True}, "carries4"),
        ({"wlan": "eno1"}, "wlan"),
    ],
)
def test_a_wrong_choice_is_refused_at_its_field(api: Client, network: factories.Network, changes: dict[str, Any], field: str) -> None:
    machine = make_ready_machine(network.group)
    refused = act(api, machine, "finish", CHOICE | changes)
    assert refused.status_code == 400 and [each.split("[")[0] for each in wrong(refused)] == [field.split("[")[0]], refused.content
    assert JoiningMachine.objects.get() == machine and not Gateway.objects.filter(name="nat-3").exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "nat-1"}, "name"),
        ({"name": "Nat 3"}, "name"),
        ({"name": "nat-4"}, "name"),
        ({"port": 0}, "port"),
        ({"address": "nowhere"}, "address"),
        ({"group": 999_999}, "group"),
        ({"host_key": KEY}, "host_key"),
    ],
)
def test_what_cannot_become_a_gateway_does_not_begin(api: Client, network: factories.Network, changes: dict[str, Any], field: str) -> None:
    make_machine(network.group, "nat-4")
    refused = begin(api, network, **changes)
    assert refused.status_code == 400 and list(wrong(refused)) == [field], refused.content
    assert JoiningMachine.objects.get().name == "nat-4"


def test_another_address_is_another_machine_whose_key_is_compared_anew(api: Client, network: factories.Network) -> None:
    machine = make_ready_machine(network.group)
    same = change(api, machine, {"address": "172.31.0.13"})
    assert (same.json()["progress"], same["ETag"]) == ("ready", '"v1"')
    moved = change(api, machine, {"port": 2222})
    assert moved.status_code == 200, moved.content
    assert [moved.json()[name] for name in ("port", "host_key", "progress", "facts")] == [2222, "", "new", None]
    assert list(wrong(change(api, machine, {"name": "nat-9"}))) == ["name"]


def test_what_was_read_before_another_change_changes_nothing(api: Client, network: factories.Network) -> None:
    machine = make_machine(network.group)
    services.move_machine(machine=machine, address=ip_address("172.31.0.14"), port=22)
    assert change(api, machine, {"port": 2222, "version": 1}).status_code == 409
    assert change(api, machine, {"port": 2222}, **{"If-Match": '"v1"'}).status_code == 412
    assert act(api, machine, "trust", {"host_key": KEY}, **{"If-Match": '"v1"'}).status_code == 412
    assert api.delete(f"{PATH}{machine.pk}/", headers={"If-Match": '"v1"'}).status_code == 412
    assert change(api, machine, {"port": 2222}, **{"If-Match": '"v2"'}).status_code == 200


def test_a_fresh_look_is_requested_and_a_machine_is_given_up(api: Client, network: factories.Network) -> None:
    machine = make_machine(network.group)
    assert act(api, machine, "examine").status_code == 202
    machine.refresh_from_db()
    assert machine.requested
    assert api.delete(f"{PATH}{machine.pk}/").status_code == 204
    assert not JoiningMachine.objects.exists()


def test_a_request_that_is_repeated_with_its_key_begins_once(api: Client, network: factories.Network) -> None:
    body = {"name": "nat-3", "group": network.group.pk, "address": "172.31.0.13"}
    first, again = (api.post(PATH, body, JSON, headers={"Idempotency-Key": "rack 3"}) for _ in range(2))
    assert (first.status_code, again.status_code, again["Idempotency-Replayed"]) == (201, 201, "true")
    assert first.json() == again.json()


@pytest.mark.parametrize("role", ["helpdesk", "auditor", ""])
def test_who_does_not_operate_gateways_neither_sees_nor_joins_machines(network: factories.Network, role: str) -> None:
    machine = make_ready_machine(network.group)
    user = factories.user("other", roles=[role]) if role else factories.user("other", staff=False)
    other = script(user)
    assert [other.get(PATH).status_code, other.get(f"{PATH}{machine.pk}/").status_code] == [403, 403]
    assert begin(other, network, name="nat-5").status_code == 403
    tried = [act(other, machine, "trust", {"host_key": KEY}), act(other, machine, "examine"), act(other, machine, "finish", CHOICE)]
    tried += [change(other, machine, {"port": 2222}), other.delete(f"{PATH}{machine.pk}/")]
    assert {each.status_code for each in tried} == {403}
    assert JoiningMachine.objects.get().port == 22


def test_a_token_of_a_group_sees_and_joins_its_own_machines_only(network: factories.Network) -> None:
    far = GatewayGroup.objects.create(name="Haus B")
    own, other = make_ready_machine(network.group), make_ready_machine(far, "far-1")
    limited = script(network.admin, group=network.group.pk)
    assert [each["id"] for each in limited.get(PATH).json()["results"]] == [own.pk]
    assert act(limited, other, "finish", CHOICE).status_code == 404
    assert begin(limited, network, name="nat-5", group=far.pk).status_code == 403
    assert begin(limited, network, name="nat-5").status_code == 201
    assert script(network.admin, scopes=["joining:read"]).delete(f"{PATH}{own.pk}/").status_code == 403
    assert not JoiningMachine.objects.filter(group=far, name="nat-5").exists()

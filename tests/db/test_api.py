from typing import Any

import pytest
from django.test import Client

from apps.accounts import tokens
from apps.accounts.models import ApiToken
from apps.nat.models import PortForward
from tests import factories
from tests.api_responses import wrong


@pytest.fixture
def api(network: factories.Network) -> Client:
    """A client with the admin's token."""
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def build_forward(network: factories.Network, **changes: Any) -> dict[str, Any]:
    return {
        "holding": network.residents["m1"].holding.pk,
        "public_address": "198.51.100.7",
        "protocol": "tcp",
        "public_port": 8443,
        "private_port": 443,
        "purpose": "Nextcloud",
    } | changes


def post(api: Client, body: object) -> Any:
    return api.post("/api/nat/forwards/", body, content_type="application/json")


def test_a_script_adds_reads_and_removes_a_forward(api: Client, network: factories.Network) -> None:
    added = post(api, build_forward(network))
    assert added.status_code == 201, added.json()
    assert added.json()["private_address"] == "10.16.0.10"
    assert added.json()["active"] == [{"gateway": name, "since": None, "waits": ""} for name in ("nat-1", "nat-2")]
    path = f"/api/nat/forwards/{added.json()['id']}/"
    assert api.get(path).json() == added.json()
    assert api.delete(path).status_code == 204
    assert api.get(path).status_code == 404


def test_a_taken_port_is_refused_with_a_free_one(api: Client, network: factories.Network) -> None:
    post(api, build_forward(network))
    refused = post(api, build_forward(network, holding=network.residents["m2"].holding.pk))
    assert refused.status_code == 400
    assert wrong(refused)["public_port"][0].endswith("of Resident of m1. 8444 is free.")
    assert refused.json()["offer"] == "8444"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"public_port": 0}, "public_port"),
        ({"public_port": 65536}, "public_port"),
        ({"private_port": "ssh"}, "private_port"),
        ({"protocol": "icmp"}, "protocol"),
        ({"public_address": "2001:db8::1"}, "public_address"),
        ({"public_address": "198.51.100.300"}, "public_address"),
        ({"public_address": "203.0.113.1"}, "public_address"),
        ({"holding": 999_999}, "holding"),
        ({"holding": None}, "holding"),
        ({"purpose": "x" * 81}, "purpose"),
        ({"purpose": "a\x00b"}, "purpose"),
    ],
)
def test_a_nonsense_field_is_named_and_nothing_is_written(
    api: Client, network: factories.Network, changes: dict[str, Any], field: str
) -> None:
    refused = post(api, build_forward(network, **changes))
    assert refused.status_code == 400
    assert field in wrong(refused)
    assert not PortForward.objects.exists()


@pytest.mark.parametrize("body", ["{", "[]", "null", '"x"', "1e999"])
def test_what_is_no_forward_is_refused(api: Client, body: str) -> None:
    refused = api.post("/api/nat/forwards/", body, content_type="application/json")
    assert refused.status_code == 400


@pytest.mark.parametrize("path", ["members/members", "network/addresses", "nat/forwards", "deployments/rollouts"])
def test_without_a_token_nothing_is_told(network: factories.Network, path: str) -> None:
    assert Client().get(f"/api/{path}/").status_code == 401
    assert Client(headers={"authorization": "Bearer nw_wrong"}).get(f"/api/{path}/").status_code == 401


def test_a_member_without_a_role_is_refused(network: factories.Network) -> None:
    _token, key = tokens.create_token(user=factories.user("selin", staff=False), name="mine")
    assert Client(headers={"authorization": f"Bearer {key}"}).get("/api/members/members/").status_code == 403


def test_the_database_keeps_no_key(network: factories.Network) -> None:
    _token, key = tokens.create_token(user=network.admin, name="script")
    assert not ApiToken.objects.filter(sha256__contains=key[3:]).exists()


@pytest.mark.parametrize(
    ("text", "found"), [("resident of m2", 1), ("10.16.0.11", 1), ("00:00:5E:00:53:01", 1), ("nobody", 0), ("10.16.99.99", 0)]
)
def test_members_are_found_by_name_address_and_mac(api: Client, text: str, found: int) -> None:
    assert api.get("/api/members/members/", {"search": text}).json()["count"] == found


def test_addresses_are_listed_by_member(api: Client, network: factories.Network) -> None:
    listed = api.get("/api/network/addresses/", {"member": network.residents["m1"].member.pk}).json()["results"]
    assert {each["address"] for each in listed} == {"10.16.0.10", "2001:db8:a0:10::/64"}


@pytest.mark.parametrize("count", [3, 30])
def test_a_list_needs_as_many_queries_for_few_as_for_many(
    api: Client, network: factories.Network, count: int, django_assert_max_num_queries: Any
) -> None:
    for port in range(count):
        post(api, build_forward(network, public_port=1024 + port))
    with django_assert_max_num_queries(5):
        assert len(api.get("/api/nat/forwards/").json()["results"]) == count

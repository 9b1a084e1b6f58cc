"""`?wait=confirmed` answers 200 or 201 only if every gateway has the change. The gateways are real agents, in memory.

The collections that reach gateways are found by their models and operations, so new ones are tested too.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from apps.accounts import tokens
from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel, agent_client
from apps.lib.api.confirmation_wait import ACTIONS
from apps.lib.api.openapi.views import get_openapi_document
from apps.lib.api.viewsets import AddViewSet, ChangeOneViewSet, RemoveViewSet
from apps.lib.models import Deployed
from firewall.digest import format_digest
from portal.api import router
from tests import factories
from tests.api_responses import wrong
from tests.db.example_objects import one_of_each

JSON = "application/json"
WAIT = "?wait=confirmed&timeout=0"
REGISTERED: list[tuple[str, Any, str]] = router.registry
REACHING = {
    prefix: view
    for prefix, view, _basename in REGISTERED
    if issubclass(view.serializer_class.Meta.model, Deployed) and issubclass(view, (AddViewSet, ChangeOneViewSet, RemoveViewSet))
}


@pytest.fixture
def network(served_network: factories.Network) -> factories.Network:
    """A network with one of everything that reaches gateways, all deployed."""
    one_of_each(served_network)
    reconcile(served_network.group)
    return served_network


@pytest.fixture
def api(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def test_every_collection_of_rows_that_reach_gateways_says_when_they_are_active() -> None:
    assert len(REACHING) >= 13
    assert [prefix for prefix, view in REACHING.items() if not view.has_activation()] == []


def takes(prefix: str, method: str, *, one: bool) -> bool:
    paths = get_openapi_document(router)["paths"]
    return method in paths.get(f"/api/{prefix}/{{id}}/" if one else f"/api/{prefix}/", {})


def first_of(api: Client, network: factories.Network, prefix: str) -> tuple[str, dict[str, Any]]:
    """Return the path of an object of the collection, and the object."""
    listed = api.get(f"/api/{prefix}/").json()
    pk = listed["results"][0]["id"] if "results" in listed else network.group.pk
    path = f"/api/{prefix}/{pk}/"
    return path, api.get(path).json()


def changes(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield changes of one field each. A collection accepts some of them."""
    for name, value in row.items():
        if name not in ("id", "version", "group", "member", "active"):
            others: list[Any] = [not value] if isinstance(value, bool) else [value + 1] if isinstance(value, int) else []
            others += (
                [f"{value} x"] if isinstance(value, str) else [[2121]] if value == [] else ["2099-01-01T00:00:00Z"] if value is None else []
            )
            yield from ({name: other} for other in others)


def everywhere(network: factories.Network) -> bool:
    """True if both gateways say that they run the desired state."""
    wanted = compute_desired_state(network.group)
    runs = {gateway.pk: agent_client.send_hello(agent_channel.get_channel(gateway), 0).digest for gateway in network.gateways}
    return runs == {pk: format_digest(digest) for pk, digest in wanted.digests.items()}


def judge(answer: Any, network: factories.Network, done: int) -> None:
    """Check that the status agrees with `active` and with what the gateways run."""
    said = answer.json() if isinstance(answer.json(), list) else [answer.json()]
    active = [each["since"] for row in said for each in row["active"]]
    assert {each["gateway"] for row in said for each in row["active"]} == {"nat-1", "nat-2"}, answer.request["PATH_INFO"]
    assert answer.status_code == (done if all(active) else 202), (answer.request["PATH_INFO"], answer.json())
    assert not all(active) or everywhere(network), (answer.request["PATH_INFO"], answer.json())


@pytest.mark.django_db(transaction=True)
def test_a_change_is_confirmed_when_both_gateways_have_it_and_not_before(api: Client, network: factories.Network) -> None:
    assert everywhere(network)
    later = set()
    for prefix in REACHING:
        path, row = first_of(api, network, prefix)
        if not takes(prefix, "patch", one=True):
            continue
        for change in changes(row):
            version = {"version": api.get(path).json()["version"]}
            answer = api.patch(path + WAIT, change | version, content_type=JSON)
            if answer.status_code >= 400:
                continue
            judge(answer, network, 200)
            later |= {prefix} if answer.status_code == 202 else set()
            path = f"/api/{prefix}/{answer.json().get('id', network.group.pk)}/"
            judge(api.get(path + WAIT), network, 200)
            reconcile(network.group)
            judge(found := api.get(path + WAIT), network, 200)
            assert found.status_code == 200, (path, found.json())
    assert later == {prefix for prefix in REACHING if takes(prefix, "patch", one=True)}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("form", [lambda item: item, lambda item: [item]], ids=["one", "list"])
def test_what_is_added_is_confirmed_when_both_gateways_have_it_and_not_before(api: Client, network: factories.Network, form: Any) -> None:
    schemas = get_openapi_document(router)["components"]["schemas"]
    for prefix, view in reversed(REACHING.items()):
        if not takes(prefix, "post", one=False):
            continue
        path, row = first_of(api, network, prefix)
        writable = schemas[view.serializer_class.__name__.removesuffix("Serializer") + "Write"]["properties"]
        known = {name for name, each in writable.items() if not each.get("readOnly")} - {"version"}
        assert api.delete(path).status_code == 204
        answer = api.post(f"/api/{prefix}/{WAIT}", form({name: row[name] for name in known & row.keys()}), content_type=JSON)
        assert answer.status_code == 202, (prefix, answer.json())
        judge(answer, network, 201)
        made = answer.json()[0] if isinstance(answer.json(), list) else answer.json()
        short = api.get(f"/api/{prefix}/{made['id']}/{WAIT}&fields=id")
        assert short.status_code == 202, "what is shown of it does not change what is so"
        reconcile(network.group)
        judge(found := api.get(f"/api/{prefix}/{made['id']}/{WAIT}"), network, 200)
        assert found.status_code == 200, (prefix, found.json())


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_waited_for_is_refused(api: Client, network: factories.Network) -> None:
    """Every operation without the parameter `wait` in the OpenAPI document refuses it."""
    waiting = [f"{basename}_{action}" for prefix, _view, basename in router.registry if prefix in REACHING for action in ACTIONS]
    for path, methods in get_openapi_document(router)["paths"].items():
        for method, each in methods.items():
            waits = any(known["name"] == "wait" for known in each["parameters"])
            assert waits == (each["operationId"] in waiting), (method, path)
            answer = api.generic(method.upper(), path.replace("{id}", "1") + "?wait=confirmed", "{}", content_type=JSON)
            assert waits or list(wrong(answer)) == ["wait"], (method, path, answer.content[:300])

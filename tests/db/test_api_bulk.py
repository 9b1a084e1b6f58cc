"""Bulk requests leave the same traces as single requests, cost a constant number of queries, and name the items at fault."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts import tokens
from apps.bans.models import Ban
from apps.nat.models import PortForward
from tests import factories
from tests.api_responses import wrong

BANS, FORWARDS = "/api/bans/bans/", "/api/nat/forwards/"
JOINS = ("nestloop", "hashjoin", "mergejoin")  # ways in which PostgreSQL may join tables
OF_EACH_EVENT = ("pgh_id", "pgh_created_at", "pgh_obj", "pgh_context", "id", "created", "held")

type Item = dict[str, Any]
type Collection = tuple[str, type[Ban] | type[PortForward], list[Item], Item]


@pytest.fixture
def api(network: factories.Network) -> Client:
    """A client whose token may do everything, and which sends JSON."""
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}", "content-type": "application/json"})


def send(api: Client, method: str, path: str, body: object = "") -> Any:
    answer = getattr(api, method)(path, body, content_type="application/json")
    assert answer.status_code in (200, 201, 204), answer.content[:500]
    return answer.json() if answer.content else None


def create_list(api: Client) -> int:
    return int(send(api, "post", "/api/bans/lists/", {"name": "Own", "description": ""})["id"])


def build_bans(api: Client, network: factories.Network, count: int) -> list[Item]:
    own = create_list(api)
    return [
        {"list": own, "prefix": f"203.0.{n // 250}.{n % 250}", "comment": f"number {n}", "direction": "in", "until": "2099-01-01T00:00:00Z"}
        for n in range(count)
    ]


def build_forwards(api: Client, network: factories.Network, count: int) -> list[Item]:
    side = {"holding": network.residents["m1"].holding.pk, "public_address": "198.51.100.7", "protocol": "tcp", "private_port": 443}
    return [{**side, "public_port": 2000 + n, "purpose": f"number {n}"} for n in range(count)]


@pytest.fixture(params=["bans", "forwards"])
def collection(request: pytest.FixtureRequest, api: Client, network: factories.Network) -> Callable[[int], Collection]:
    """Path, model, so many items to add, and a change of each."""
    if request.param == "bans":
        return lambda count: (BANS, Ban, build_bans(api, network, count), {"comment": "scan", "direction": "both"})
    return lambda count: (FORWARDS, PortForward, build_forwards(api, network, count), {"private_port": 80, "enabled": False})


@contextmanager
def at_most(number: int) -> Iterator[None]:
    with CaptureQueriesContext(connection) as found:
        yield
    assert len(found) <= number, [each["sql"][:120] for each in found]


def list_events(model: type[Any]) -> list[Item]:
    """Return the events of the history in their order for each row, without what differs between two rows of the same content."""
    rows = model.pgh_event_model.objects.order_by("pgh_obj_id", "pgh_id")
    names = [field.name for field in model.pgh_event_model._meta.fields if field.name not in OF_EACH_EVENT]
    return [{name: show(getattr(row, name)) for name in names} | {"has_context": row.pgh_context_id is not None} for row in rows]


def show(value: Any) -> Any:
    """Return the value; of a range of time only whether it has an end."""
    return value.upper is not None if hasattr(value, "upper_inf") else value


def take_touched() -> list[tuple[str, str]]:
    """Return what is noted as changed for the next rollout, and forget it."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM deployments_touched RETURNING kind, key")
        return sorted(cursor.fetchall())


def take_traces(model: type[Any]) -> tuple[list[Item], list[tuple[str, str]]]:
    """Return the history and what is noted for the next rollout, and forget both."""
    traces = list_events(model), take_touched()
    model.pgh_event_model.objects.all().delete()
    return traces


@pytest.mark.django_db
@pytest.mark.parametrize("join", JOINS)
def test_forwards_get_their_ids_in_the_order_in_which_they_were_sent_however_they_are_joined(
    api: Client, network: factories.Network, join: str
) -> None:
    names = sorted(network.residents, reverse=True)
    items = [
        item | {"holding": network.residents[names[at % len(names)]].holding.pk} for at, item in enumerate(build_forwards(api, network, 20))
    ]
    with connection.cursor() as cursor:
        for each in JOINS:
            cursor.execute(f"SET LOCAL enable_{each} = {'on' if each == join else 'off'}")
    ids = [row["id"] for row in send(api, "post", FORWARDS, items)]
    assert ids == sorted(ids)


@pytest.mark.django_db
def test_many_leave_the_same_history_as_one_after_the_other(api: Client, collection: Callable[[int], Collection]) -> None:
    path, model, items, change = collection(5)
    take_traces(model)

    ids = [send(api, "post", path, item)["id"] for item in items]
    singly_changed = [send(api, "patch", f"{path}{pk}/", change) for pk in ids]
    for pk in ids:
        send(api, "delete", f"{path}{pk}/")
    singly = take_traces(model)

    ids = [row["id"] for row in send(api, "post", path, items)]
    changed = send(api, "patch", path, [{"id": pk, **change} for pk in ids])
    send(api, "delete", path, ids)
    assert take_traces(model) == singly
    assert len(singly[0]) == 15 and len(singly[1]) >= 15

    own = ("id", "since", "active")
    assert [{n: v for n, v in each.items() if n not in own} for each in changed] == [
        {n: v for n, v in each.items() if n not in own} for each in singly_changed
    ]


@pytest.mark.django_db
def test_a_thousand_changes_cost_as_many_queries_as_two(api: Client, collection: Callable[[int], Collection]) -> None:
    path, model, items, change = collection(1000)
    ids = [row["id"] for row in send(api, "post", path, items)]
    with at_most(35):
        changed = send(api, "patch", path, [{"id": pk, "version": 1, **change} for pk in ids])
    assert [(each["id"], each["version"]) for each in changed] == [(pk, 2) for pk in ids]
    assert model.objects.filter(version=2).count() == 1000


@pytest.mark.django_db
def test_one_wrong_item_of_a_thousand_is_found_in_few_queries_and_nothing_is_written(
    api: Client, network: factories.Network, collection: Callable[[int], Collection]
) -> None:
    path, model, items, _change = collection(1000)
    at_fault = {"bans": {"prefix": "10.16.0.10"}, "nat": {"public_address": "203.0.113.9"}}[model._meta.app_label]
    items[0] |= at_fault
    items[777] |= at_fault
    with at_most(700):
        answer = api.post(path, items, content_type="application/json")
    assert (answer.status_code, [each["item"] for each in answer.json()["errors"]]) == (400, [0, 777])
    assert not model.objects.exists()


@pytest.mark.django_db
def test_items_that_want_what_an_earlier_one_takes_are_named(api: Client, network: factories.Network) -> None:
    items = build_forwards(api, network, 40)
    for index in (3, 20, 39):
        items[index]["public_port"] = items[0]["public_port"]
    answer = api.post(FORWARDS, items, content_type="application/json")
    assert list(wrong(answer)) == ["[3].public_port", "[20].public_port", "[39].public_port"]
    assert not PortForward.objects.exists()


@pytest.mark.django_db
def test_a_ban_that_was_changed_meanwhile_is_named_and_the_others_stay_as_they_are(api: Client, network: factories.Network) -> None:
    ids = [row["id"] for row in send(api, "post", BANS, build_bans(api, network, 20))]
    Ban.objects.filter(pk=ids[7]).update(version=5)
    changes = [{"id": pk, "comment": "scan"} for pk in ids]
    changes[7]["version"] = 4
    answer = api.patch(BANS, changes, content_type="application/json")
    assert (answer.status_code, [each["item"] for each in answer.json()["errors"]]) == (412, [7])
    assert not Ban.objects.filter(comment="scan").exists()
    changes = [{"id": pk, "until": "2020-01-01T00:00:00Z" if pk == ids[3] else None} for pk in ids]
    answer = api.patch(BANS, changes, content_type="application/json")
    assert list(wrong(answer)) == ["[3].until"] and not Ban.objects.filter(expires=None).exists()


@pytest.mark.django_db
def test_a_pinhole_of_all_ports_that_is_sent_back_as_it_is_shown_is_not_written(api: Client, network: factories.Network) -> None:
    path, prefix = "/api/nat/pinholes/", network.residents["m1"].prefix
    opened = {"holding": prefix.pk, "address": str(prefix.prefix[7]), "protocol": "tcp", "port": None, "ports": None, "purpose": ""}
    shown = send(api, "post", path, opened)
    again = send(api, "patch", path, [{"id": shown["id"], "port": shown["port"], "ports": shown["ports"]}])
    assert (shown["port"], shown["ports"], again[0]["version"]) == (None, None, shown["version"])

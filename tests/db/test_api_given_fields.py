"""The API refuses unknown and read-only fields and parameters by name, in every operation and for every field of every object."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import transaction
from django.test import Client

from apps.accounts import invitations, tokens
from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.deployments import services
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.desk.people_import import uploads
from apps.lib.api.openapi.views import get_openapi_document
from apps.lib.api.unknown_fields import is_same_value
from apps.members import invitation_services
from portal.api import router
from tests import factories
from tests.api_responses import wrong
from tests.db.conftest import in_memory
from tests.db.page_client import signed_in
from tests.web import demo_scene

JSON = "application/json"
NONSENSE = {"nonsense": 1}
NO_ROWS = ("/api/deployments/holds/",)
"""What the scene has none of, and nothing of which is changed."""
SINGLE = ("/api/network/settings/",)
"""What there is one of, with the id 1."""


@pytest.fixture
def api(transactional_db: None, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A client with all roles, in a network with one of everything."""
    monkeypatch.setattr(services, "gateway_cache", RulesetCache())
    settings.API_RATE = 10**9
    with TemporaryDirectory(prefix="nw-") as directory:
        settings.GATEWAY_SOCKETS = Path(directory)
        with in_memory(settings.GATEWAY_SOCKETS):
            demo_scene.make()
    admin = factories.user("everything", roles=list(Role))
    invitations.create_invitation(email="jonas@lindenhof.example", roles=["helpdesk"], by=admin)
    invitation_services.invite_member(member=factories.member(email="kaya@lindenhof.example"), by=admin)
    uploads.save_upload(name="people.csv", content=b"Name,E-mail\nAda,a@x.example\n", create_rooms=False, by=admin)
    _token, key = tokens.create_token(user=admin, name="script")
    yield Client(headers={"authorization": f"Bearer {key}"})


BY_PEOPLE_ALONE = ("/approve/", "/refuse/")
"""Actions that no token may do."""


@pytest.fixture
def person(api: Client) -> Client:
    """The browser session of the user with all roles."""
    return signed_in(User.objects.get(username="everything"))


def operations(*methods: str) -> Iterator[tuple[str, str, str]]:
    for path, known in get_openapi_document(router)["paths"].items():
        for method, each in known.items():
            if method in methods:
                yield method, path, each["operationId"].partition("_")[2]


def first_id(api: Client, path: str) -> int:
    """Return the id of an object of the collection that the path belongs to. Settings of a group have the id of their group."""
    if path.startswith(SINGLE):
        return 1
    listed = api.get("/".join(path.split("/")[:4]) + "/?limit=1")
    found = listed if listed.status_code == 200 else api.get("/api/gateways/groups/")
    results = found.json()["results"] or [{"id": 1}] * path.startswith(NO_ROWS)
    assert results, f"{path}: the scene has none"
    return int(results[0]["id"])


def objects(api: Client, method: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield path and value of one object of each collection that this method changes."""
    for _method, path, action in operations(method):
        if action in ("update", "partial_update"):
            own = path.replace("{id}", str(first_id(api, path)))
            yield own, api.get(own).json()


def test_no_operation_takes_a_field_or_a_parameter_that_it_does_not_know(api: Client, person: Client) -> None:
    for method, path, action in operations("get", "post", "put", "patch", "delete"):
        pk = first_id(api, path) if "{id}" in path or action.startswith("bulk_") else 0
        own = path.replace("{id}", str(pk))
        asks = person if path.endswith(BY_PEOPLE_ALONE) else api
        refused = asks.generic(method.upper(), f"{own}?nonsense=1", "{}", content_type=JSON)
        assert list(wrong(refused)) == ["nonsense"], (method, path, refused.content)
        forms: list[tuple[object, str]] = [(NONSENSE, "nonsense"), ([NONSENSE], "[0].nonsense")]
        forms = [([{"id": pk} | NONSENSE], "[0].nonsense")] if action.startswith("bulk_") else forms if action == "create" else forms[:1]
        for body, field in forms if method != "get" else ():
            refused = getattr(asks, method)(own, body, content_type=JSON)
            assert refused.status_code == 400 and field in wrong(refused), (method, path, body, refused.content)


def test_an_object_that_is_sent_back_as_it_was_read_is_left_as_it_is(api: Client) -> None:
    seen = 0
    for method in ("put", "patch"):
        for path, row in objects(api, method):
            before = api.get(path)["ETag"]
            answer = getattr(api, method)(path, row, content_type=JSON)
            assert answer.status_code == 200, (method, path, row, answer.content)
            assert answer.json() == row and answer["ETag"] == before == api.get(path)["ETag"], (method, path)
            if "id" in row and method == "patch" and not path.startswith(("/api/gateways/groups/", *SINGLE)):
                many = api.patch(path.rpartition(f"{row['id']}/")[0], [row], content_type=JSON)
                assert many.status_code in (200, 403, 405) and (many.status_code != 200 or many.json() == [row]), (path, many.content)
            seen += 1
    assert seen > 40


def others(value: object) -> list[object]:
    """Return values that differ from this one, of the same type or, if it is null or an object, of several types."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1]
    return [f"{value}x"] if isinstance(value, str) else [["x1"]] if isinstance(value, list) else [1, "x", "2099-01-01T00:00:00Z"]


NEVER_SHOWN: dict[str, Any] = {
    "target": "ntfys://ntfy.example/lindenhof",
    "address": "https://calendar.example/duty.ics",
    "first": {"stage": "found", "text_en": "A loop."},
}
"""Valid values of the fields that can be written and are never shown, by their names."""


def write_what_is_never_shown(api: Client, path: str, row: dict[str, Any], name: str) -> None:
    """Send such a field alone, with the whole object and in a list: it is set, or refused by its name."""
    given = {name: NEVER_SHOWN[name]}
    for method, own, body, field in (
        ("patch", path, given, name),
        ("put", path, row | given, name),
        ("patch", path.rpartition(f"{row['id']}/")[0], [{"id": row["id"]} | given], f"[0].{name}"),
    ):
        with transaction.atomic():
            answer = getattr(api, method)(own, body, content_type=JSON)
            transaction.set_rollback(True)
        if answer.status_code == 200:
            [changed] = answer.json() if isinstance(body, list) else [answer.json()]
            assert changed["version"] > row["version"], (method, own, body)
        else:
            assert answer.status_code == 400 and list(wrong(answer)) == [field], (method, own, body, answer.content)


def test_what_is_set_is_shown_as_it_was_set_or_refused(api: Client) -> None:
    """Changes each field of each object alone. Fields that the portal observes are left out."""
    registered: list[tuple[str, Any, str]] = router.registry
    serializers = {prefix: view.serializer_class for prefix, view, _basename in registered}
    set_, refused_, written_ = 0, 0, set[str]()
    for path, row in objects(api, "patch"):
        serializer = serializers["/".join(path.split("/")[2:4])]()
        fields = serializer.fields
        for name in (name for name, field in fields.items() if field.write_only):
            write_what_is_never_shown(api, path, row, name)
            written_.add(name)
        for name, value in row.items():
            if name in serializer._collect_declared("observed_fields"):
                continue
            for other in others(value):
                with transaction.atomic():
                    answer = api.patch(path, {name: other}, content_type=JSON)
                    transaction.set_rollback(True)
                if answer.status_code == 200:
                    assert is_same_value(other, answer.json()[name]), (path, name, other, answer.json())
                    assert name not in serializer.fixed_fields and not fields[name].read_only
                    set_ += 1
                elif answer.status_code == 202:
                    assert answer.json()["approval"] and answer.json()[name] == value, (path, name, other, answer.json())
                else:
                    assert 400 <= answer.status_code < 500, (path, name, other)
                    held = fields[name].read_only or name in serializer.fixed_fields
                    assert not held or list(wrong(answer)) == [name], (path, name, other, answer.content)
                    refused_ += 1
    assert set_ > 60 and refused_ > 60 and written_ == set(NEVER_SHOWN)


@pytest.mark.django_db
def test_what_was_called_otherwise_once_is_refused_with_its_name_of_today(network: factories.Network) -> None:
    _token, key = tokens.create_token(user=network.admin, name="script")
    api = Client(headers={"authorization": f"Bearer {key}"})
    refused = api.post("/api/bans/allowed/", {"prefix": "203.0.113.9", "ends": "2099-01-01T00:00:00Z"}, content_type=JSON)
    assert wrong(refused) == {"ends": ["Use “until” instead of “ends”."]}
    slip = api.post("/api/bans/allowed/", {"prefix": "203.0.113.9", "untl": None}, content_type=JSON)
    assert wrong(slip) == {"untl": ["Unknown field “untl”. Did you mean “until”?"]}
    assert api.get("/api/bans/allowed/").json()["count"] == 0


@pytest.mark.django_db
def test_forwards_and_pinholes_end_when_they_are_told_to_and_later_changes_of_that_hold(network: factories.Network) -> None:
    _token, key = tokens.create_token(user=network.admin, name="script")
    api, of = Client(headers={"authorization": f"Bearer {key}"}), network.residents["m1"]
    forward = {
        "holding": of.holding.pk,
        "protocol": "tcp",
        "public_address": str(factories.PUBLIC),
        "public_port": 8443,
        "private_port": 443,
    }
    pinhole = {"holding": of.prefix.pk, "protocol": "tcp", "address": str(of.prefix.prefix.network_address + 7), "port": 22}
    for path, body in (("/api/nat/forwards/", forward), ("/api/nat/pinholes/", pinhole)):
        for form in (body, [body]):
            first, later = "2099-01-01T00:00:00Z", "2098-06-01T00:00:00+02:00"
            made: Any = api.post(
                path, form | {"until": first} if isinstance(form, dict) else [body | {"until": first}], content_type=JSON
            ).json()
            made = made[0] if isinstance(made, list) else made
            assert is_same_value(first, made["until"]), made
            own = f"{path}{made['id']}/"
            assert is_same_value(later, api.patch(own, {"until": later}, content_type=JSON).json()["until"])
            assert is_same_value(later, api.patch(own, {"purpose": "x"}, content_type=JSON).json()["until"])
            assert list(wrong(api.patch(own, {"until": "2001-01-01T00:00:00Z"}, content_type=JSON))) == ["until"]
            assert api.patch(path, [{"id": made["id"], "until": None}], content_type=JSON).json()[0]["until"] is None
            assert api.delete(own).status_code == 204
    moved = api.post("/api/nat/forwards/", forward | {"until": "2099-01-01T00:00:00Z"}, content_type=JSON).json()
    again = api.patch(f"/api/nat/forwards/{moved['id']}/", {"public_port": 8444, "until": "2098-01-01T00:00:00Z"}, content_type=JSON)
    assert is_same_value("2098-01-01T00:00:00Z", again.json()["until"]) and again.json()["id"] != moved["id"]

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts import tokens
from apps.lib.api import idempotency
from apps.lib.models import KeptAnswer
from apps.members.models import Device, Member
from apps.nat.models import PortForward
from apps.network.models import GatewayGroup
from apps.preferences.services import change_settings
from tests import factories
from tests.api_responses import wrong

FORWARDS = "/api/nat/forwards/"
MEMBERS = "/api/members/members/"
JSON = "application/json"


@pytest.fixture
def api(network: factories.Network) -> Client:
    """A client whose token may do everything."""
    return script(network)


def script(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def build_forward(network: factories.Network, port: int = 8443, **changes: Any) -> dict[str, Any]:
    holding = network.residents["m1"].holding.pk
    return {
        "holding": holding,
        "public_address": "198.51.100.7",
        "protocol": "tcp",
        "public_port": port,
        "private_port": 443,
        "purpose": "Nextcloud",
    } | changes


def many(network: factories.Network, count: int) -> list[dict[str, Any]]:
    return [build_forward(network, 2000 + number) for number in range(count)]


def post(api: Client, body: object, path: str = FORWARDS, **headers: str) -> Any:
    return api.post(path, body, content_type=JSON, headers={name.replace("_", "-"): value for name, value in headers.items()})


def patch(api: Client, path: str, body: object, **headers: str) -> Any:
    return api.patch(path, body, content_type=JSON, headers={name.replace("_", "-"): value for name, value in headers.items()})


def list_touched() -> set[str]:
    """Return the keys of forwards that are noted as changed for the next rollout."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT key FROM deployments_touched WHERE kind = 'forward'")
        return {key for (key,) in cursor.fetchall()}


@contextmanager
def at_most(number: int) -> Iterator[None]:
    with CaptureQueriesContext(
        connection,
    ) as found:
        yield
    assert len(found) <= number, [each["sql"][:120] for each in found]


def test_a_late_writer_is_told_and_overwrites_nothing(api: Client, network: factories.Network) -> None:
    made = post(api, build_forward(network))
    path, first = f"{FORWARDS}{made.json()['id']}/", made["ETag"]
    assert api.get(path)["ETag"] == first
    changed = patch(api, path, {"private_port": 444}, if_match=first)
    assert (changed.status_code, changed.json()["private_port"], changed.json()["version"]) == (200, 444, 2)
    late = patch(api, path, {"private_port": 445}, if_match=first)
    assert (late.status_code, PortForward.objects.get().private_port) == (412, 444) and wrong(late)
    assert api.delete(path, headers={"if-match": first}).status_code == 412
    assert patch(api, path, {"private_port": 446, "version": 1}).status_code == 409
    assert api.delete(path, headers={"if-match": f'"v7", {changed["ETag"]}'}).status_code == 204


def test_a_row_without_a_version_is_known_by_what_is_in_it(api: Client, network: factories.Network) -> None:
    path = f"/api/members/devices/{Device.objects.order_by('id')[0].pk}/"
    seen = api.get(path)["ETag"]
    assert patch(api, path, {"name": "Phone"}, if_match=seen).status_code == 200
    assert patch(api, path, {"name": "Tablet"}, if_match=seen).status_code == 412
    assert patch(api, path, {"name": "Tablet"}, if_match="*").json()["name"] == "Tablet"


def test_settings_that_are_not_there_yet_have_an_etag_too(api: Client, network: factories.Network) -> None:
    path = f"/api/gateways/limits/{GatewayGroup.objects.get().pk}/"
    seen = api.get(path)["ETag"]
    assert patch(api, path, {"member_open": 900}, if_match=seen).json()["version"] == 1
    assert patch(api, path, {"member_open": 800}, if_match=seen).status_code == 412


def test_a_forward_can_be_changed_in_everything(api: Client, network: factories.Network) -> None:
    path = f"{FORWARDS}{post(api, build_forward(network)).json()['id']}/"
    off = patch(api, path, {"enabled": False, "purpose": "Mail"}).json()
    assert (off["enabled"], off["purpose"], off["id"]) == (False, "Mail", int(path.split("/")[-2]))
    moved = patch(api, path, {"public_port": 9000}).json()
    assert (moved["public_port"], moved["enabled"], moved["id"] != off["id"]) == (9000, False, True)
    assert api.get(path).status_code == 404


def test_a_reason_lands_in_the_history(api: Client, network: factories.Network) -> None:
    reason = "Ticket 4711: für den Server"
    made = post(api, build_forward(network), x_change_reason=reason.encode().decode("latin-1"))
    event = PortForward.pgh_event_model.objects.select_related("pgh_context").get()  # type: ignore[attr-defined]
    assert event.pgh_context.metadata["reason"] == reason
    assert event.pgh_context.metadata["user"] == network.admin.pk
    browser = Client()
    browser.force_login(network.admin)
    assert "Ticket 4711" in browser.get("/history/").content.decode()
    assert post(api, build_forward(network, 9000), x_change_reason="x" * 201).status_code == 400
    assert made.status_code == 201 and PortForward.objects.count() == 1


def test_the_same_key_does_nothing_twice(api: Client, network: factories.Network) -> None:
    first = post(api, build_forward(network), idempotency_key="one")
    again = post(api, build_forward(network), idempotency_key="one")
    assert (again.status_code, again.json(), again["Idempotency-Replayed"]) == (201, first.json(), "true")
    assert again["ETag"] == first["ETag"] and PortForward.objects.count() == 1
    other = post(api, build_forward(network, 9000), idempotency_key="one")
    assert other.status_code == 422 and wrong(other)
    refused = post(api, build_forward(network), idempotency_key="two")
    assert refused.status_code == 400
    assert post(api, build_forward(network, 9000), idempotency_key="two").status_code == 201, (
        "what was refused did nothing: the key is free"
    )
    assert post(api, build_forward(network, 9001), idempotency_key="").status_code == 400
    somebody = Client(headers={"authorization": f"Bearer {tokens.create_token(user=factories.user('jonas'), name='s')[1]}"})
    assert post(somebody, build_forward(network, 9002), idempotency_key="one").status_code == 201, "a key is of one person"


def test_kept_answers_are_bounded_in_number_and_age(api: Client, network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "MAX_ANSWERS_PER_ACCOUNT", 5)
    for number in range(8):
        post(api, build_forward(network, 3000 + number), idempotency_key=f"key {number}")
    assert sorted(KeptAnswer.objects.values_list("key", flat=True)) == [f"key {number}" for number in range(3, 8)]
    KeptAnswer.objects.filter(key="key 7").update(at="2020-01-01T00:00Z")
    assert post(api, build_forward(network, 9000), idempotency_key="key 7").status_code == 201, "an old key may be used anew"
    assert KeptAnswer.objects.filter(at__year=2020).count() == 0


@pytest.mark.django_db(transaction=True)
def test_at_the_same_time_one_request_wins_by_its_key_and_one_change_by_its_etag(transactional_db: None) -> None:
    network = factories.network()
    clients = [script(network) for _each in range(4)]

    def together(ask: Callable[[Client], Any]) -> list[int]:
        def closed(client: Client) -> int:
            try:
                return int(ask(client).status_code)
            finally:
                connection.close()

        with ThreadPoolExecutor(len(clients)) as pool:
            return list(pool.map(closed, clients))

    member = {"name": "Xaver", "tariff": network.residents["m1"].member.tariff_id, "since": "2026-11-22"}
    assert together(lambda client: client.post("/api/members/members/", member, content_type="application/json")) == [201] * 4
    assert len(set(Member.objects.filter(name="Xaver").values_list("number", flat=True))) == 4
    codes = together(lambda client: post(client, build_forward(network), idempotency_key="same"))
    assert set(codes) <= {201, 409} and 201 in codes
    forward = PortForward.objects.get()
    codes = together(lambda client: patch(client, f"{FORWARDS}{forward.pk}/", {"private_port": 80}, if_match='"v1"'))
    assert sorted(codes) == [200, 412, 412, 412]
    forward.refresh_from_db()
    assert forward.version == 2


def test_many_are_added_changed_and_removed_in_a_constant_number_of_queries(api: Client, network: factories.Network) -> None:
    api.get("/api/")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM deployments_touched")  # notes that other tests left
    with at_most(40):
        made = post(api, many(network, 1000))
    assert made.status_code == 201, made.content[:500]
    ids = [each["id"] for each in made.json()]
    assert [each["public_port"] for each in made.json()] == [2000 + number for number in range(1000)]
    assert list_touched() == {f"tcp 198.51.100.7 {2000 + number} 1" for number in range(1000)}
    with at_most(40):
        changed = patch(api, FORWARDS, [{"id": pk, "private_port": 80, "version": 1} for pk in ids])
    assert [(each["id"], each["private_port"], each["version"]) for each in changed.json()] == [(pk, 80, 2) for pk in ids]
    with at_most(40):
        assert api.delete(FORWARDS, ids, content_type=JSON).status_code == 204
    assert api.get(FORWARDS).json()["count"] == 0


def test_of_many_all_are_done_or_none_and_each_that_is_wrong_is_named(api: Client, network: factories.Network) -> None:
    items = many(network, 6)
    items[1]["public_port"] = items[0]["public_port"]
    items[3]["public_port"] = "ssh"
    refused = post(api, items)
    assert (refused.status_code, list(wrong(refused))) == (400, ["[3].public_port"])
    items[3]["public_port"] = 9000
    items[4]["public_address"] = "203.0.113.9"
    refused = post(api, items)
    assert list(wrong(refused)) == ["[1].public_port", "[4].public_address"]
    assert refused.json()["errors"][0]["pointer"] == "#/1/public_port" and refused.json()["errors"][0]["offer"]
    assert not PortForward.objects.exists()
    made = post(api, many(network, 3)).json()
    changes = [{"id": each["id"], "private_port": 80} for each in made]
    assert list(wrong(patch(api, FORWARDS, [*changes, {"id": 10**9, "private_port": 1}, changes[0]]))) == ["[3].id", "[4].id"]
    late = patch(api, FORWARDS, [changes[0], changes[1] | {"version": 7}])
    assert late.status_code == 412 and PortForward.objects.filter(private_port=80).count() == 0
    gone = api.delete(FORWARDS, [made[0]["id"], 10**9], content_type=JSON)
    assert gone.status_code == 400 and api.get(FORWARDS).json()["count"] == 3
    assert api.delete(FORWARDS, [{"id": made[0]["id"], "version": 1}], content_type=JSON).status_code == 204


def test_what_no_service_foresaw_is_a_conflict_or_refused_and_never_a_fault(api: Client, network: factories.Network) -> None:
    lists = "/api/bans/lists/"
    assert post(api, {"name": "Own", "description": "x" * 4000}, lists).status_code in (201, 400, 422)
    taken = post(api, [{"name": "a", "description": ""}, {"name": "a", "description": ""}], lists)
    assert 400 <= taken.status_code < 500 and "[1].name" in wrong(taken)
    huge = post(api, build_forward(network, holding=2**70))
    assert huge.status_code == 400


def test_too_many_at_once_and_too_long_a_body_are_refused(api: Client, settings: Any) -> None:
    assert api.delete(FORWARDS, list(range(1, 2002)), content_type=JSON).status_code == 413
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    assert post(api, [{}] * 100).status_code == 413


def test_other_collections_take_many_too(api: Client, network: factories.Network) -> None:
    made = post(api, {"name": "Own", "description": ""}, "/api/bans/lists/").json()
    bans = post(api, [{"list": made["id"], "prefix": f"203.0.113.{number}"} for number in range(20)], "/api/bans/bans/")
    assert bans.status_code == 201 and len(bans.json()) == 20
    changed = patch(api, "/api/bans/bans/", [{"id": each["id"], "comment": "scan"} for each in bans.json()])
    assert {each["comment"] for each in changed.json()} == {"scan"}
    assert api.delete("/api/bans/bans/", [each["id"] for each in bans.json()], content_type=JSON).status_code == 204


def test_a_member_without_a_language_gets_the_default_of_the_network(api: Client, network: factories.Network) -> None:
    change_settings(version=0, values={"default_language": "de"}, by=None)
    plain = {"name": "Xaver Lang", "since": "2026-11-21", "tariff": network.residents["m1"].member.tariff_id}
    one, [two, other] = post(api, plain, MEMBERS), post(api, [plain, plain | {"language": "en"}], MEMBERS).json()
    assert (one.status_code, one.json()["language"], two["language"], other["language"]) == (201, "de", "de", "en")


def test_many_ask_for_one_rollout_and_what_is_refused_for_none(
    api: Client, network: factories.Network, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks() as asked:
        assert post(api, many(network, 20)).status_code == 201
    assert len(asked) == 1
    with django_capture_on_commit_callbacks() as asked:
        lists = [{"name": f"List {number}", "description": ""} for number in range(5)]
        assert post(api, lists, "/api/bans/lists/").status_code == 201
    assert len(asked) == 1
    with django_capture_on_commit_callbacks() as asked:
        assert post(api, many(network, 20)).status_code == 400
    assert asked == []


@pytest.mark.parametrize(
    "tariff", ["1e400", "-1e400", '"\\ud800"', "[1]", '{"a": 1}', "1.5", "true", "[" * 200_000, '{"a":' * 200_000 + "1" + "}" * 200_000]
)
@pytest.mark.parametrize("many", ["%s", "[%s]"])
def test_json_that_no_database_can_take_is_refused(api: Client, network: factories.Network, tariff: str, many: str) -> None:
    item = f'{{"name": "Xaver", "since": "2026-11-22", "language": "\\udfff", "tariff": {tariff}}}'
    api.raise_request_exception = False
    for body in (many % item, many % item.replace("\\udfff", "en")):
        answer = api.post("/api/members/members/", body, content_type="application/json")
        assert (answer.status_code, answer.json()["title"]) == (400, "Bad request")


def test_many_bans_cost_as_many_statements_as_one(api: Client, network: factories.Network) -> None:
    own = post(api, {"name": "Own", "description": ""}, "/api/bans/lists/").json()["id"]
    bans = [{"list": own, "prefix": f"203.0.113.{number}", "direction": "in", "comment": f"number {number}"} for number in range(100)]
    with at_most(30):
        made = post(api, bans, "/api/bans/bans/")
    assert made.status_code == 201 and [each["comment"] for each in made.json()] == [each["comment"] for each in bans]
    wrongly = [*bans[:2], {"list": own, "prefix": "10.16.0.10"}]
    refused = wrong(post(api, [each | {"list": own} for each in wrongly], "/api/bans/bans/"))
    assert "is already on “Own” as ban" in refused["[0].prefix"][0] and "would ban ourselves" in refused["[2].prefix"][0]

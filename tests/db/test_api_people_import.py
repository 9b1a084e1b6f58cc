"""Imports of people by the API: a dry run unless it says otherwise, small tables at once, large ones by a worker, for their owner alone."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts import tokens
from apps.accounts.models import User
from apps.desk.people_import import background
from apps.members.models import Member, PeopleUpload
from tests import factories
from tests.api_responses import wrong

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/api/members/imports/"
PEOPLE = "Name;E-mail;Wohnt in\nAda;a@x.example;Mill-12\nBo;b@x.example;Mill-13\n"
LARGE = "Name;E-mail;Note\n" + "".join(f"Member {at};m{at}@x.example;{'x' * 1_000}\n" for at in range(3_000))


def script(user: User, **limits: Any) -> Client:
    _token, key = tokens.create_token(user=user, name="script", **limits)
    return Client(headers={"authorization": f"Bearer {key}"})


def post(api: Client, **body: Any) -> Any:
    return api.post(PATH, body, content_type="application/json")


@pytest.fixture
def api(network: factories.Network) -> Client:
    return script(network.admin)


def test_a_table_is_checked_and_only_imported_if_that_is_said(api: Client) -> None:
    given = {"table": PEOPLE, "name": "people.csv", "columns": ["Wohnt in=room"]}
    before = Member.objects.count()
    checked = post(api, **given, create_rooms=True)
    assert (checked.status_code, checked.json()["state"], checked.json()["dry_run"]) == (201, "checked", True)
    assert checked.json()["report"]["counts"]["members_added"] == 2 and Member.objects.count() == before
    assert checked.json()["meanings"] == ["name", "email", "room"] and "table" not in checked.json()
    done = post(api, **given, create_rooms=True, dry_run=False).json()
    assert (done["state"], done["dry_run"], done["lines"], done["done"]) == ("imported", False, 2, 2)
    assert Member.objects.count() == before + 2
    again = post(api, **given, dry_run=False).json()
    assert again["report"]["counts"]["members_unchanged"] == 2 and Member.objects.count() == before + 2
    assert api.get(f"{PATH}{done['id']}/").json()["report"] == done["report"]


def test_problems_name_line_and_column_and_nothing_is_imported(api: Client) -> None:
    done = post(api, table="Name;E-mail\nAda;a@x.example\nBo;nowhere\n", dry_run=False).json()
    assert (done["state"], done["report"]["problem_count"]) == ("checked", 1)
    assert [(each["line"], each["column"]) for each in done["report"]["problems"]] == [(3, "E-mail")]
    assert not Member.objects.filter(email="a@x.example").exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "table"),
        ({"table": 7}, "table"),
        ({"table": ""}, "table"),
        ({"table": "Name;E-mail\n"}, "table"),
        ({"table": "Name;Town\nAda;Mill\n"}, "columns"),
        ({"table": PEOPLE, "columns": ["Town=room"]}, "columns"),
        ({"table": PEOPLE, "columns": "Wohnt in=room"}, "columns"),
        ({"table": PEOPLE, "dryrun": False}, "dryrun"),
        ({"table": PEOPLE, "state": "imported"}, "state"),
    ],
)
def test_what_is_not_understood_is_refused_by_its_name(api: Client, body: dict[str, Any], field: str) -> None:
    refused = post(api, **body)
    assert refused.status_code == 400 and list(wrong(refused)) == [field]
    assert not PeopleUpload.objects.exists()


def test_only_who_may_change_members_and_rules_imports(network: factories.Network) -> None:
    member = factories.member("Kaya", email="kaya@x.example")
    table = f"Number;Name;E-mail\n{member.number};Somebody else;kaya@x.example\n"
    for role in ("automation", "helpdesk", "auditor", "approver"):
        api = script(factories.user(role, roles=[role]))
        assert post(api, table=table, dry_run=False).status_code == 403, role
        assert api.get(PATH).status_code == 403, role
    assert Member.objects.get(pk=member.pk).name == "Kaya" and not PeopleUpload.objects.exists()
    assert post(script(network.admin, scopes=["member:write", "address:write"]), table=table, dry_run=False).status_code == 403
    assert post(script(network.admin, scopes=["people-import:read"]), table=table, dry_run=False).status_code == 403
    assert post(script(network.admin, scopes=["people-import:write"]), table=table, dry_run=False).json()["state"] == "imported"
    assert Member.objects.get(pk=member.pk).name == "Somebody else"


def test_a_large_table_is_imported_by_a_worker_and_can_be_cancelled(api: Client) -> None:
    first, second = (post(api, table=LARGE, dry_run=False).json() for _time in range(2))
    assert (first["state"], first["report"], first["of"]) == ("waiting", None, None)
    assert api.delete(f"{PATH}{second['id']}/").status_code == 204
    assert background.list_due_uploads() == [first["id"]] and background.work_on_upload(first["id"])
    done = api.get(f"{PATH}{first['id']}/").json()
    assert (done["state"], done["lines"], done["of"]) == ("imported", 3_000, None)
    assert Member.objects.filter(email="m2999@x.example").count() == 1


def test_the_same_request_twice_is_one_import(api: Client) -> None:
    sent = {"table": PEOPLE, "columns": ["Wohnt in=skip"], "dry_run": False}
    made = [api.post(PATH, sent, content_type="application/json", headers={"Idempotency-Key": "a"}).json() for _time in range(2)]
    assert made[0] == made[1] and PeopleUpload.objects.count() == 1


def test_an_import_is_seen_and_removed_by_its_owner_alone(api: Client, network: factories.Network) -> None:
    mine = post(api, table=PEOPLE, columns=["Wohnt in=skip"]).json()["id"]
    other = script(factories.user("jonas"))
    assert other.get(PATH).json()["results"] == [] and api.get(PATH).json()["results"][0]["id"] == mine
    assert [other.get(f"{PATH}{mine}/").status_code, other.delete(f"{PATH}{mine}/").status_code] == [404, 404]
    limited = script(network.admin, member=factories.member("Kaya").pk)
    assert post(limited, table=PEOPLE).status_code == 403

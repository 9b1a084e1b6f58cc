"""Conventions of every collection of the API. The tests walk all registered collections, so new ones are tested too."""

from typing import Any

import pytest
from django.test import Client
from rest_framework.serializers import BaseSerializer

from apps.accounts import tokens
from apps.accounts.route_rights import API
from apps.audit.trail import list_trails
from apps.lib.api import row_counts
from apps.lib.api.filter_types import TEXT
from apps.lib.api.filters import find_column_filter, list_orderings
from apps.lib.api.openapi.views import get_openapi_document
from apps.lib.api.serializers import ApiSerializer, parse_shown_fields
from apps.lib.api.viewsets import AddViewSet, ChangeOneViewSet, ChangeViewSet, CollectionViewSet, ReadViewSet, RemoveViewSet
from apps.members.models import Member, Room, Site
from apps.network.models import Holding
from portal.api import router
from tests import factories
from tests.api_responses import wrong

REGISTERED: list[tuple[str, Any]] = [(prefix, viewset) for prefix, viewset, _basename in router.registry]
LISTS = [prefix for prefix, viewset in REGISTERED if hasattr(viewset, "list")]
JSON = "application/json"


@pytest.fixture
def api(network: factories.Network) -> Client:
    """A client whose token may do everything."""
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def get(api: Client, prefix: str, /, **asked: object) -> Any:
    return api.get(f"/api/{prefix}/", {name: str(value) for name, value in asked.items()})


def test_every_collection_is_made_of_the_conventions() -> None:
    parts = {
        "list": ReadViewSet,
        "create": AddViewSet,
        "update": ChangeOneViewSet,
        "bulk_update": ChangeViewSet,
        "destroy": RemoveViewSet,
        "bulk_destroy": RemoveViewSet,
    }
    for prefix, viewset in REGISTERED:
        assert issubclass(viewset, CollectionViewSet), f"{prefix}: build it from apps.lib.api.viewsets"
        assert issubclass(viewset.serializer_class, ApiSerializer), f"{prefix}: its serializer is an ApiSerializer"
        assert prefix.count("/") == 1, f"{prefix}: /api/<app>/<plural>/"
        for action, part in parts.items():
            assert not hasattr(viewset, action) or issubclass(viewset, part), f"{prefix}: {action} comes from {part.__name__}"
        if issubclass(viewset, ReadViewSet):
            assert "id" in viewset.filters, f"{prefix}: declare its filters with filters_of"
        assert _basename(prefix) in API


# Tracked tables whose rows are not objects of their own, and how the API reaches them instead
PARTS = {
    "network.limits": "by its group",
    "network.protection": "by its group",
    "network.profile": "by its group",
    "network.failover": "by its group",
    "network.uplink": "by its group",
    "nat.portrules": "by its group",
    "preferences.networksettings": "one row, with the id 1",
    "traffic.fairshare": "by its group",
    "bans.serverinterface": "`servers` of its gateway",
}
# Tracked tables that no script changes
NOT_FOR_SCRIPTS = {
    "deployments.databaserestore": "a person looks at what differs, and agrees, on a page or in a terminal",
}


def test_every_object_that_has_a_history_has_an_address() -> None:
    """Each tracked model is a collection at /api/<app>/<plural>/<id>/, or PARTS or NOT_FOR_SCRIPTS says why not."""
    models = {viewset.serializer_class.Meta.model._meta.label_lower for _prefix, viewset in REGISTERED}
    assert sorted(trail.key for trail in list_trails() if trail.key not in models) == ["bans.serverinterface", *NOT_FOR_SCRIPTS]
    listed = {viewset.serializer_class.Meta.model._meta.label_lower for prefix, viewset in REGISTERED if prefix in LISTS}
    assert sorted(models - listed) == sorted(PARTS.keys() - {"bans.serverinterface"})


def _basename(prefix: str) -> str:
    return next(basename for known, _viewset, basename in router.registry if known == prefix)


def test_every_list_takes_every_filter_order_and_page_and_refuses_what_there_is_none_of(api: Client) -> None:
    for prefix, viewset in REGISTERED:
        if prefix not in LISTS:
            continue
        for name, each in viewset.filters.items():
            found, text = find_column_filter(viewset.filters, name), each.kind.example
            lookups = [lookup for lookup in (found.lookups if found else ()) if lookup]
            asked = {f"{name}__{lookup}": "true" if lookup == "isnull" else text for lookup in lookups}
            for parameter, value in ({name: text} | asked).items():
                answer = get(api, prefix, **{parameter: value})
                assert answer.status_code == 200, (prefix, parameter, answer.content)
            if each.kind is not TEXT:
                assert wrong(get(api, prefix, **{name: "x y"})).keys() == {name}, (prefix, name)
        for name in list_orderings(viewset.filters):
            assert get(api, prefix, ordering=f"-{name}").status_code == 200, (prefix, name)
        bad = dict.fromkeys(("nothing", "id__nothing", "ordering", "fields", "brief", "cursor"), "nonsense") | {"limit": "1001"}
        for name, value in bad.items():
            answer = get(api, prefix, **{name: value})
            assert (answer.status_code, list(wrong(answer))) == (400, [name]), (prefix, name, answer.content)


def test_a_parameter_that_occurs_twice_is_refused_in_every_request(api: Client, network: factories.Network) -> None:
    for prefix in LISTS:
        for name in ("id", "limit", "ordering", "fields"):
            answer = api.get(f"/api/{prefix}/?{name}=1&{name}=2")
            assert (answer.status_code, list(wrong(answer))) == (400, [name]), (prefix, name, answer.content)
    answer = api.get("/api/members/members/", {"state": ["active", "pending"]})
    assert wrong(answer) == {"state": ["“state” is given 2 times. Give it once, and several values in “state__in”, with commas."]}
    member = network.residents["m1"].member.pk
    refused = api.get(f"/api/members/members/{member}/?fields=id&fields=name"), api.post(f"/api/members/members/{member}/leave/?x=1&x=2")
    assert [(answer.status_code, list(wrong(answer))) for answer in refused] == [(400, ["fields"]), (400, ["x"])]


def test_lists_are_ordered_by_references_as_they_are_shown(api: Client, network: factories.Network) -> None:
    """Members are ordered by name elsewhere, and holdings by address: here by the id that is shown."""
    members = [each.member for each in network.residents.values()]
    for member, name in zip(members, ("Zoë", "Yara", "Xaver", "Wim"), strict=False):
        Member.objects.filter(pk=member.pk).update(name=name)
    first = Room.objects.create(site=Site.objects.create(name="Behind", code="Z"), floor=0, name="9")
    second = Room.objects.create(site=Site.objects.create(name="Ahead", code="A"), floor=0, name="1")
    for member, room in zip(members, (second, first), strict=False):
        Member.objects.filter(pk=member.pk).update(room=room)
    for prefix, name in (
        ("network/addresses", "member"),
        ("nat/mappings", "member"),
        ("nat/mappings", "holding"),
        ("members/members", "room"),
    ):
        shown = [each[name] for each in get(api, prefix, ordering=name).json()["results"] if each[name]]
        assert len(shown) > 1 and shown == sorted(shown), (prefix, name)
        back = [each[name] for each in get(api, prefix, ordering=f"-{name}").json()["results"] if each[name]]
        assert back == shown[::-1]


def test_every_list_shows_the_fields_that_are_asked_for_and_needs_no_query_for_each_row(
    api: Client, network: factories.Network, django_assert_max_num_queries: Any
) -> None:
    api.get("/api/")
    for prefix, viewset in REGISTERED:
        serializer: type[BaseSerializer[Any]] = viewset.serializer_class
        if prefix not in LISTS:
            continue
        every = serializer.Meta.fields  # type: ignore[attr-defined]
        brief = parse_shown_fields(serializer, {"brief": "1"}) or []
        assert "id" in brief and len(brief) > 1, f"{prefix}: say in Meta.brief what is short of it"
        with django_assert_max_num_queries(12):
            whole = get(api, prefix, limit=1000).json()["results"]
        short, one = get(api, prefix, brief=1).json()["results"], get(api, prefix, fields="id").json()["results"]
        assert all(set(each) == set(every) for each in whole), prefix
        assert all(set(each) == set(brief) for each in short), prefix
        assert all(set(each) == {"id"} for each in one), prefix
        assert len(whole) == len(short) == len(one)


def test_every_collection_says_problems_in_the_same_form(api: Client) -> None:
    for prefix, viewset in REGISTERED:
        path = f"/api/{prefix}/"
        for pk in ("999999999", "99999999999999999999", "x"):
            assert wrong(api.get(f"{path}{pk}/")) and api.get(f"{path}{pk}/").status_code == 404, prefix
        offered = [verb for verb in ("create", "bulk_update", "bulk_destroy") if hasattr(viewset, verb)]
        for verb, method in (("create", api.post), ("bulk_update", api.patch), ("bulk_destroy", api.delete)):
            answer = method(path, "[]", content_type=JSON)
            if prefix not in LISTS:
                assert answer.status_code == 404
            elif verb in offered:
                assert (answer.status_code, bool(wrong(answer))) == (400, True), (prefix, verb, answer.content)
            else:
                assert answer.status_code in (403, 405) and wrong(answer), (prefix, verb)
        for body in ("{", "null", '"x"', "1e999", "[[]]", '[{"id": 1}, null]', '[{"id": 99999999999999999999}]'):
            for verb, method in (("create", api.post), ("bulk_update", api.patch), ("bulk_destroy", api.delete)):
                if verb in offered and prefix in LISTS:
                    answer = method(path, body, content_type=JSON)
                    assert 400 <= answer.status_code < 500 and wrong(answer), (prefix, verb, body, answer.content)


def test_a_walk_sees_each_row_once_while_others_come_and_go(api: Client, network: factories.Network) -> None:
    link: Any
    seen, link = [], "/api/network/addresses/?cursor=&limit=3"
    while link:
        page = api.get(link).json()
        seen += [each["id"] for each in page["results"]]
        factories.make_holding(network.residents["m1"].member, network.private, f"10.16.200.{len(seen)}")
        link = page["next"] if len(seen) < 9 else None
    assert seen == sorted(set(seen)) and len(seen) == 9
    assert "count" not in page


def test_lookups_find_what_they_say(api: Client, network: factories.Network) -> None:
    first, second = network.residents["m1"], network.residents["m2"]
    ids = f"{first.member.pk},{second.member.pk}"
    assert get(api, "members/members", id__in=ids).json()["count"] == 2
    assert get(api, "members/members", name__contains="OF M1").json()["results"][0]["id"] == first.member.pk
    assert get(api, "members/members", id__gte=second.member.pk, id__lte=second.member.pk).json()["count"] == 1
    assert get(api, "network/addresses", address__net_within="10.16.0.0/16", member=first.member.pk).json()["count"] == 1
    assert get(api, "network/addresses", address=str(first.holding.prefix[0])).json()["count"] == 1
    assert get(api, "network/pools", prefix__net_contains="10.16.0.10").json()["count"] == 1
    assert get(api, "members/members", room__isnull="true").json()["count"] == len(network.residents)
    ordered = get(api, "members/members", ordering="-id").json()["results"]
    assert [each["id"] for each in ordered] == sorted((each["id"] for each in ordered), reverse=True)


def test_addresses_that_lead_nowhere_are_told_as_problems(api: Client) -> None:
    assert "nothing at this address" in api.get("/api/nothing/").json()["detail"]
    assert wrong(api.get("/api/nothing/")) and wrong(Client().get("/api/members/members/"))
    assert Client().get("/api/members/members/").status_code == 401


def test_pages_follow_each_other_and_their_count_is_right(api: Client, network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    link, seen, counts = "/api/network/addresses/?limit=3&ordering=-address", [], set()
    while link:
        page = api.get(link).json()
        seen += [each["id"] for each in page["results"]]
        counts.add(page["count"])
        link = page["next"]
    assert counts == {len(seen)} == {Holding.objects.count()} and len(set(seen)) == len(seen)
    assert get(api, "network/addresses", offset=1000).json() | {"previous": None} == {
        "count": len(seen),
        "next": None,
        "previous": None,
        "results": [],
    }
    monkeypatch.setattr(row_counts, "LARGE", 2)
    monkeypatch.setattr(row_counts, "MAX_REMEMBERED_QUERIES", 1)
    assert get(api, "network/addresses", limit=1).json()["count"] == get(api, "network/addresses", limit=2).json()["count"] == len(seen)
    assert get(api, "network/addresses", limit=1, kind="prefix6").json()["count"] == len(seen) // 2
    assert len(row_counts._cached_counts) == 1, "what is remembered is bounded"
    row_counts._cached_counts.clear()


def test_times_of_far_offsets_and_numbers_that_no_column_holds_are_compared_or_refused(api: Client) -> None:
    far = get(api, "nat/forwards", since__gte="1999-12-31T23:00:00+23:00")
    assert far.json()["count"] == get(api, "nat/forwards", since__gte="1999-12-31T00:00:00Z").json()["count"]
    assert get(api, "nat/forwards", since__gte="0001-01-01T00:00:00+23:00").status_code == 400
    assert get(api, "members/tariffs", version=10**13, offset=10).json()["count"] == 0


def test_the_schema_knows_numbers_to_choose_from_and_addresses_that_may_be_empty() -> None:
    ticket = get_openapi_document(router)["components"]["schemas"]["Ticket"]["properties"]
    assert ticket["priority"]["type"] == "integer" and ticket["priority"]["enum"] == [1, 2, 3, 4]
    assert "format" not in ticket["address"]

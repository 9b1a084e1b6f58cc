"""Usage of members and of the addresses they hold, in the API."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.members.models import Member
from apps.network.services import release_holding
from apps.preferences.services import change_settings
from apps.traffic import rollup
from apps.traffic.rollup import compute_bucket_start
from tests import factories, usage_factories
from tests.api_responses import wrong
from tests.db.page_client import queries

ZERO = dict.fromkeys(("up4", "down4", "up6", "down6"), 0)
MEMBERS, ADDRESSES = "/api/traffic/members/", "/api/traffic/addresses/"


@pytest.fixture
def busy(network: factories.Network) -> datetime:
    """The moment two hours ago at which m1 received and sent by IPv4, received by IPv6, and m2 received a little."""
    now = timezone.now()
    at = now - timedelta(hours=2)
    usage_factories.read(network.gateways, now - timedelta(days=3), now)
    usage_factories.count_usage(network.residents["m1"].holding, at, down=90_000, up=1_000)
    usage_factories.count_usage(network.residents["m1"].prefix, at, down=7)
    usage_factories.count_usage(network.residents["m2"].holding, at, down=5)
    return at


@pytest.fixture
def api(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def test_the_sums_of_members_are_by_direction_and_version(api: Client, network: factories.Network, busy: datetime) -> None:
    first, second = (network.residents[host].member for host in ("m1", "m2"))
    used = {first.pk: ZERO | {"up4": 1_000, "down4": 90_000, "down6": 7}, second.pk: ZERO | {"down4": 5}}
    listed = api.get(MEMBERS, {"fields": "id,octets", "limit": "1000"}).json()["results"]
    assert {each["id"]: each["octets"] for each in listed} == {pk: used.get(pk, ZERO) for pk in Member.objects.values_list("pk", flat=True)}
    one = api.get(f"{MEMBERS}{first.pk}/", {"since": (busy + timedelta(minutes=10)).isoformat()}).json()
    assert (one["name"], one["octets"]) == (first.name, ZERO)


def test_each_address_of_a_member_has_its_own_sum_also_after_it_was_given_back(
    api: Client, network: factories.Network, busy: datetime
) -> None:
    resident = network.residents["m1"]
    found = api.get(ADDRESSES, {"member": resident.member.pk}).json()["results"]
    sums = {each["address"]: each["octets"] for each in found}
    assert sums == {resident.holding.address: ZERO | {"up4": 1_000, "down4": 90_000}, resident.prefix.address: ZERO | {"down6": 7}}
    release_holding(holding=resident.prefix, by=network.admin)
    [kept] = api.get(ADDRESSES, {"member": str(resident.member.pk), "kind": "prefix6"}).json()["results"]
    assert (kept["octets"]["down6"], kept["until"] is None) == (7, False)


def test_over_time_there_is_a_point_for_each_bucket(api: Client, network: factories.Network, busy: datetime) -> None:
    resident, begin = network.residents["m1"], compute_bucket_start("fiveminutes", busy)
    for path, octets in (
        (f"{MEMBERS}{resident.member.pk}/series/", {"up4": 1_000, "down4": 90_000, "up6": 0, "down6": 7}),
        (f"{ADDRESSES}{resident.prefix.pk}/series/", ZERO | {"down6": 7}),
    ):
        found = api.get(path, {"window": "day"}).json()
        assert (found["unit_seconds"], len(found["points"])) == (300, 288)
        known = {datetime.fromisoformat(point["start"]): point["octets"] for point in found["points"]}
        assert known[begin] == octets
        assert known[begin - usage_factories.FIVE] == ZERO


def test_where_no_gateway_was_read_octets_are_null(api: Client, network: factories.Network, busy: datetime) -> None:
    asked = {"since": (busy - timedelta(days=5)).isoformat(), "until": (busy - timedelta(days=4)).isoformat(), "unit": "hour"}
    points = api.get(f"{MEMBERS}{network.residents['m1'].member.pk}/series/", asked).json()["points"]
    assert [point["octets"] for point in points] == [None] * 24


def test_what_is_kept_by_longer_units_only_is_never_told_as_nothing(api: Client, network: factories.Network) -> None:
    now, path = timezone.now(), f"{MEMBERS}{network.residents['m1'].member.pk}/series/"
    usage_factories.read(network.gateways, now - timedelta(days=40), now)
    for ago, refused, taken in ((20, ["5min"], 3600), (100, ["5min", "hour"], 86_400)):
        span = {"since": (now - timedelta(days=ago)).isoformat(), "until": (now - timedelta(days=ago - 1)).isoformat()}
        for unit in refused:
            answer = api.get(path, span | {"unit": unit})
            assert (answer.status_code, list(wrong(answer))) == (400, ["unit"])
        assert api.get(path, span).json()["unit_seconds"] == taken
    rollup.run_maintenance(now)
    change_settings(version=0, values={"keep_hours_days": 400}, by=None)
    assert api.get(path, span | {"unit": "hour"}).status_code == 400, "a longer retention brings nothing back"


def test_a_window_of_a_name_ends_where_it_is_told_to(api: Client, network: factories.Network, busy: datetime) -> None:
    path = f"{MEMBERS}{network.residents['m1'].member.pk}/"
    before = api.get(path, {"window": "day", "until": (busy - timedelta(hours=1)).isoformat()}).json()
    assert before["octets"] == ZERO
    assert api.get(path, {"window": "day", "until": (busy + timedelta(hours=1)).isoformat()}).json()["octets"]["down4"] == 90_000


@pytest.mark.parametrize(
    ("asked", "parameter"),
    [
        ({"window": "decade"}, "window"),
        ({"until": "1970-01-01"}, "until"),
        ({"until": "0001-01-01T00:00:00Z", "window": "year"}, "until"),
        ({"since": "2126-01-01T00:00:00Z"}, "since"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2000-01-01T00:00:00Z", "unit": "5min"}, "unit"),
    ],
)
def test_a_window_that_cannot_be_is_refused_by_its_parameter(
    api: Client, network: factories.Network, asked: dict[str, Any], parameter: str
) -> None:
    member = network.residents["m1"].member.pk
    for path in (f"{MEMBERS}{member}/series/", *(() if "unit" in asked else (MEMBERS, f"{MEMBERS}{member}/"))):
        answer = api.get(path, asked)
        assert (answer.status_code, list(wrong(answer))) == (400, [parameter]), path


def test_a_token_of_one_member_sees_nobody_else_s_usage(network: factories.Network, busy: datetime) -> None:
    mine, other = network.residents["m1"], network.residents["m2"]
    _token, key = tokens.create_token(user=network.admin, name="script", member=mine.member.pk)
    api = Client(headers={"authorization": f"Bearer {key}"})
    assert [each["id"] for each in api.get(MEMBERS).json()["results"]] == [mine.member.pk]
    for path in (f"{MEMBERS}{other.member.pk}/", f"{MEMBERS}{other.member.pk}/series/", f"{ADDRESSES}{other.holding.pk}/series/"):
        assert api.get(path).status_code == 404, path


def test_a_page_of_usage_takes_the_same_number_of_queries_for_any_number_of_rows(
    api: Client, network: factories.Network, busy: datetime
) -> None:
    api.get(MEMBERS)
    few = {path: queries(api, f"{path}?limit=1") for path in (MEMBERS, ADDRESSES)}
    assert {path: queries(api, f"{path}?limit=3") for path in few} == few

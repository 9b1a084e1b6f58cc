"""API operations that plan departures and moves, and set which ports members of a group may open and how they share."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.mail.models import Message
from apps.members.models import Departure, Member, Room, Site
from apps.nat.moving.models import Move
from apps.traffic.models import Quota
from tests import factories
from tests.api_responses import wrong


@pytest.fixture
def api(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def post(api: Client, path: str, given: object) -> Any:
    return api.post(f"/api/{path}/", given, content_type="application/json")


def patch(api: Client, path: str, given: object) -> Any:
    return api.patch(f"/api/{path}/", given, content_type="application/json")


def test_a_departure_is_planned_once_and_dropped(api: Client, network: factories.Network) -> None:
    member, day = network.residents["m1"].member, timezone.localdate() + timedelta(days=9)
    made = post(api, "members/departures", {"member": member.pk, "on": day.isoformat()})
    assert (made.status_code, made.json()["state"], made.json()["by"]) == (201, "planned", network.admin.pk)
    assert list(wrong(post(api, "members/departures", {"member": member.pk, "on": day.isoformat()}))) == ["on"]
    assert api.delete(f"/api/members/departures/{made.json()['id']}/").status_code == 204
    assert Departure.objects.get().state == Departure.State.DROPPED
    assert api.delete(f"/api/members/departures/{made.json()['id']}/").status_code == 409


def test_a_move_of_a_day_to_come_is_planned_and_one_of_today_is_done(api: Client, network: factories.Network) -> None:
    member, today = network.residents["m1"].member, timezone.localdate()
    room = Room.objects.create(site=Site.objects.create(name="House A", code="A"), floor=1, name="101")
    later = post(api, "nat/moves", {"member": member.pk, "on": (today + timedelta(days=2)).isoformat(), "room": room.pk})
    assert (later.status_code, later.json()["state"]) == (201, "planned")
    assert api.delete(f"/api/nat/moves/{later.json()['id']}/").status_code == 204
    now = post(api, "nat/moves", {"member": member.pk, "on": today.isoformat(), "room": room.pk})
    assert (now.status_code, now.json()["state"]) == (201, "done")
    member.refresh_from_db()
    assert member.room == room


def test_a_move_of_a_day_that_is_over_or_that_changes_nothing_is_refused_and_nothing_is_planned(
    api: Client, network: factories.Network
) -> None:
    member, today = network.residents["m1"].member.pk, timezone.localdate()
    for given, field in (
        ({"on": (today - timedelta(days=1)).isoformat()}, "on"),
        ({"on": today.isoformat()}, "room"),
        ({"on": (today + timedelta(days=1)).isoformat(), "pool": network.public.pk}, "pool"),
    ):
        assert list(wrong(post(api, "nat/moves", {"member": member} | given))) == [field]
    assert not Move.objects.exists()


def test_a_move_of_today_that_cannot_be_is_refused_with_its_reason(api: Client, network: factories.Network) -> None:
    resident = network.residents["m1"]
    small = factories.pool(network.group, "private4", "10.99.0.0/32")
    factories.make_holding(factories.member("Who holds it"), small, "10.99.0.0/32")
    answer = post(api, "nat/moves", {"member": resident.member.pk, "on": timezone.localdate().isoformat(), "pool": small.pk})
    assert answer.status_code == 400
    assert "10.99.0.0/32" in answer.json()["detail"]
    assert not Move.objects.exists()
    resident.holding.refresh_from_db()
    assert resident.holding.valid.upper is None


def test_port_rules_and_fair_share_begin_with_the_defaults_and_change_on_top_of_a_version(api: Client, network: factories.Network) -> None:
    for path, begun, given in (
        ("gateways/portrules", {"lowest": 1024, "forbidden": []}, {"lowest": 2048, "forbidden": [5060, 25]}),
        ("gateways/fairshare", {"on": False, "exempt": []}, {"on": True, "exempt": [network.residents["m1"].member.tariff_id]}),
    ):
        at = f"{path}/{network.group.pk}"
        before = api.get(f"/api/{at}/").json()
        assert before["version"] == 0
        assert {name: before[name] for name in begun} == begun
        saved = patch(api, at, given | {"version": 0})
        assert saved.status_code == 200, saved.content
        after = api.get(f"/api/{at}/").json()
        assert {name: after[name] for name in given} == given | ({"forbidden": [25, 5060]} if "forbidden" in given else {})
        assert patch(api, at, given | {"version": 0}).status_code == 409
        assert api.patch(f"/api/{at}/", given, content_type="application/json", headers={"If-Match": '"v0"'}).status_code == 412


def test_what_makes_no_sense_is_refused_at_its_field(api: Client, network: factories.Network) -> None:
    for path, given, field in (
        ("gateways/portrules", {"lowest": 0}, "lowest"),
        ("gateways/portrules", {"forbidden": [70_000]}, "forbidden[0]"),
        ("gateways/fairshare", {"end_percent": 95}, "end_percent"),
        ("gateways/fairshare", {"exempt": [999_999]}, "exempt"),
        ("gateways/fairshare", {"minutes": 1}, "minutes"),
    ):
        answer = patch(api, f"{path}/{network.group.pk}", given)
        assert answer.status_code == 400, (path, given, answer.content)
        assert list(wrong(answer)) == [field]


def test_a_member_is_invited_by_mail_and_the_link_is_withdrawn(api: Client, network: factories.Network) -> None:
    member = network.residents["m1"].member
    Member.objects.filter(pk=member.pk).update(email="selin@lindenhof.example")
    made = post(api, "members/invitations", {"member": member.pk})
    assert (made.status_code, made.json()["by"], made.json()["withdrawn"]) == (201, network.admin.pk, None)
    assert Message.objects.get(template="member_invited").to == "selin@lindenhof.example"
    assert api.delete(f"/api/members/invitations/{made.json()['id']}/").status_code == 204
    assert api.delete(f"/api/members/invitations/{made.json()['id']}/").status_code == 409


def test_a_tariff_gets_a_quota_another_and_none(api: Client, network: factories.Network) -> None:
    tariff = network.residents["m1"].member.tariff_id
    made = post(api, "traffic/quotas", {"tariff": tariff, "octets": 500_000_000_000})
    assert (made.status_code, made.json()) == (201, {"id": tariff, "tariff": tariff, "octets": 500_000_000_000})
    assert list(wrong(post(api, "traffic/quotas", {"tariff": tariff, "octets": 1}))) == ["tariff"]
    assert patch(api, f"traffic/quotas/{tariff}", {"octets": 1000}).json()["octets"] == 1000
    assert list(wrong(patch(api, f"traffic/quotas/{tariff}", {"octets": 0}))) == ["octets"]
    assert api.delete(f"/api/traffic/quotas/{tariff}/").status_code == 204
    assert not Quota.objects.exists()


def test_a_format_that_there_is_not_is_refused_with_those_that_there_are(api: Client) -> None:
    answer = api.get("/api/members/rooms/?format=xls")
    assert (answer.status_code, "json, csv, jsonl" in answer.json()["detail"]) == (406, True)

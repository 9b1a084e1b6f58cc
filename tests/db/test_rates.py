"""Rate limits: constraints, services, what reaches the gateways, pages and API."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test import Client
from django.utils import timezone

from apps.deployments.desired_state import policy_snapshot
from apps.lib.errors import Conflict, Problem
from apps.members.models import Member, Tariff
from apps.network.models import Uplink
from apps.traffic.models import RateLimit
from apps.traffic.rates import selectors, services
from firewall.policy import Policy
from tests import factories
from tests.db.page_client import queries, signed_in, text

JSON = "application/json"


def soon(hours: int = 1) -> Any:
    return timezone.now() + timedelta(hours=hours)


def limit_resident(network: factories.Network, host: str = "m1", **given: Any) -> RateLimit:
    values: dict[str, Any] = {"up_kbit": 1000, "down_kbit": 5000, "reason": "other", "note": "see ticket 7"}
    return services.limit_member(member=network.residents[host].member, by=network.admin, **(values | given))


def ids(network: factories.Network, *hosts: str) -> list[int]:
    return [network.residents[host].member.pk for host in hosts]


def policy(network: factories.Network) -> Policy:
    """Return the policy as a transaction of its own reads it."""
    return next(iter(policy_snapshot.take_snapshot(network.group).policies.values()))


@pytest.fixture
def staff(network: factories.Network, client: Client) -> Client:
    client.force_login(network.admin)
    return client


# --- Services and constraints


def test_a_second_limit_of_a_member_is_refused_and_names_the_first(network: factories.Network) -> None:
    limit_resident(network)
    with pytest.raises(Problem, match=r"The rate of Resident of m1 has already been limited since .* \(other reason\)"):
        limit_resident(network)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"up_kbit": None, "down_kbit": None}, "Enter a download rate, an upload rate"),
        ({"up_kbit": 63}, "63 kbit/s is not between 64"),
        ({"down_kbit": 10_000_001}, "is not between"),
        ({"reason": "weather"}, "is not a valid reason"),
        ({"until": timezone.now() - timedelta(seconds=1)}, "is in the past"),
    ],
)
def test_what_is_no_limit_is_refused(network: factories.Network, given: dict[str, Any], words: str) -> None:
    with pytest.raises(Problem, match=words):
        limit_resident(network, **given)


@pytest.mark.parametrize("change", ["down_kbit = 63", "up_kbit = NULL, down_kbit = NULL", "reason = 'weather'", "valid = 'empty'"])
def test_the_database_itself_refuses_nonsense(network: factories.Network, change: str) -> None:
    limit_resident(network)
    with pytest.raises(IntegrityError, match="ratelimit_"), connection.cursor() as cursor:
        cursor.execute(f"UPDATE traffic_ratelimit SET {change}")


def test_the_heaviest_are_limited_and_said_again_it_is_the_same_with_a_later_end(network: factories.Network) -> None:
    kept = limit_resident(network, "m3")
    until = soon(2)
    first = services.limit_members(members=ids(network, "m1", "m2", "m3"), up_kbit=None, down_kbit=5000, until=soon())
    again = services.limit_members(members=ids(network, "m1", "m2"), up_kbit=None, down_kbit=4000, until=until)
    assert (first, again) == (services.LimitMembersOutcome(2, 0, 1), services.LimitMembersOutcome(0, 2, 0))
    found = RateLimit.objects.filter(reason="congestion")
    assert {(each.down_kbit, each.up_kbit, each.valid.upper, each.author) for each in found} == {(4000, None, until, None)}
    kept.refresh_from_db()
    assert (kept.down_kbit, kept.version) == (5000, 1)


def test_a_member_who_has_left_is_not_rate_limited(network: factories.Network) -> None:
    Member.objects.filter(pk__in=ids(network, "m1")).update(state="left")
    assert services.limit_members(members=ids(network, "m1"), up_kbit=100, down_kbit=100, until=soon()) == services.LimitMembersOutcome(
        0, 0, 0
    )


def test_released_twice_is_released_once_and_says_by_whom(network: factories.Network) -> None:
    made = limit_resident(network)
    assert services.release_rate_limits(limits=[made.pk], by=network.admin) == 1
    assert services.release_rate_limits(limits=[made.pk], by=None) == 0
    made.refresh_from_db()
    assert made.released_by == network.admin and selectors.find_current_limit(made.member) is None


def test_an_uplink_changed_by_two_is_a_conflict(network: factories.Network) -> None:
    given: dict[str, Any] = {"group": network.group, "up_kbit": 100_000, "down_kbit": None, "by": network.admin}
    saved = services.set_uplink(version=0, limits_rates=True, **given)
    with pytest.raises(Conflict):
        services.set_uplink(version=0, limits_rates=False, **given)
    assert services.switch_rate_limits(group=network.group, on=False, by=network.admin).version == saved.version + 1
    assert Uplink.objects.get().up_kbit == 100_000


# --- On the gateways


@pytest.mark.django_db(transaction=True)
def test_tariff_and_limit_reach_all_that_a_member_holds_in_octets_a_second(network: factories.Network) -> None:
    tariff = Tariff.objects.create(name="Trial", down_kbit=8000)
    Member.objects.filter(pk__in=ids(network, "m1")).update(tariff=tariff)
    until = soon()
    made = limit_resident(network, until=until)
    read = policy(network)
    assert (
        {str(each.prefix) for each in read.rate_limits}
        == {"10.16.0.10/32", "2001:db8:a0:10::/64"}
        == {str(each.prefix) for each in read.tariff_rates}
    )
    assert {(each.id, each.up, each.down, each.expires) for each in read.tariff_rates} == {(tariff.pk, 0, 1_000_000, 0)}
    [(pk, up, down, expires)] = {(each.id, each.up, each.down, each.expires) for each in read.rate_limits}
    assert (pk, up, down) == (made.pk, 125_000, 625_000) and 0 <= expires - until.timestamp() < 1
    services.switch_rate_limits(group=network.group, on=False, by=network.admin)
    assert policy(network).gateway.settings.rates_off


# --- Pages and API


def test_only_staff_sees_rates(network: factories.Network, client: Client) -> None:
    paths = ("/limited/", f"/limited/member/{ids(network, 'm1')[0]}/", f"/limited/uplink/{network.group.pk}/", "/tariffs/")
    assert [client.get(path).status_code for path in (*paths, "/api/traffic/ratelimits/")] == [302] * 4 + [401]
    client.force_login(factories.user("guest", staff=False))
    assert [client.get(path).status_code for path in (*paths, "/api/traffic/ratelimits/")] == [403] * 5


def test_limited_on_the_members_page_it_says_so_and_is_released_from_the_list(network: factories.Network, staff: Client) -> None:
    [pk] = ids(network, "m1")
    assert f"/limited/member/{pk}/" in text(staff.get(f"/members/{pk}/"))
    given = {"down_kbit": "2.5", "up_kbit": "", "reason": "congestion", "note": "", "term": "1h"}
    assert staff.post(f"/limited/member/{pk}/", given).headers["Location"] == "/limited/"
    made = RateLimit.objects.get()
    assert (made.down_kbit, made.up_kbit) == (2500, None) and made.valid.upper
    page = text(staff.get(f"/members/{pk}/"))
    assert "<b>Limited.</b> 2.5" in page and "the uplink is full" in page and f"/limited/{made.pk}/release/" in page
    assert "Resident of m1" in text(staff.get("/limited/")) and "1 member is limited now" in text(staff.get("/limited/"))
    assert "Release the limit of Resident of m1?" in text(staff.get(f"/limited/{made.pk}/release/"))
    after = text(staff.post(f"/limited/{made.pk}/release/", follow=True))
    assert "<b>Released.</b>" in after and "No rate limit in force" in after
    assert "Resident of m1" in text(staff.get("/limited/?state=over"))


def test_the_members_own_page_says_how_fast_until_when_and_why(network: factories.Network) -> None:
    member = network.residents["m1"].member
    account = factories.user("resident", staff=False)
    Member.objects.filter(pk=member.pk).update(user=account, tariff=Tariff.objects.create(name="Trial", down_kbit=4000))
    own = signed_in(account)
    assert "Your tariff allows 4" in text(own.get("/me/"))
    limit_resident(network, reason="quota", note="secret", until=soon())
    page = text(own.get("/me/"))
    assert "You are connected, with a rate limit" in page and "the quota is used up" in page and "secret" not in page
    services.switch_rate_limits(group=network.group, on=False, by=network.admin)
    assert "No limit, no block." in text(own.get("/me/"))


def test_a_form_without_a_rate_says_so_at_its_field(network: factories.Network, staff: Client) -> None:
    answer = staff.post(f"/limited/member/{ids(network, 'm1')[0]}/", {"reason": "other", "term": "1h"})
    assert answer.status_code == 422 and "Enter a download rate, an upload rate" in text(answer)
    assert not RateLimit.objects.exists()


def test_the_switch_says_what_it_does_and_is_seen_everywhere(network: factories.Network, staff: Client) -> None:
    made = limit_resident(network)
    path = f"/limited/uplink/{network.group.pk}/switch/"
    assert "Switch off rate limits in Lindenhof?" in text(staff.get(path))
    assert "Switched off in Lindenhof." in text(staff.post(path, follow=True))
    page = text(staff.get(f"/members/{made.member_id}/"))
    assert "Switched off" in page and "<b>Connected.</b>" in page
    assert "Switched off in" not in text(staff.post(path, {"on": "1"}, follow=True))


def test_the_uplinks_form_keeps_what_it_carries(network: factories.Network, staff: Client) -> None:
    path = f"/limited/uplink/{network.group.pk}/"
    given = {"version": 0, "down_kbit": "1000", "up_kbit": "", "limits_rates": "on", "framing": "raw"}
    assert staff.post(path, given).status_code == 302
    saved = Uplink.objects.get()
    assert (saved.down_kbit, saved.up_kbit, saved.limits_rates) == (1_000_000, None, True)
    assert 'value="1000"' in text(staff.get(path))
    assert staff.post(path, given | {"down_kbit": ""}).status_code == 422


def test_a_tariff_gets_a_rate_and_a_change_by_two_is_a_conflict(network: factories.Network, staff: Client) -> None:
    given = {"name": "Trial", "most_forwards": 2, "most_devices": 2, "down_kbit": "4", "up_kbit": "1", "trial": "on"}
    assert staff.post("/tariffs/add/", given).status_code == 302
    assert "already" in text(staff.post("/tariffs/add/", given))
    tariff = Tariff.objects.get(name="Trial")
    assert (tariff.down_kbit, tariff.up_kbit, tariff.trial) == (4000, 1000, True)
    changed = given | {"down_kbit": "0.128", "version": 1}
    assert staff.post(f"/tariffs/{tariff.pk}/", changed).status_code == 302
    assert "while you were editing" in text(staff.post(f"/tariffs/{tariff.pk}/", changed))
    tariff.refresh_from_db()
    assert tariff.down_kbit == 128
    here, gone = ids(network, "m1", "m2")
    Member.objects.filter(pk__in=[here, gone]).update(tariff=tariff)
    Member.objects.filter(pk=gone).update(state="left")
    assert "Saving changes the tariff of 1 member immediately" in text(staff.get(f"/tariffs/{tariff.pk}/")), (
        "whoever has left has no tariff to speak of"
    )
    page = text(staff.get("/tariffs/"))
    assert "no limit" in page and "128\u202fkbit/s down" in page.replace("\u00a0", "\u202f")


def test_what_a_script_does_not_name_of_a_tariff_stays(staff: Client) -> None:
    made = staff.post("/api/members/tariffs/", {"name": "Many", "most_devices": 40, "down_kbit": 4000}, content_type=JSON).json()
    path = f"/api/members/tariffs/{made['id']}/"
    changed = staff.patch(path, {"name": "Very many", "version": made["version"]}, content_type=JSON)
    assert changed.status_code == 200
    assert {**made, "name": "Very many", "version": 2} == changed.json()
    assert (made["most_devices"], made["most_forwards"], made["down_kbit"]) == (40, 8, 4000)


def test_scripts_limit_and_release(network: factories.Network, staff: Client) -> None:
    [pk] = ids(network, "m1")
    body = {"member": pk, "down_kbit": 5000, "reason": "congestion", "until": soon().isoformat()}
    made = staff.post("/api/traffic/ratelimits/", body, content_type=JSON)
    assert made.status_code == 201 and made.json()["up_kbit"] is None and made.json()["active"]
    refused = staff.post("/api/traffic/ratelimits/", body, content_type=JSON)
    assert refused.status_code in (400, 409) and "already been limited" in text(refused)
    assert staff.post("/api/traffic/ratelimits/", body | {"down_kbit": None}, content_type=JSON).status_code == 400
    assert [each["id"] for each in staff.get("/api/traffic/ratelimits/").json()["results"]] == [made.json()["id"]]
    assert staff.delete(f"/api/traffic/ratelimits/{made.json()['id']}/").status_code == 204
    assert staff.get("/api/traffic/ratelimits/").json()["results"] == []
    assert staff.get("/api/traffic/ratelimits/?all=1").json()["results"][0]["released_by"] == str(network.admin)


def test_the_list_needs_the_same_number_of_queries_for_one_and_for_many(network: factories.Network, staff: Client) -> None:
    limit_resident(network)
    few = queries(staff, "/limited/")
    for each in range(5):
        RateLimit.objects.create(member=factories.member(f"More {each}"), down_kbit=5000, reason="other", valid=(timezone.now(), None))
    assert queries(staff, "/limited/") == few

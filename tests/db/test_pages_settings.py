"""Pages and API of a group's settings that apply to all members: protection and limits."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.deployments.desired_state import policy_snapshot
from apps.gateways import set_gauges
from apps.gateways.group_settings import change_limits
from apps.lib.errors import Problem
from apps.network.models import GatewayGroup, Gauge, Limits, Protection
from firewall.policy import GatewaySpec
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import queries, signed_in, text
from tests.db.rollout_rows import roll_out

pytestmark = pytest.mark.django_db(transaction=True)

PROTECTION = {"version": 0, "bogons": "on", "own": "203.0.113.0/24\n2001:db8::/32", "bgp_peers": "192.0.2.1"} | {
    "ospf_peers": "",
    "ftp_ports": "21, 2121",
    "sip_ports": "",
}
LIMITS = {"version": 0, "member_rate": 50, "member_burst": 200, "member_open": 0, "source_rate": 0, "source_burst": 100} | {
    "source_open": 0,
    "open_sampled": "False",
    "mail_rate": 10,
    "refuses": "on",
    "exempt": "10.16.0.99",
}


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def api(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def path(network: factories.Network, what: str) -> str:
    return f"/gateways/groups/{network.group.pk}/{what}/"


def compile_gateway(network: factories.Network) -> GatewaySpec:
    return policy_snapshot.take_snapshot(network.group).policies[network.gateways[0].pk].gateway


def test_protection_is_saved_reaches_the_policy_and_says_since_when(staff: Client, network: factories.Network) -> None:
    assert "all of this is off" in text(staff.get(path(network, "protection")))
    page = text(staff.post(path(network, "protection"), PROTECTION | {"clamp_mss": "on"}, follow=True))
    assert "Saved." in page and "not yet as shown" in page and "Mara Lindqvist" in page
    settings = compile_gateway(network).settings
    assert settings.clamp_mss and settings.protection.bogons
    assert list(map(str, settings.protection.own)) == ["203.0.113.0/24", "2001:db8::/32"]
    assert [(str(peer.address), peer.routing) for peer in settings.protection.peers] == [("192.0.2.1", "bgp")]
    assert (settings.protection.ftp_ports, settings.protection.sip_ports) == ((21, 2121), ())
    roll_out(network)
    page = text(staff.get(path(network, "protection")))
    assert page.count("as shown, since") == 2 and "not yet" not in page


def test_limits_are_saved_and_reach_the_policy(staff: Client, network: factories.Network) -> None:
    assert "Saved." in text(staff.post(path(network, "limits"), LIMITS, follow=True))
    limits = compile_gateway(network).settings.limits
    assert (limits.member_rate, limits.member_burst, limits.mail_rate, limits.refuses) == (50, 200, 10, True)
    assert list(map(str, limits.exempt)) == ["10.16.0.99/32"]


@pytest.mark.parametrize(
    ("what", "given", "name"),
    [
        ("protection", PROTECTION | {"own": "203.0.113.1/24"}, "own"),
        ("protection", PROTECTION | {"bgp_peers": "router"}, "bgp_peers"),
        ("protection", PROTECTION | {"ftp_ports": "21, ftp"}, "ftp_ports"),
        ("protection", PROTECTION | {"sip_ports": "0"}, "sip_ports"),
        ("limits", LIMITS | {"member_rate": 100_001}, "member_rate"),
        ("limits", LIMITS | {"member_rate": 1, "member_burst": 301}, "member_burst"),
        ("limits", LIMITS | {"exempt": "all"}, "exempt"),
    ],
)
def test_an_invalid_setting_is_reported_at_its_field(
    staff: Client, network: factories.Network, what: str, given: dict[str, Any], name: str
) -> None:
    response = staff.post(path(network, what), given)
    assert response.status_code == 422 and f'id="id_{name}_error"' in text(response)
    assert not Protection.objects.exists() and not Limits.objects.exists()


@pytest.mark.parametrize(
    ("given", "fieldname", "said"),
    [
        ({"member_rate": 100_001}, "member_rate", "Choose at most 100,000"),
        ({"source_open": 1_000_001}, "source_open", "Choose at most 1,000,000"),
        ({"member_rate": 1, "member_burst": 301}, "member_burst", "A burst must not exceed"),
    ],
)
def test_a_limit_out_of_range_is_told_its_own_range(network: factories.Network, given: dict[str, int], fieldname: str, said: str) -> None:
    with pytest.raises(Problem, match=said) as refused:
        change_limits(group=network.group, version=0, open_sampled=False, exempt=[], by=network.admin, **given)
    assert refused.value.fieldname == fieldname


def test_the_target_of_probes_is_not_refused_by_mistake(staff: Client, network: factories.Network) -> None:
    factories.probes(network)
    page = text(staff.post(path(network, "protection"), PROTECTION | {"own": ""}))
    assert "203.0.113.10, the probe target of this group, cannot be on the internet" in page
    assert "Saved." in text(staff.post(path(network, "protection"), PROTECTION, follow=True))


@pytest.mark.parametrize(
    ("what", "given", "other"), [("protection", PROTECTION, {"own": "192.0.2.0/24"}), ("limits", LIMITS, {"mail_rate": 7})]
)
def test_a_second_save_shows_what_the_first_has_saved(
    staff: Client, network: factories.Network, what: str, given: dict[str, Any], other: dict[str, Any]
) -> None:
    staff.post(path(network, what), given)
    page = text(staff.post(path(network, what), given | other))
    assert "Mara Lindqvist changed these settings at" in page and "Save mine" in page and "Saved meanwhile" in page
    assert "Saved." in text(staff.post(path(network, what), given | other | {"version": 1}, follow=True))


@pytest.mark.parametrize("what", ["protection", "limits"])
def test_only_staff_changes_them(network: factories.Network, what: str) -> None:
    guest = signed_in(factories.user("guest", staff=False))
    assert guest.post(path(network, what), LIMITS | PROTECTION).status_code == 403


def test_a_script_reads_and_changes_them(api: Client, network: factories.Network) -> None:
    where = f"/api/gateways/limits/{network.group.pk}/"
    assert api.get(where).json()["version"] == 0
    given = {"version": 0, "member_rate": 20, "exempt": ["10.16.0.0/24"]}
    answer = api.patch(where, given, content_type="application/json")
    assert answer.status_code == 200, answer.json()
    assert answer.json()["member_rate"] == 20 and answer.json()["exempt"] == ["10.16.0.0/24"] and answer.json()["version"] == 1
    assert api.patch(where, given, content_type="application/json").status_code == 409
    bad = api.patch(where, {"version": 1, "exempt": ["x"]}, content_type="application/json")
    assert bad.status_code == 400 and "exempt" in " ".join(wrong(bad))
    where = f"/api/gateways/protection/{network.group.pk}/"
    answer = api.patch(where, {"version": 0, "clamp_mss": True, "bgp_peers": ["192.0.2.1"]}, content_type="application/json")
    assert answer.json()["clamp_mss"] is True and answer.json()["bgp_peers"] == ["192.0.2.1"]
    assert GatewayGroup.objects.get(pk=network.group.pk).clamp_mss and compile_gateway(network).settings.clamp_mss


def test_a_full_table_is_warned_of(staff: Client, network: factories.Network) -> None:
    page = f"/gateways/{network.gateways[0].pk}/"
    assert "counting tables" not in text(staff.get(page))
    few = queries(staff, page)
    sets = {"member_rate4_50_100": (12, 65536), "source_rate4_20_40": (60_000, 65536), "by hand": (1, 1)}
    set_gauges.store_set_gauges(gateway=network.gateways[0], sets=sets, at=timezone.now())
    shown = text(staff.get(page))
    assert "External addresses with new connections, IPv4" in shown and "91 %, nearly full" in shown
    assert "Members with new connections, IPv4" in shown and queries(staff, page) == few
    set_gauges.store_set_gauges(gateway=network.gateways[0], sets={}, at=timezone.now())
    assert not Gauge.objects.exists()

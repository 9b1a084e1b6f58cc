"""Pages of a group's rollout settings, and of drift on a gateway."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.deployments.models import GatewayState, Rollout
from apps.network.models import GatewayGroup
from tests import factories
from tests.db.page_client import queries, signed_in, text
from tests.db.rollout_rows import roll_out

pytestmark = pytest.mark.django_db(transaction=True)

DRIFT = {
    "rules": ["chain input", "set forward4", "counter leaked"],
    "elements": {
        "forward4": {"missing": ["198.51.100.7 . tcp . 7001 : 10.16.0.10 . 443"], "foreign": [], "missing_count": 1, "foreign_count": 0},
        "bans4_32": {"missing": [], "foreign": ["203.0.113.9", "203.0.113.10"], "missing_count": 0, "foreign_count": 212},
    },
}


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def changed_gateway_url(network: factories.Network) -> str:
    """The path of the page of nat-1, whose ruleset was changed by hand."""
    roll_out(network)
    GatewayState.objects.filter(gateway=network.gateways[0]).update(drift=DRIFT, drift_since=timezone.now(), seen=timezone.now())
    GatewayState.objects.exclude(gateway=network.gateways[0]).update(seen=timezone.now())
    return f"/gateways/{network.gateways[0].pk}/"


def build_form(group: GatewayGroup, **changes: object) -> dict[str, Any]:
    values = {
        "version": group.version,
        "name": group.name,
        "goes_on": "on",
        "heals_drift": "on",
        "confirm_within": 30,
        "removal_share": 20,
        "removal_least": 10,
    }
    return values | changes


def test_drift_says_what_where_and_since_when(staff: Client, changed_gateway_url: str) -> None:
    page = text(staff.get(changed_gateway_url))
    assert (
        "nat-1 was changed by hand, first seen at" in page
        and "1 chain differs from the committed one (input); 1 set differs from the committed one (forward4)" in page
    )
    assert "1 element is missing; 212 elements should not be there" in page
    assert "set bans4_32" in page and "212 too many, first 2 shown" in page and "203.0.113.10" in page
    assert "The next check puts it right automatically." in page


def test_a_table_that_was_deleted_is_told_in_a_sentence(staff: Client, changed_gateway_url: str, network: factories.Network) -> None:
    GatewayState.objects.filter(gateway=network.gateways[0]).update(drift={**DRIFT, "cause": "gone"})
    page = text(staff.get(changed_gateway_url))
    assert "On nat-1 the whole table was deleted, first seen at" in page and "Nothing is translated, banned or refused there." in page
    assert "was changed by hand" not in page
    assert "Table deleted" in text(staff.get("/"))


def test_drift_that_is_not_healed_waits_for_somebody(
    staff: Client, changed_gateway_url: str, network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    GatewayGroup.objects.update(heals_drift=False)
    for path in (changed_gateway_url, "/", "/gateways/"):
        page = text(staff.get(path))
        assert "nat-1 was changed by hand" in page and "It stays like this until an administrator puts it right" in page, path
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr("apps.lib.enqueue.send_task", lambda *sent: asked.append(sent))
    assert "nat-1 gets its ruleset again" in text(staff.post(f"{changed_gateway_url}put-right/", follow=True))
    assert asked == [("workers.reconcile", network.admin.pk, True)]
    assert staff.get(f"{changed_gateway_url}put-right/").status_code == 405


def test_while_a_rollout_is_paused_nobody_promises_that_drift_is_put_right(staff: Client, changed_gateway_url: str) -> None:
    Rollout.objects.update(state=Rollout.State.PAUSED)
    page = text(staff.get(changed_gateway_url))
    assert "It stays like this until the paused rollout of r" in page and "puts it right automatically" not in page


def test_a_gateway_that_is_as_it_should_be_says_nothing_of_drift(staff: Client, network: factories.Network) -> None:
    roll_out(network)
    GatewayState.objects.update(seen=timezone.now())
    assert "by hand" not in text(staff.get(f"/gateways/{network.gateways[0].pk}/"))
    assert "nothing was changed by hand" in text(staff.get("/"))


def test_the_settings_of_a_group_are_saved_with_their_history(staff: Client, network: factories.Network) -> None:
    path = f"/gateways/groups/{network.group.pk}/"
    assert "Lindenhof</h1>" in text(staff.get(path))
    page = text(staff.post(path, build_form(network.group, goes_on="", confirm_within=60, removal_share=5), follow=True))
    network.group.refresh_from_db()
    assert (network.group.goes_on, network.group.heals_drift) == (False, True)
    assert (network.group.confirm_within, network.group.removal_share) == (60, 5)
    assert "Saved." in page and "Gateway group changed" in page and "Mara Lindqvist" in page


@pytest.mark.parametrize(("name", "value"), [("confirm_within", 4), ("confirm_within", 601), ("removal_share", 101), ("removal_least", 0)])
def test_an_invalid_group_setting_is_reported_at_its_field(staff: Client, network: factories.Network, name: str, value: int) -> None:
    response = staff.post(f"/gateways/groups/{network.group.pk}/", build_form(network.group, **{name: value}))
    assert response.status_code == 422 and f'id="id_{name}_error"' in text(response)


def test_a_second_save_shows_what_the_first_has_saved(staff: Client, network: factories.Network) -> None:
    path = f"/gateways/groups/{network.group.pk}/"
    staff.post(path, build_form(network.group, confirm_within=60))
    page = text(staff.post(path, build_form(network.group, confirm_within=90)))
    assert "Mara Lindqvist changed these settings at" in page and "<code>60</code>" in page and 'value="90"' in page and "Save mine" in page
    staff.post(path, build_form(network.group, confirm_within=90, version=network.group.version + 1))
    network.group.refresh_from_db()
    assert network.group.confirm_within == 90


def test_only_staff_changes_settings(network: factories.Network) -> None:
    guest = signed_in(factories.user("guest", staff=False))
    assert guest.post(f"/gateways/groups/{network.group.pk}/", build_form(network.group)).status_code == 403
    assert guest.post(f"/gateways/{network.gateways[0].pk}/put-right/").status_code == 403


def test_queries_do_not_grow_with_drift(staff: Client, changed_gateway_url: str) -> None:
    once = queries(staff, "/gateways/")
    GatewayState.objects.update(drift=DRIFT, drift_since=timezone.now())
    assert queries(staff, "/gateways/") == once

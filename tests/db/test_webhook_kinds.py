"""Kinds of a webhook that its owner may not see any more, or that an upgrade removed: they stay chosen, and are not sent."""

import pytest

from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.webhooks import delivery_gathering, services
from apps.webhooks.models import Delivery, Endpoint, Position
from apps.webhooks.services import EndpointFacts
from tests import factories
from tests.db.page_client import signed_in, text

URL = "https://hooks.example.org/"


@pytest.fixture
def stale(network: factories.Network) -> Endpoint:
    """A webhook for gateways and a kind that no longer exists. Its owner is now at the help desk, and may not see gateways."""
    facts = EndpointFacts(name="Door", url=URL, kinds=["gateway"])
    made = services.add_webhook(facts=facts, by=factories.user("tom"))[0]
    User.objects.filter(username="tom").update(roles=["helpdesk"])
    Endpoint.objects.filter(pk=made.pk).update(kinds=["gateway", "modem"])
    return Endpoint.objects.select_related("owner").get(pk=made.pk)


def list_checked_kinds(page: str) -> list[str]:
    boxes = [part for part in page.split("<input")[1:] if 'name="kinds"' in part and " checked>" in part]
    return [part.partition('value="')[2].partition('"')[0] for part in boxes]


def test_a_form_keeps_chosen_kinds_that_the_owner_may_not_see_and_marks_them(network: factories.Network, stale: Endpoint) -> None:
    client, path = signed_in(network.admin), f"/webhooks/{stale.pk}/edit/"
    shown = text(client.get(path))
    assert list_checked_kinds(shown) == ["gateway", "modem"]
    assert "<legend>Not sent: the owner may not see these, or they no longer exist</legend>" in shown
    given = {"name": "Gate", "url": URL, "active": "on", "version": "1", "kinds": list_checked_kinds(shown)}
    assert client.post(path, given).status_code == 302
    stale.refresh_from_db()
    assert (stale.name, stale.kinds) == ("Gate", ["gateway", "modem"])
    member = network.residents["m1"].member
    type(member).objects.filter(pk=member.pk).update(note="rang")
    assert not delivery_gathering.gather_deliveries() and not Delivery.objects.exists()


def test_a_script_pauses_a_webhook_whose_owner_may_not_see_its_kinds(network: factories.Network, stale: Endpoint) -> None:
    client, path = signed_in(network.admin), f"/api/webhooks/webhooks/{stale.pk}/"
    assert client.patch(path, {"active": False}, content_type="application/json").status_code == 200
    stale.refresh_from_db()
    assert (stale.active, stale.kinds) == (False, ["gateway", "modem"])


def test_what_the_owner_may_not_see_is_not_chosen_anew(network: factories.Network, stale: Endpoint) -> None:
    with pytest.raises(Problem, match="“pool”"):
        facts = EndpointFacts(name="Door", url=URL, kinds=["gateway", "pool"])
        services.change_webhook(endpoint=stale, version=1, facts=facts, by=network.admin)
    kept = services.change_webhook(endpoint=stale, version=1, facts=EndpointFacts(name="Door", url=URL, kinds=["member"]), by=network.admin)
    with pytest.raises(Problem, match="“gateway”"):
        facts = EndpointFacts(name="Door", url=URL, kinds=["gateway", "member"])
        services.change_webhook(endpoint=kept, version=2, facts=facts, by=network.admin)


def test_a_table_that_an_upgrade_adds_is_read_though_the_same_upgrade_removed_another(network: factories.Network) -> None:
    services.add_webhook(facts=EndpointFacts(name="Door", url=URL), by=network.admin)
    Position.objects.filter(table="members_deviceevent").update(table="members_modemevent")
    assert not delivery_gathering.gather_deliveries()
    assert Position.objects.filter(table="members_deviceevent").exists()

"""Decisions about rollouts through the REST API: approvals, rollbacks, holds, pauses."""

import pytest
from django.test import Client

from apps.deployments.models import HeldBack, Hold, Rollout
from apps.deployments.services import reconcile
from apps.nat.models import PortForward
from tests import factories
from tests.db.page_client import signed_in
from tests.db.rollout_rows import forward, open_rollout

pytestmark = pytest.mark.django_db(transaction=True)
JSON = "application/json"


@pytest.fixture
def held_removal(served_network: factories.Network) -> HeldBack:
    """The held back removal of five of six forwards."""
    served_network.group.removal_least = 3
    served_network.group.save()
    for port in range(7001, 7007):
        forward(served_network, port)
    assert reconcile(served_network.group)
    with factories.written_by(served_network.admin):
        PortForward.objects.filter(public_port__in=range(7001, 7006)).delete()
    reconcile(served_network.group, by=served_network.admin.pk)
    return HeldBack.objects.get()


def test_a_second_person_approves_by_digest(held_removal: HeldBack) -> None:
    api = signed_in(factories.user("jonas"))
    (row,) = api.get("/api/deployments/approvals/?state=waiting").json()["results"]
    assert (row["kind"], row["removed"], row["of"], row["digest"], row["asked_by"]) == ("forwards", 5, 6, held_removal.digest, ["mara"])
    assert api.post(f"/api/deployments/approvals/{held_removal.pk}/approve/", {"digest": "0" * 64}, JSON).status_code == 409
    assert api.post(f"/api/deployments/approvals/{held_removal.pk}/approve/", {}, JSON).status_code == 400
    approved = api.post(f"/api/deployments/approvals/{held_removal.pk}/approve/", {"digest": held_removal.digest}, JSON)
    assert approved.status_code == 200 and approved.json()["state"] == "approved" and approved.json()["decided_by"] == "jonas"


def test_ones_own_is_not_approved_by_a_script(held_removal: HeldBack, served_network: factories.Network) -> None:
    refused = signed_in(served_network.admin).post(
        f"/api/deployments/approvals/{held_removal.pk}/approve/", {"digest": held_removal.digest}, JSON
    )
    assert refused.status_code == 400 and "Sign in again" in refused.json()["detail"]


def test_a_group_is_rolled_back_and_released(held_removal: HeldBack, served_network: factories.Network) -> None:
    api: Client = signed_in(served_network.admin)
    revision = api.get("/api/deployments/revisions/").json()["results"][0]
    assert revision["kept"] and revision["group"] == "Lindenhof"
    assert api.post(f"/api/deployments/revisions/{revision['id']}/rollback/", {"why": ""}, JSON).status_code == 400
    hold = api.post(f"/api/deployments/revisions/{revision['id']}/rollback/", {"why": "mail is gone"}, JSON)
    assert hold.status_code == 201 and hold.json()["revision"] == revision["id"]
    assert api.get("/api/deployments/holds/").json()["results"] == [hold.json()]
    assert api.post(f"/api/deployments/holds/{hold.json()['id']}/release/").status_code == 204
    assert not Hold.objects.filter(released=None).exists()


def test_a_rollout_is_paused_resumed_and_stopped(network: factories.Network) -> None:
    api, rollout = signed_in(network.admin), open_rollout(network).rollout
    for verb, wish in (("pause", "pause"), ("resume", ""), ("abort", "abort")):
        answer = api.post(f"/api/deployments/rollouts/{rollout.pk}/{verb}/")
        assert answer.status_code == 200 and answer.json()["wish"] == wish
    Rollout.objects.update(state=Rollout.State.ABORTED)
    assert api.post(f"/api/deployments/rollouts/{rollout.pk}/pause/").status_code == 409


def test_only_staff_decides(held_removal: HeldBack) -> None:
    guest = signed_in(factories.user("guest", staff=False))
    assert {guest.get(f"/api/{name}/").status_code for name in ("deployments/approvals", "deployments/holds", "deployments/revisions")} == {
        403
    }
    assert guest.post(f"/api/deployments/approvals/{held_removal.pk}/approve/", {"digest": held_removal.digest}, JSON).status_code == 403

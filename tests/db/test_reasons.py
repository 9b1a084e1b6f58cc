"""Reasons why a change is not on the gateways yet, on the page of the object and in the API. The gateways are real agents, in memory."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.bans.blocks.services import block_member
from apps.deployments.models import GatewayState, HeldBack, Revision, Rollout
from apps.deployments.rollouts.decisions import approve_part
from apps.deployments.rollouts.rollback import roll_back
from apps.deployments.services import reconcile
from apps.lib.activation import WaitReason, list_activations, list_wait_reasons
from apps.lib.models import Deployed
from apps.nat.models import PortForward
from apps.nat.services import remove_forward
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.rollout_rows import forward, open_rollout, roll_out

pytestmark = pytest.mark.django_db(transaction=True)


def why(row: Deployed) -> list[WaitReason]:
    """Return the reasons that the page gives for the row as it is now."""
    row.refresh_from_db()
    ((_row, known),) = list_activations([row])
    return list_wait_reasons(known)


def test_what_every_gateway_has_waits_for_nothing(served_network: factories.Network) -> None:
    made = forward(served_network, 7001)
    reconcile(served_network.group)
    assert why(made) == []


def test_a_removal_that_is_held_back_is_not_said_to_be_done(served_network: factories.Network) -> None:
    served_network.group.removal_least = 3
    served_network.group.save()
    made = [forward(served_network, port) for port in range(7001, 7007)]
    reconcile(served_network.group)
    with factories.written_by(served_network.admin):
        for each in made[:5]:
            remove_forward(forward=each, by=served_network.admin)
    reconcile(served_network.group, by=served_network.admin.pk)
    held = HeldBack.objects.get()
    assert why(made[0]) == [WaitReason("waits for a second person’s approval", f"/rollouts/waiting/{held.pk}/", person=True)]
    member = served_network.residents["m1"].member
    page = text(signed_in(served_network.admin).get(f"/members/{member.pk}/?removed={made[0].pk}"))
    assert "is being closed on nat-1, nat-2" in page and "waits for a second person’s approval" in page and "every 5s" in page
    approve_part(held, digest=held.digest, by=factories.user("jonas"), signed_in_again=False)
    reconcile(served_network.group)
    assert why(made[0]) == []


def test_a_block_that_is_held_back_is_not_said_to_hold(served_network: factories.Network) -> None:
    served_network.group.removal_least = 3
    served_network.group.save()
    reconcile(served_network.group)
    with factories.written_by(served_network.admin):
        made = [
            block_member(member=each.member, reason="other", by=served_network.admin)
            for each in list(served_network.residents.values())[:3]
        ]
    reconcile(served_network.group)
    held = HeldBack.objects.get()
    assert why(made[0]) == [WaitReason("waits for a second person’s approval", f"/rollouts/waiting/{held.pk}/", person=True)]
    approve_part(held, digest=held.digest, by=factories.user("jonas"), signed_in_again=False)
    reconcile(served_network.group)
    assert why(made[0]) == []


def test_a_change_says_which_hold_it_waits_for(served_network: factories.Network) -> None:
    reconcile(served_network.group)
    held = Revision.objects.latest("pk")
    roll_back(held, why="mail is gone", by=served_network.admin)
    made = forward(served_network, 7001)
    reconcile(served_network.group)
    assert why(made) == [
        WaitReason(f"waits until the hold at {held} is released", f"/rollouts/groups/{served_network.group.pk}/release/", person=True)
    ]


def test_a_change_says_which_gateway_is_silent_and_since_when(network: factories.Network) -> None:
    roll_out(network)
    GatewayState.objects.filter(gateway=network.gateways[0]).update(unreachable_since=timezone.now())
    (silent,) = why(forward(network, 7001))
    assert (
        silent.words.startswith("waits for nat-1, which has not answered since ") and silent.url == f"/gateways/{network.gateways[0].pk}/"
    )


def test_a_change_says_which_rollout_is_at_it(network: factories.Network) -> None:
    roll_out(network)
    made = forward(network, 7001)
    lease = open_rollout(network)
    assert [each.words for each in why(made)] == [f"waits for the rollout of {lease.rollout}, which is under way"]
    Rollout.objects.filter(pk=lease.rollout.pk).update(state=Rollout.State.PAUSED)
    assert [each.words for each in why(made)] == [f"waits until the rollout of {lease.rollout} goes on: it is paused"]


def test_a_refused_change_leads_to_the_rollout(network: factories.Network) -> None:
    roll_out(network)
    made = forward(network, 7001)
    failed = roll_out(network, error="digest differs")
    assert why(made) == [WaitReason(f"not on nat-1: the rollout of {failed} failed", f"/rollouts/{failed.pk}/", person=True)]


def test_reasons_take_the_same_queries_for_few_rows_and_many(network: factories.Network) -> None:
    roll_out(network)
    made = [forward(network, port) for port in range(7001, 7011)]
    for each in made:
        each.refresh_from_db()

    def asked(some: list[PortForward]) -> int:
        with CaptureQueriesContext(connection) as queries:
            list_activations(some)
        return len(queries)

    assert asked(made[:1]) == asked(made) == 2

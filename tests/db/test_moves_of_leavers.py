"""Planned moves of members whose membership ends: pages say before what becomes of them, and the worker carries none of them out."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.desk.lifecycle import due
from apps.desk.lifecycle.schedule import list_scheduled
from apps.lib.ui.formats import format_day
from apps.members.departures import plan_departure
from apps.members.models import Member
from apps.nat.models import Move
from apps.nat.moving import services as moving
from apps.network.models import Holding
from tests import factories
from tests.db.locks import run_after_waiting
from tests.db.page_client import signed_in, text


def plan_move(network: factories.Network, *, days: int) -> Move:
    """Plan that a member gets an address of another pool so many days from now."""
    pool, on = factories.pool(network.group, "private4", "10.40.0.0/24"), timezone.localdate() + timedelta(days=days)
    member = Member.objects.get(pk=network.residents["m1"].member.pk)
    return moving.plan_member_move(member=member, on=on, room=None, pool=pool, follow=True, by=network.admin)


def end_membership_elsewhere(member: Member) -> None:
    """End the membership without what the service does beside that."""
    Member.objects.filter(pk=member.pk).update(state=Member.State.LEFT)


def test_a_due_move_of_a_member_who_has_left_is_dropped_with_the_reason(network: factories.Network) -> None:
    planned = plan_move(network, days=1)
    end_membership_elsewhere(planned.member)
    due.carry_out_due_changes(timezone.localtime() + timedelta(days=1))
    planned.refresh_from_db()
    assert (planned.state, planned.problem) == ("dropped", "The membership has ended.")
    assert not Holding.objects.filter(pool=planned.pool_id).exists()


def test_the_end_of_a_membership_says_before_that_a_planned_move_is_cancelled(network: factories.Network) -> None:
    mara, path = signed_in(network.admin), f"/members/{network.residents['m1'].member.pk}/leave/"
    assert "The move planned for" not in text(mara.get(path))
    planned = plan_move(network, days=3)
    assert f"The move planned for {format_day(planned.on)} is cancelled" in text(mara.get(path))


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (2, ["is released and replaced", "The membership ends", "Free for others"]),
        (3, ["The membership ends", "This move will be cancelled", "Free for others"]),
        (4, ["The membership ends", "This move will be cancelled", "Free for others"]),
    ],
)
def test_a_move_that_comes_after_a_planned_departure_is_shown_as_one_that_will_not_be(
    network: factories.Network, days: int, words: list[str]
) -> None:
    planned = plan_move(network, days=days)
    plan_departure(member=planned.member, on=timezone.localdate() + timedelta(days=3), by=network.admin)
    coming = list_scheduled(planned.member)
    assert [word in each.what for word, each in zip(words, coming, strict=False)] == [True] * 3
    assert [each.move for each in coming if each.move] == [planned], "it can be cancelled by hand, too"


@pytest.mark.django_db(transaction=True)
def test_a_membership_may_end_while_a_move_of_the_member_is_carried_out(transactional_db: None) -> None:
    planned = plan_move(factories.network(), days=1)
    member = planned.member
    done = run_after_waiting(
        lambda: moving.carry_out_move(planned),
        lambda: end_membership_elsewhere(member),
        meanwhile=lambda: moving.drop_planned_moves(member),
    )
    planned.refresh_from_db()
    assert (done, planned.state) == (False, "dropped")

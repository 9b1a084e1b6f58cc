"""A row that is locked after a wait is read with its current values, and with the rows that it points to now."""

import pytest

from apps.members.models import Member, Tariff
from apps.members.tariff_allowance import check_tariff_allowance
from apps.tickets.models import Ticket
from apps.tickets.thread import lock_ticket
from tests import factories
from tests.db.locks import run_after_waiting

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_ticket_has_the_assignee_whom_somebody_else_just_chose() -> None:
    first, second, ticket = factories.user("mara"), factories.user("jakob"), Ticket.objects.create(subject="Switch")
    Ticket.objects.filter(pk=ticket.pk).update(assignee=first)
    read = run_after_waiting(lambda: lock_ticket(ticket.pk), lambda: Ticket.objects.filter(pk=ticket.pk).update(assignee=second))
    assert read.assignee == second


def test_how_much_a_member_may_have_is_read_off_the_tariff_of_now() -> None:
    member, larger = factories.network().residents["m1"].member, Tariff.objects.create(name="Larger", most_forwards=31)
    found: list[int] = []

    def most(tariff: Tariff) -> int:
        found.append(tariff.most_forwards)
        return found[-1]

    def count() -> None:
        check_tariff_allowance(
            Member.objects.none(),
            member=member,
            most=most,
            states=(Member.State.ACTIVE,),
            ended="",
            full=str,
        )

    run_after_waiting(count, lambda: Member.objects.filter(pk=member.pk).update(tariff=larger))
    assert found == [31]

"""Check of a tariff's limit on what members may add themselves. Concurrent requests are counted one after the other."""

from collections.abc import Callable, Collection
from typing import Any

from django.db.models import QuerySet

from apps.lib.errors import Problem
from apps.members.models import Member, Tariff


def check_tariff_allowance(
    rows: QuerySet[Any], *, member: Member, most: Callable[[Tariff], int], states: Collection[str], ended: str, full: Callable[[int], str]
) -> None:
    """Raise Problem unless the member may have one more of these rows. Locks the member until the end of the transaction.

    ended: the error for a member in none of the `states`. full: returns the error text for the limit that `most` reads from the
    tariff; it contains the limit as %(most)d.
    """
    # The tariff is read separately. In a join, PostgreSQL finds no row if the tariff was changed while this waited for the lock.
    locked = Member.objects.select_for_update(no_key=True).get(pk=member.pk)
    if locked.state not in states:
        raise Problem(ended)
    number = most(locked.tariff)
    if rows.count() >= number:
        raise Problem(full(number) % {"most": number})

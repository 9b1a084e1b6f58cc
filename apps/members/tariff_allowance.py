"""How many of a thing members may add themselves: their tariff says, and two requests at once are counted one after the other."""

from collections.abc import Callable, Collection
from typing import Any

from django.db.models import QuerySet

from apps.lib.errors import Problem
from apps.members.models import Member, Tariff


def check_room(
    rows: QuerySet[Any], *, member: Member, most: Callable[[Tariff], int], states: Collection[str], ended: str, full: Callable[[int], str]
) -> None:
    """Is there room for one more of these rows, until the end of the transaction? Raises Problem with a sentence of the caller's.

    ended: for a member in none of the `states`. full: for the number that `most` reads off the tariff, whose place in it is %(most)d.
    """
    # The tariff apart: joined, PostgreSQL finds no row where somebody changed it while this waited for the lock.
    locked = Member.objects.select_for_update(no_key=True).get(pk=member.pk)
    if locked.state not in states:
        raise Problem(ended)
    number = most(locked.tariff)
    if rows.count() >= number:
        raise Problem(full(number) % {"most": number})

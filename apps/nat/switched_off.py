"""Finds out who switched off a forward or pinhole: what administrators switched off, the member cannot switch on again."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.nat.models import PortForward
from apps.nat.pinholes.models import Pinhole


def check_may_switch_on(row: PortForward | Pinhole, person: User) -> None:
    """Raise Problem if a user other than this person switched the row off last."""
    if list_switched_off_by_others([row], person):
        raise Problem(_("The administrators switched this off. Ask them to switch it on again."))


def check_may_reopen(first: int, ports: int, former: Iterable[PortForward | Pinhole], person: User) -> None:
    """Raise Problem for ports that a user other than this person switched off last, even if that row has ended since.

    former: all rows that the member ever had at the same address and protocol. Of rows over the same ports only the newest counts: the
    member could not have opened it after a switch-off, so the administrators did.
    """
    wanted, newer, last = range(first, first + ports), list[range](), list[PortForward | Pinhole]()
    for row in sorted(former, key=lambda each: each.pk, reverse=True):
        its = range(row.last_port - row.ports + 1, row.last_port + 1)
        if _is_overlapping(its, wanted) and not any(_is_overlapping(its, each) for each in newer):
            last.append(row)
        newer.append(its)
    if list_switched_off_by_others(last, person):
        raise Problem(_("The administrators switched this off. Ask them to switch it on again."))


def _is_overlapping(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop


def list_switched_off_by_others(rows: Iterable[PortForward | Pinhole], person: User) -> set[int]:
    """Return the ids of the rows that are off and that another user, or an unknown one, switched off last. At most one query."""
    off = [row for row in rows if not row.enabled]
    if not off:
        return set()
    events: Any = off[0].events.model  # type: ignore[union-attr]  # added by the history tracker
    asked = events._default_manager.filter(pgh_obj_id__in=[row.pk for row in off]).order_by("pgh_id")
    was_on: dict[int, bool] = {}
    by: dict[int, object] = {}
    for pk, enabled, user in asked.values_list("pgh_obj_id", "enabled", "pgh_context__metadata__user"):
        if was_on.get(pk, True) and not enabled:
            by[pk] = user
        was_on[pk] = enabled
    return {row.pk for row in off if by.get(row.pk) != person.pk}

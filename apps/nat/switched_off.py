"""Who switched off what a member has opened: what the administrators switched off, the member does not switch on again."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.nat.models import PortForward
from apps.nat.pinholes.models import Pinhole


def check_may_switch_on(row: PortForward | Pinhole, person: User) -> None:
    """Raises Problem for what somebody else than this person switched off last."""
    if list_switched_off([row], person):
        raise Problem(_("The administrators switched this off. Ask them to switch it on again."))


def check_may_open(first: int, ports: int, former: Iterable[PortForward | Pinhole], person: User) -> None:
    """Raises Problem for ports that somebody else than this person switched off last, also when that row has ended since.

    former: what the member ever had at the same address and protocol. A newer row over the same ports counts alone: members do not get
    there, so the administrators opened it.
    """
    wanted, newer, last = range(first, first + ports), list[range](), list[PortForward | Pinhole]()
    for row in sorted(former, key=lambda each: each.pk, reverse=True):
        its = range(row.last_port - row.ports + 1, row.last_port + 1)
        if _is_overlapping(its, wanted) and not any(_is_overlapping(its, each) for each in newer):
            last.append(row)
        newer.append(its)
    if list_switched_off(last, person):
        raise Problem(_("The administrators switched this off. Ask them to switch it on again."))


def _is_overlapping(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop


def list_switched_off(rows: Iterable[PortForward | Pinhole], person: User) -> set[int]:
    """The ids of those that are off, and that somebody else than this person, or nobody known, switched off last. One query, or none."""
    off = [row for row in rows if not row.enabled]
    if not off:
        return set()
    events: Any = off[0].events.model  # type: ignore[union-attr]  # made by the tracker
    asked = events._default_manager.filter(pgh_obj_id__in=[row.pk for row in off]).order_by("pgh_id")
    was_on: dict[int, bool] = {}
    by: dict[int, object] = {}
    for pk, enabled, user in asked.values_list("pgh_obj_id", "enabled", "pgh_context__metadata__user"):
        if was_on.get(pk, True) and not enabled:
            by[pk] = user
        was_on[pk] = enabled
    return {row.pk for row in off if by.get(row.pk) != person.pk}

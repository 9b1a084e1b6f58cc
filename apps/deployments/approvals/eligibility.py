"""Decides who may approve. Requesters may do so only if no other approver exists, after signing in again, and the history records it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from apps.accounts.models import User
from apps.accounts.roles import Right, compute_rights, list_roles_with_right
from apps.deployments.models import HeldBack

WRITES: Final = frozenset(
    {Right.CHANGE_MEMBERS, Right.BLOCK, Right.CHANGE_RULES, Right.IMPORT_PEOPLE, Right.OPERATE, Right.MANAGE_ACCOUNTS}
)


@dataclass(frozen=True, slots=True)
class ApproverStanding:
    """A user's relation to a held-back part. asked: wrote some of it. perhaps: some of it has no known author, and the user could
    be the one.

    others: approvers who have to decide instead, because they are less involved.
    """

    asked: bool
    perhaps: bool
    others: tuple[User, ...]

    @property
    def has_to_sign_in_again(self) -> bool:
        """True if the user may approve only after signing in again, which the history records."""
        return self.asked or self.perhaps


def compute_standing(held: HeldBack, by: User) -> ApproverStanding:
    """Compute the user's standing, with one query for the askers and one for the approvers."""
    askers = set(held.askers.values_list("pk", flat=True))
    mine = _compute_closeness(by, askers, held.asker_unknown)
    approvers = list_other_approvers(by) if mine else []
    others = tuple(each for each in approvers if _compute_closeness(each, askers, held.asker_unknown) < mine)
    return ApproverStanding(by.pk in askers, mine == 1, others)


def _compute_closeness(person: User, askers: Collection[int], unknown: bool) -> int:
    """Return 2 if the person asked for it, 1 if they may have, 0 if they did not."""
    if person.pk in askers:
        return 2
    return int(unknown and not WRITES.isdisjoint(compute_rights(person.roles, by_token=True)))


def list_other_approvers(person: User | None) -> list[User]:
    """Return all users who may approve, except this person."""
    approvers = User.objects.filter(is_active=True, roles__overlap=list_roles_with_right(Right.APPROVE)).order_by("username")
    return list(approvers.exclude(pk=person.pk) if person else approvers)

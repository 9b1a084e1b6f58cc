"""Who may agree to what waits. People who asked for it may only where nobody else can, after signing in again, and the history says so."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from apps.accounts.models import User
from apps.accounts.roles import Right, compute_rights, list_roles_with_right
from apps.deployments.models import HeldBack

WRITES: Final = frozenset({Right.CHANGE_MEMBERS, Right.BLOCK, Right.CHANGE_RULES, Right.OPERATE, Right.MANAGE_ACCOUNTS})


@dataclass(frozen=True, slots=True)
class ApproverStanding:
    """How a person stands to what waits. asked: wrote some of it; perhaps: nobody knows who wrote some of it, and this person could have.

    others: who has to agree instead, because they stand further away from it.
    """

    asked: bool
    perhaps: bool
    others: tuple[User, ...]

    @property
    def signs_in_again(self) -> bool:
        """May this person agree only after signing in again, which the history says?"""
        return self.asked or self.perhaps


def compute_standing(held: HeldBack, by: User) -> ApproverStanding:
    """One query for the askers, one for the approvers."""
    askers = set(held.askers.values_list("pk", flat=True))
    mine = _compute_closeness(by, askers, held.asker_unknown)
    approvers = list_other_approvers(by) if mine else []
    others = tuple(each for each in approvers if _compute_closeness(each, askers, held.asker_unknown) < mine)
    return ApproverStanding(by.pk in askers, mine == 1, others)


def _compute_closeness(person: User, askers: Collection[int], unknown: bool) -> int:
    """2: asked for it. 1: may have. 0: did not."""
    if person.pk in askers:
        return 2
    return int(unknown and not WRITES.isdisjoint(compute_rights(person.roles, by_token=True)))


def list_other_approvers(person: User | None) -> list[User]:
    """Everybody who may approve, but this person."""
    approvers = User.objects.filter(is_active=True, roles__overlap=list_roles_with_right(Right.APPROVE)).order_by("username")
    return list(approvers.exclude(pk=person.pk) if person else approvers)

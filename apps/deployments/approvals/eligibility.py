"""Who may agree to what waits. People who asked for it may only where nobody else can, after signing in again, and the history says so."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from apps.accounts.models import User
from apps.accounts.roles import Right, rights, with_right
from apps.deployments.models import HeldBack

WRITES: Final = frozenset({Right.CHANGE_MEMBERS, Right.BLOCK, Right.CHANGE_RULES, Right.OPERATE, Right.MANAGE_ACCOUNTS})


@dataclass(frozen=True, slots=True)
class Standing:
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


def standing_of(held: HeldBack, by: User) -> Standing:
    """One query for the askers, one for the approvers."""
    askers = set(held.askers.values_list("pk", flat=True))
    mine = _closeness(by, askers, held.asker_unknown)
    approvers = approvers_but(by) if mine else []
    others = tuple(each for each in approvers if _closeness(each, askers, held.asker_unknown) < mine)
    return Standing(by.pk in askers, mine == 1, others)


def _closeness(person: User, askers: Collection[int], unknown: bool) -> int:
    """2: asked for it. 1: may have. 0: did not."""
    if person.pk in askers:
        return 2
    return int(unknown and not WRITES.isdisjoint(rights(person.roles, by_token=True)))


def approvers_but(person: User | None) -> list[User]:
    """Everybody who may approve, but this person."""
    approvers = User.objects.filter(is_active=True, roles__overlap=with_right(Right.APPROVE)).order_by("username")
    return list(approvers.exclude(pk=person.pk) if person else approvers)

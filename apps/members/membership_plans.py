"""Registry of plans for a member that are cancelled when the membership ends, such as a move.

The apps above register theirs when they are ready.
"""

from collections.abc import Callable

from apps.members.models import Member

type DropPlans = Callable[[Member], object]

_droppers: list[DropPlans] = []


def register_plans(drop: DropPlans) -> None:
    """Register a kind of plan; `drop` cancels those of a member. Called once, when the app is ready."""
    _droppers.append(drop)


def drop_plans(member: Member) -> None:
    """Cancel what is planned for the member. Must run in the transaction that ends the membership, which has locked the member."""
    for drop in _droppers:
        drop(member)

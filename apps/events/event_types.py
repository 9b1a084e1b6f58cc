"""Kinds of events, and who may see them. Rights come from the same table as those of the API and the pages."""

from dataclasses import dataclass
from typing import Final

KINDS: Final = {
    "rollout": "rollout",
    "step": "rollout",
    "gateway": "gateway",
    "failover": "group",
    "approval": "approval",
    "hold": "hold",
    "ticket": "ticket",
    "presence": "ticket",
    "forward": "forward",
    "pinhole": "pinhole",
    "address": "address",
}
"""Each kind, and the API collection whose read right it needs (`accounts/route_rights.py`)."""

OF_MEMBERS: Final = ("ticket", "forward", "pinhole", "address", "several")
"""Kinds of events that members get about their own objects. several: too many became active at once to be reported one by one."""


@dataclass(frozen=True, slots=True)
class PublishedEvent:
    """An event as subscribers get it.

    kind, pk, state: kind, id and state of the object. member: member that the object belongs to. own: True if that member may see
    the event. transaction: id of the transaction that wrote it.
    """

    kind: str
    pk: int
    state: str
    member: int | None
    own: bool
    transaction: int = 0


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A listener and its rights.

    user: id of the account. kinds: kinds of which it sees all events. only: limits `kinds` to events of this member. member: the
    account's own member.
    """

    user: int
    kinds: frozenset[str]
    only: int | None = None
    member: int | None = None

    def can_see(self, event: PublishedEvent) -> bool:
        """True if the subscriber may see the event."""
        if event.kind in self.kinds:
            return self.only is None or self.only == event.member
        return event.own and self.member is not None and event.member in (None, self.member)

"""What events there are, and whose right to read shows them: the same table as the API's and the pages'."""

from dataclasses import dataclass
from typing import Final

KINDS: Final = {
    "rollout": "rollout",
    "step": "rollout",
    "gateway": "gateway",
    "approval": "approval",
    "hold": "hold",
    "ticket": "ticket",
    "presence": "ticket",
    "forward": "forward",
    "pinhole": "pinhole",
    "address": "address",
}
"""Each kind, and the collection of the API (`accounts/routes.py`) that one must be allowed to read."""

OF_MEMBERS: Final = ("ticket", "forward", "pinhole", "address", "several")
"""What members are told of their own. several: more became active at once than is told one by one."""


@dataclass(frozen=True, slots=True)
class PublishedEvent:
    """An event as it is handed on: kind, the object's id and state, whose it is, whether that member may know, and who wrote it."""

    kind: str
    pk: int
    state: str
    member: int | None
    own: bool
    transaction: int = 0


@dataclass(frozen=True, slots=True)
class Subscriber:
    """Who listens, and to what. kinds: those that are shown whole; only: of this member's things alone; member: who it is."""

    user: int
    kinds: frozenset[str]
    only: int | None = None
    member: int | None = None

    def sees(self, event: PublishedEvent) -> bool:
        """Whether the event is for this reader."""
        if event.kind in self.kinds:
            return self.only is None or self.only == event.member
        return event.own and self.member is not None and event.member in (None, self.member)

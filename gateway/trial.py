"""What was applied and is not confirmed yet: what it was, until when it may be confirmed, and over which connections.

Seconds of CLOCK_MONOTONIC, which nobody can set. Pure: the time is passed in.
"""

from dataclasses import dataclass, replace

from firewall.diff import Delta
from firewall.flows import Flow


@dataclass(frozen=True, slots=True)
class PendingTrial:
    """One or more applied changes. deltas: from the confirmed ruleset to what runs; `follows`: they are a way that the journal can go.

    within: seconds given; deadline: when they are over. rules_since: when rules were last changed, None if only elements were.
    flows: open connections that may be cut once it is confirmed; None: they are still to be listed.
    """

    deltas: tuple[Delta, ...]
    follows: bool
    target: str
    within: int
    deadline: float
    rules_since: float | None
    flows: tuple[Flow, ...] | None

    def seconds_left(self, now: float) -> float:
        """Never less than 0."""
        return max(self.deadline - now, 0.0)

    def with_flows(self, more: tuple[Flow, ...] | None) -> "PendingTrial":
        """With these too; None if any are still to be listed."""
        return replace(self, flows=None if more is None or self.flows is None else (*self.flows, *more))

    def may_confirm(self, opened: float) -> bool:
        """Does a connection that was opened then prove that one can still get in?"""
        return self.rules_since is None or opened > self.rules_since

"""The change on trial: what was applied but is not confirmed yet, until when it may be confirmed, and over which connections.

Times are seconds of CLOCK_MONOTONIC, which cannot be set. Pure: the time is passed in.
"""

from dataclasses import dataclass, replace

from firewall.diff import Delta
from firewall.flows import Flow
from firewall.wire import Apply


@dataclass(frozen=True, slots=True)
class PendingTrial:
    """One or more applied changes that are not confirmed.

    deltas: from the confirmed ruleset to what runs. follows: the deltas can be appended to the journal. within: seconds to
    confirm. deadline: when they are over. rules_since: when rules or the profile were last changed, None if only elements were.
    flows: open connections that may be cut at confirmation; None: not listed yet. given_up: why it is being taken back, "" while it is not.
    """

    deltas: tuple[Delta, ...]
    follows: bool
    target: str
    within: int
    deadline: float
    rules_since: float | None
    flows: tuple[Flow, ...] | None
    given_up: str = ""

    def compute_seconds_left(self, now: float) -> float:
        """Return the seconds until the deadline, at least 0."""
        return max(self.deadline - now, 0.0)

    def give_up(self, reason: str, now: float) -> "PendingTrial":
        """Return the trial as one whose time is over: taking it back has failed, and is to be tried until it does not."""
        return replace(self, deadline=now, given_up=reason)

    @property
    def end_reason(self) -> str:
        """Why it is taken back at its deadline."""
        return self.given_up or f"it was not confirmed within {self.within} s"

    def add_flows(self, more: tuple[Flow, ...] | None) -> "PendingTrial":
        """Return the trial with these flows too; None if any are not listed yet."""
        return replace(self, flows=None if more is None or self.flows is None else (*self.flows, *more))

    @property
    def needs_new_session(self) -> bool:
        """True if only a connection opened since the last change of rules or profile may confirm."""
        return self.rules_since is not None

    def may_confirm(self, opened: float) -> bool:
        """True if a connection opened at this time may confirm.

        After a change of rules or profile, only a newer connection proves that the gateway can still be reached.
        """
        return self.rules_since is None or opened > self.rules_since


UNKNOWN_TRIAL = PendingTrial((), follows=True, target="", within=0, deadline=0.0, rules_since=None, flows=())
"""Stands for a change that failed after the kernel had it, and is to be taken back."""


def build_trial(delta: Delta, request: Apply, *, earlier: PendingTrial | None, follows: bool, now: float) -> PendingTrial:
    """Build the trial of a change that was committed now, on top of an earlier trial if there is one.

    It still goes back to before the first unconfirmed change; the time to confirm begins anew. follows: the delta begins where the earlier
    one ends, or at the confirmed ruleset.
    """
    touches = delta.touches_rules or delta.touches_kernel
    return PendingTrial(
        (*(earlier.deltas if earlier else ()), delta),
        follows and (earlier is None or earlier.follows),
        request.target,
        request.confirm_within,
        now + request.confirm_within,
        now if touches else earlier.rules_since if earlier else None,
        earlier.flows if earlier else (),
    )

"""Restores the last confirmed ruleset in the kernel, at start and when a change was not confirmed.

If the kernel has none of our rules, forwarding is closed first, before anything large is read, and stays closed if the ruleset
cannot be restored: without source NAT and bans, nothing may be forwarded. The gateway itself stays reachable, because
operators must reach it to repair it, and its management networks are part of the missing ruleset.

Before anything was ever confirmed, there is the origin to go back to: no rules, or closed forwarding. It is on the disk while a
ruleset is on trial, because nobody else could take that back if the agent is killed. It is there, too, while what was confirmed cannot be
restored: then forwarding is closed again, because a ruleset that nobody confirmed may lock everybody out.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from firewall.diff import Delta, diff
from firewall.ruleset import EMPTY, Chain, Hook, HookPriority, Ruleset, VerdictAction, drop_expired
from gateway.clock import GatewayClock
from gateway.handover import read_if_unchanged
from gateway.kernel_profile import SysctlErrors, apply_profile
from gateway.pending_cut import note_way_back
from gateway.persistent_state import ConfirmedRuleset, Note, StateDirectory, StateError
from gateway.running_ruleset import reconcile_times
from gateway.table import CommitRefusedError, NftTable, TableError
from gateway.uplink_queues import set_queues

CLOSED = Ruleset(chains={"forward": Chain("forward", (), Hook("filter", "forward", HookPriority.FILTER, VerdictAction.DROP))})
_ORIGINS = {"empty": EMPTY, "closed": CLOSED}  # as they are called on the disk


@dataclass(frozen=True, slots=True)
class RestoreOutcome:
    """The outcome of a restore.

    ruleset: what runs now, None if its rules are not known. fault: "" if all is well. untuned: sysctls of its profile that could
    not be set, with the errors. unshaped: why the queues of the uplink could not be set, "" if they are. endings: what has let in
    connections that `cut_what_was_pending` is to cut now.
    """

    ruleset: Ruleset | None
    confirmed: ConfirmedRuleset | None
    fault: str
    text: str
    untuned: SysctlErrors = field(default_factory=dict)
    unshaped: str = ""
    endings: tuple[Delta, ...] = ()

    @property
    def sentence(self) -> str:
        """What was done, and the fault if there is one."""
        done = f"{self.text}; not the queues of the uplink: {self.unshaped}" if self.unshaped else self.text
        return f"{done}: {self.fault}" if self.fault else done


@dataclass(frozen=True, slots=True)
class WayBack:
    """What a running agent knows of the way back from a trial.

    origin: what ran before its first trial. has_run: the confirmed ruleset has run under this agent. rebuild: returns that from memory,
    for when the disk cannot be read; None if it is not known.
    """

    origin: Ruleset
    has_run: bool
    rebuild: Callable[[], ConfirmedRuleset | None]


def restore_ruleset(table: NftTable, state: StateDirectory, clock: GatewayClock, way_back: WayBack | None = None) -> RestoreOutcome:
    """Load the last confirmed ruleset into the kernel, or, where nothing was ever confirmed, what ran before the trial.

    way_back: given if a change on trial is taken back; None: at a start, where the state directory says what was on trial. Raises
    TableError if the kernel refuses to go back to a ruleset that has run: nothing has changed then, and it has to be tried again.
    """
    _close_forwarding_first(table, state, clock)
    try:
        confirmed = state.load()
    except StateError as error:
        confirmed = way_back.rebuild() if way_back else None
        if confirmed is None:
            return _do_without(table, state, clock, str(error), takes_back=bool(way_back))
    if confirmed is None:
        return _restore_origin(table, state, clock, way_back.origin if way_back else None)
    if way_back is None:  # later the portal says what time it is, and the confirmed one may have been ahead
        clock.follow(confirmed.at)  # an earlier clock is wrong: bans would last longer than they should
    return _load_confirmed(table, state, confirmed, clock, way_back)


def _restore_origin(table: NftTable, state: StateDirectory, clock: GatewayClock, origin: Ruleset | None) -> RestoreOutcome:
    """Change the table to the origin. If nothing was on trial, the kernel is left as it is."""
    apply_profile(table, state, None)
    set_queues(table, None)
    found = table.read(clock())
    if origin is None and not _is_closed(found):  # forwarding is closed after a reboot, and nothing else is left of the trial
        origin = _ORIGINS.get(str(state.read_note(Note.TRIAL)))
    if origin is not None:
        table.commit(diff(found, origin), clock())
    state.drop_note(Note.TRIAL)
    if origin is None:
        known = None if found.chains else found
        return RestoreOutcome(known, None, "", "nothing has been confirmed yet; the kernel is left as it is")
    return RestoreOutcome(origin, None, "", "nothing had been confirmed; as it was before")


def note_origin(state: StateDirectory, origin: Ruleset) -> None:
    """Store what to go back to if the agent is killed before a ruleset is confirmed that it can restore. Raises StateError."""
    state.write_note(Note.TRIAL, next(name for name, each in _ORIGINS.items() if each == origin))


def _close_forwarding_first(table: NftTable, state: StateDirectory, clock: GatewayClock) -> None:
    """Close forwarding if the kernel has none of our chains. A process killed from here on leaves it closed."""
    if state.has_confirmed and not table.fingerprint_chains():
        found = table.read(clock())
        table.commit(diff(found, replace(found, chains=dict(CLOSED.chains))), clock())


def _load_confirmed(
    table: NftTable, state: StateDirectory, confirmed: ConfirmedRuleset, clock: GatewayClock, way_back: WayBack | None
) -> RestoreOutcome:
    """Change the table to the confirmed ruleset as it is now."""
    wanted = drop_expired(confirmed.ruleset, clock())
    unchanged = read_if_unchanged(table, state, confirmed, wanted, clock)
    found = table.read(clock()) if unchanged is None else unchanged
    change = diff(_ignore_rounding(found, wanted), wanted) if found.sets else Delta()  # without sets, nothing was let in
    endings = note_way_back(state, change, confirmed, wanted)
    try:
        wanted = _change_to(table, found, confirmed.ruleset, clock)
    except TableError as error:
        fault = f"the kernel refuses the last confirmed ruleset: {error}"
        if way_back and way_back.has_run:
            raise TableError(fault) from error
        return _do_without(table, state, clock, fault, takes_back=bool(way_back))
    state.drop_note(Note.TRIAL)
    untuned = apply_profile(table, state, wanted.profile)
    text = f"the last confirmed ruleset runs, {wanted.count_elements()} elements{'' if unchanged is None else ', as they were left'}"
    return RestoreOutcome(wanted, confirmed, "", text, untuned, set_queues(table, wanted.shaper), endings)


def _change_to(table: NftTable, found: Ruleset, ruleset: Ruleset, clock: GatewayClock) -> Ruleset:
    """Change the table to what has not expired of the ruleset, and return that.

    A refused transaction is made once more, from what the kernel holds then: an element may have expired after it was read.
    """
    try:
        return _commit_difference(table, found, ruleset, clock())
    except CommitRefusedError:
        return _commit_difference(table, table.read(clock()), ruleset, clock())


def _commit_difference(table: NftTable, found: Ruleset, ruleset: Ruleset, now: float) -> Ruleset:
    wanted = drop_expired(ruleset, now)
    table.commit(diff(_ignore_rounding(found, wanted), wanted), now)
    return wanted


def _is_closed(found: Ruleset) -> bool:
    """True if there is nothing but the chain that drops all forwarded packets."""
    hooks = {name: chain.hook for name, chain in found.chains.items()}
    return not found.sets and hooks == {name: chain.hook for name, chain in CLOSED.chains.items()}


def _ignore_rounding(found: Ruleset, wanted: Ruleset) -> Ruleset:
    """Return `found` without rounding differences.

    At time 0 no element counts as about to expire, so those already gone are seen as missing.
    """
    return reconcile_times(found, wanted, 0)


def _do_without(table: NftTable, state: StateDirectory, clock: GatewayClock, fault: str, *, takes_back: bool) -> RestoreOutcome:
    """Keep rules that run, even if they are not known: they are better than none. If none run, or what runs was on trial, close forwarding.

    takes_back: something was on trial until now.
    """
    if takes_back or state.read_note(Note.TRIAL) is not None:
        return replace(_restore_origin(table, state, clock, CLOSED), fault=fault, text="forwarding is closed")
    found = table.read(clock())
    if found.chains and not _is_closed(found):
        return RestoreOutcome(None, None, fault, "the kernel keeps the rules that it holds")
    table.commit(diff(found, CLOSED), clock())
    return RestoreOutcome(CLOSED, None, fault, "forwarding is closed")


def choose_fallback_ruleset(table: NftTable) -> Ruleset:
    """Return the ruleset to go back to while nothing is confirmed: an empty one if the kernel has no rules, otherwise closed forwarding.

    No elements are read: there may be many.
    """
    return CLOSED if table.fingerprint_chains() else EMPTY

"""At start, and whenever a change was not confirmed: the kernel gets back what was confirmed last.

Where nothing of ours is in the kernel, forwarding is closed first, before anything is read that may be large, and stays so when it
cannot be had: without source NAT and bans every packet forwarded is a mistake. The gateway itself stays open, because whoever repairs
it must reach it, and its management networks stand in the very ruleset that is missing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from firewall.diff import diff
from firewall.ruleset import EMPTY, Chain, Hook, HookPriority, Ruleset, VerdictAction, drop_expired
from gateway.kernel_profile import SysctlErrors, tune
from gateway.persistent_state import ConfirmedRuleset, StateDirectory, StateError
from gateway.running_ruleset import reconcile_times
from gateway.table import NftTable, TableError

CLOSED = Ruleset(chains={"forward": Chain("forward", (), Hook("filter", "forward", HookPriority.FILTER, VerdictAction.DROP))})


@dataclass(frozen=True, slots=True)
class RestoreOutcome:
    """What was done. ruleset: what runs now, None if its rules are not known. `fault` is "" if all is well.

    untuned: what of its profile could not be set.
    """

    ruleset: Ruleset | None
    confirmed: ConfirmedRuleset | None
    fault: str
    text: str
    untuned: SysctlErrors = field(default_factory=dict)


def bring_back(
    table: NftTable, state: StateDirectory, now: float, remembered: Callable[[], ConfirmedRuleset | None] = lambda: None
) -> RestoreOutcome:
    """Make the kernel hold what was confirmed last. Where nothing was, it is left as it is.

    remembered: where to ask when the disk does not say. A clock that stands before the confirmation is wrong, and is not
    used: it would let bans last longer than they should.
    """
    found = _close_forwarding_first(table, state, table.read(now), now)
    try:
        confirmed = state.load()
    except StateError as error:
        confirmed = remembered()
        if confirmed is None:
            return _close(table, found, now, str(error))
    if confirmed is None:
        tune(table, state, None)
        known = None if found.chains else found
        return RestoreOutcome(known, None, "", "nothing has been confirmed yet; the kernel is left as it is")
    now = max(now, confirmed.at)
    wanted = drop_expired(confirmed.ruleset, now)
    try:
        table.commit(diff(_ignore_rounding(found, wanted), wanted), now)
    except TableError as error:
        return _close(table, found, now, f"the kernel refuses the last confirmed ruleset: {error}")
    untuned = tune(table, state, wanted.profile)
    return RestoreOutcome(wanted, confirmed, "", f"the last confirmed ruleset runs, {wanted.count_elements()} elements", untuned)


def _close_forwarding_first(table: NftTable, state: StateDirectory, found: Ruleset, now: float) -> Ruleset:
    """What the kernel holds once forwarding is closed, where that has to be: whoever is killed from here on leaves it closed."""
    if found.chains or not state.has_confirmed:
        return found
    closed = replace(found, chains=dict(CLOSED.chains))
    table.commit(diff(found, closed), now)
    return closed


def _is_closed(found: Ruleset) -> bool:
    """Is there nothing but the chain that lets nothing be forwarded?"""
    hooks = {name: chain.hook for name, chain in found.chains.items()}
    return not found.sets and hooks == {name: chain.hook for name, chain in CLOSED.chains.items()}


def _ignore_rounding(found: Ruleset, wanted: Ruleset) -> Ruleset:
    """Clocked at 0, nothing counts as about to end: what the kernel dropped already has to be seen as gone."""
    return reconcile_times(found, wanted, 0)


def _close(table: NftTable, found: Ruleset, now: float, fault: str) -> RestoreOutcome:
    """Rules that run are better than none, though nobody knows them; where none run, close."""
    if found.chains and not _is_closed(found):
        return RestoreOutcome(None, None, fault, "the kernel keeps the rules that it holds")
    table.commit(diff(found, CLOSED), now)
    return RestoreOutcome(CLOSED, None, fault, "forwarding is closed")


def take_back(
    table: NftTable, state: StateDirectory, now: float, origin: Ruleset, remembered: Callable[[], ConfirmedRuleset | None]
) -> RestoreOutcome:
    """Undo what was not confirmed. A gateway on which nothing ever was goes back to its `origin`."""
    brought = bring_back(table, state, now, remembered)
    if brought.confirmed or brought.fault:
        return brought
    table.commit(diff(table.read(now), origin), now)
    return RestoreOutcome(origin, None, "", "nothing had been confirmed; as it was before")


def choose_origin(found: Ruleset) -> Ruleset:
    """Where a gateway goes back to while nothing is confirmed: to nothing if there was nothing, else to closed forwarding."""
    return CLOSED if found.chains else EMPTY

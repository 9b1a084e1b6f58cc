"""What a confirmation, or taking a trial back, still has to cut, in case the agent is killed before it has done so.

It is noted before the confirmation is stored, and names the ruleset that this confirms: if that was not stored in the end, nothing
is cut. Before a trial is taken back, it is noted with the ruleset that is confirmed. Open connections do not outlive the machine, so
the note need not either, and nothing waits for the disk because of it.
"""

import logging
from collections.abc import Mapping

from firewall import digest as digests
from firewall.codec import WireError, decode, encode
from firewall.diff import Delta
from firewall.flow_endings import reduce_to_endings, reduce_way_back
from firewall.flows import FlowChanges
from firewall.ruleset import Elements, Ruleset
from gateway.flow_termination import FormerFlows, cut_flows_at_confirm
from gateway.log_texts import to_plain_line
from gateway.persistent_state import ConfirmedRuleset, Note, StateDirectory, StateError
from gateway.table import NftTable
from gateway.trial import PendingTrial

log = logging.getLogger("gateway")


def note_pending_cut(state: StateDirectory, trial: PendingTrial, digest: int) -> None:
    """Note what confirming the trial ends, if anything. Never fails. digest: of the ruleset that will be confirmed."""
    deltas = () if trial.flows == () else reduce_to_endings(trial.deltas)
    if not FlowChanges(*deltas, after={}):
        return
    _write_note(state, digest, deltas)


def note_way_back(state: StateDirectory, delta: Delta, confirmed: ConfirmedRuleset, after: Ruleset) -> tuple[Delta, ...]:
    """Note what taking a trial back ends, beside what the confirmation may still have to. Never fails; returns both.

    delta: from what runs to the confirmed ruleset. after: what of that has not expired.
    """
    pending, ending = _read_note(state, confirmed.digest), reduce_way_back(delta, after)
    if (pending and _covers(pending[-1], ending)) or not FlowChanges(ending, after=after.elements):
        return pending
    _write_note(state, confirmed.digest, (*pending, ending))
    return *pending, ending


def cut_what_was_pending(table: NftTable, state: StateDirectory, pending: tuple[Delta, ...], after: Mapping[str, Elements]) -> FormerFlows:
    """Cut what `note_way_back` returned, and return the flows of members who lost an address. Called when the confirmed ruleset runs.

    after: what the sets hold now.
    """
    if pending:
        log.warning("connections that the last confirmation ends, or that a change on trial had let in, are cut now")
    _cut, former = cut_flows_at_confirm(table, pending, None, after)
    state.drop_note(Note.CUT)
    return former


def _write_note(state: StateDirectory, digest: int, deltas: tuple[Delta, ...]) -> None:
    try:
        state.write_note(Note.CUT, [digests.format_digest(digest), [encode(delta) for delta in deltas]], synced=False)
    except StateError as error:
        log.warning("connections may stay open if the agent is killed now: %s", to_plain_line(str(error)))


def _read_note(state: StateDirectory, digest: int) -> tuple[Delta, ...]:
    """Return what the agent before was killed over, if this ruleset was confirmed by then."""
    confirmed, deltas = _parse_note(state.read_note(Note.CUT))
    return deltas if confirmed == digests.format_digest(digest) else ()


def _covers(noted: Delta, ending: Delta) -> bool:
    """True if all that ends is noted: by a try before that the kernel refused. Some of it may have expired since.

    Ends are not compared: those that the kernel told were rounded.
    """
    return _list_effects(ending) <= _list_effects(noted)


def _list_effects(delta: Delta) -> set[tuple[str, bytes, bytes | None, bytes | None]]:
    """Return set, key, and the values before and after."""
    return {
        (name, key, _get_value(removed, key), _get_value(added, key))
        for name, (_, removed, added) in delta.elements.items()
        for key in removed.keys() | added.keys()
    }


def _get_value(elements: Elements, key: bytes) -> bytes | None:
    return elements[key].value if key in elements else None


def _parse_note(value: object) -> tuple[str, tuple[Delta, ...]]:
    """Return the digest and the deltas; "" and none if there is no note, or it is damaged."""
    match value:
        case [str(digest), list(deltas)]:
            try:
                return digest, tuple(decode(Delta, each, "delta") for each in deltas)
            except WireError:
                return "", ()
        case _:
            return "", ()

"""What a confirmation still has to cut, in case the agent is killed before it has done so.

It is noted before the confirmation is stored, and names the ruleset that this confirms: if that was not stored in the end, nothing
is cut. Open connections do not outlive the machine, so the note need not either, and no confirmation waits for the disk because of it.
"""

import logging

from firewall import digest as digests
from firewall.codec import WireError, decode, encode
from firewall.diff import Delta
from firewall.flow_endings import reduce_to_endings
from firewall.flows import FlowChanges
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
    try:
        state.write_note(Note.CUT, [digests.format_digest(digest), [encode(delta) for delta in deltas]], synced=False)
    except StateError as error:
        log.warning("connections may stay open if the agent is killed now: %s", to_plain_line(str(error)))


def cut_what_was_pending(table: NftTable, state: StateDirectory, confirmed: ConfirmedRuleset) -> FormerFlows:
    """Cut what the agent before was killed over, and return those of members who lost an address. Called at the start, when the
    confirmed ruleset runs.
    """
    digest, deltas = _parse_note(state.read_note(Note.CUT))
    former: FormerFlows = []
    if digest == digests.format_digest(confirmed.digest):
        log.warning("the agent was killed before it had cut the connections that the last change ends: this is done now")
        _cut, former = cut_flows_at_confirm(table, deltas, None, {})
    state.drop_note(Note.CUT)
    return former


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

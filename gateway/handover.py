"""What an agent leaves to the next one, so that this need not read every element that the kernel holds.

Dumps of large sets are quadratic (docs/adr/0048): of a million members they take minutes, in which nothing can be changed. But if no
program has committed a transaction meanwhile, the sets hold what they held, and the state directory says what that is.
"""

import logging
from dataclasses import astuple, dataclass

from firewall import digest as digests
from firewall.ruleset import Ruleset
from gateway.clock import TOLERANCE, GatewayClock
from gateway.log_texts import to_plain_line
from gateway.persistent_state import ConfirmedRuleset, Note, StateDirectory, StateError
from gateway.table import NftTable, TableError

log = logging.getLogger("gateway")


@dataclass(frozen=True, slots=True)
class HandoverNote:
    """At this mark of the kernel (NftTable.read_mark) the table held the confirmed ruleset with this digest.

    ahead: seconds by which the agent's clock was ahead of CLOCK_MONOTONIC; the kernel ends elements by it.
    """

    mark: str
    digest: str
    ahead: float


def leave_note(table: NftTable, state: StateDirectory, digest: str, clock: GatewayClock) -> None:
    """Note that the table holds the confirmed ruleset with this digest, unless another program has changed it. Never fails."""
    try:
        mark = table.read_mark()  # before the look at others: what is committed between them makes the note worthless, not wrong
        if mark and not table.is_disturbed():
            state.write_note(Note.HANDOVER, list(astuple(HandoverNote(mark, digest, clock.ahead))))
    except (TableError, StateError, OSError) as error:
        log.warning("the next agent will read the whole table: %s", to_plain_line(str(error)))


def read_if_unchanged(
    table: NftTable, state: StateDirectory, confirmed: ConfirmedRuleset, wanted: Ruleset, clock: GatewayClock
) -> Ruleset | None:
    """Return what the table holds, without reading its elements; None if they have to be read.

    wanted: the confirmed ruleset as it is now.
    """
    note = _parse_note(state.read_note(Note.HANDOVER))
    if note is None or note.digest != digests.format_digest(confirmed.digest) or abs(note.ahead - clock.ahead) > TOLERANCE:
        return None
    if table.read_mark() != note.mark:
        return None
    found = table.read(clock(), wanted.elements)
    return found if table.read_mark() == note.mark else None  # nobody has committed anything while the rest was read


def _parse_note(value: object) -> HandoverNote | None:
    match value:
        case [str(mark), str(digest), float(ahead)]:
            return HandoverNote(mark, digest, ahead)
        case _:
            return None

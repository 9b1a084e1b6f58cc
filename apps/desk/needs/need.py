"""A need: one line in the dashboard's list of what needs action."""

from dataclasses import dataclass
from datetime import datetime

from apps.lib.ui.states import StateLabel
from apps.status.incidents.work_windows import WorkWindow


@dataclass(frozen=True)
class AttentionItem:
    """Something that needs action: its state, a title, the evidence, a time, and the button's label and URL.

    at: since when it is so, or when it will happen. is_decision: an approval is missing. is_intended: a person has chosen this state, so
    that it is no alarm. stands_for: the keys of the needs that this one replaces in the list. gateways: ids of the gateways whose state
    it is; none: it is the network's. work: the planned work that goes on at all of them, if any.
    """

    key: str
    state: StateLabel
    what: str
    evidence: str
    at: datetime | None
    verb: str
    url: str
    is_decision: bool = False
    is_intended: bool = False
    stands_for: frozenset[str] = frozenset()
    gateways: frozenset[int] = frozenset()
    work: WorkWindow | None = None


def get_first_line(text: str) -> str:
    """Return the first line of an error that a program has told: the rest is for its page."""
    return text.partition("\n")[0]

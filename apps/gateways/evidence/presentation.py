"""What pages show of archives: states in words, and the files of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.evidence.models import EvidenceArchive
from apps.gateways.evidence.part_texts import EXPLANATIONS, TITLES
from apps.lib.ui.states import StateKind, StateLabel

State, Problem = EvidenceArchive.State, EvidenceArchive.Problem
_KINDS: Final = {State.WAITING: StateKind.MOVING, State.RUNNING: StateKind.MOVING, State.DONE: StateKind.OK, State.FAILED: StateKind.BAD}
_SENTENCES: Final[dict[str, Promise]] = {
    Problem.UNREACHABLE: gettext_lazy("%(gateway)s did not answer, so there is only what the portal knows. %(reason)s"),
    Problem.OLDER: gettext_lazy(
        "The agent of %(gateway)s is older than this portal and cannot collect evidence, so there is only what the portal knows. "
        "Install the portal’s agent there."
    ),
    Problem.REFUSED: gettext_lazy("The agent of %(gateway)s refused, so there is only what the portal knows: %(reason)s"),
    Problem.LATE: gettext_lazy("No worker had time within two minutes, and later it would have shown something else. Ask again."),
    Problem.LOST: gettext_lazy("The worker was lost meanwhile. Ask again."),
}


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One file of an archive. size: octets, None if it is missing."""

    name: str
    title: str
    explanation: str
    size: int | None
    note: str


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """One archive. sentence: what went wrong, "" if nothing did. missing: files that are not whole."""

    row: EvidenceArchive
    state: StateLabel
    sentence: str
    lines: Sequence[EvidenceLine]
    missing: int

    @property
    def has_file(self) -> bool:
        """True if it can be downloaded."""
        return self.row.state == State.DONE


def build_shown_evidence(rows: Iterable[EvidenceArchive]) -> list[ShownEvidence]:
    """Return what a page shows of the archives."""
    return [_build_shown(row) for row in rows]


def _build_shown(row: EvidenceArchive) -> ShownEvidence:
    state = State(row.state)
    lines = [_build_line(each) for each in row.parts if each.get("name") in TITLES]
    kind = StateKind.WARN if row.problem and state == State.DONE else _KINDS[state]
    word = _("portal’s part only") if row.problem and state == State.DONE else str(state.label)
    return ShownEvidence(row, StateLabel(kind, word), render_problem(row), lines, sum(bool(each.note) for each in lines))


def _build_line(part: dict[str, Any]) -> EvidenceLine:
    name = part["name"]
    return EvidenceLine(name, str(TITLES[name]), str(EXPLANATIONS[name]), part["size"], part["note"])


def render_problem(row: EvidenceArchive) -> str:
    """Return a sentence on why something is missing; "" if nothing is."""
    words = _SENTENCES.get(row.problem)
    return str(words) % {"gateway": row.gateway, "reason": row.reason} if words else ""

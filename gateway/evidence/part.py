"""Values of one part of the evidence: what it consists of, how long it may take, and why it is missing."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Event
from time import monotonic
from typing import TypeAlias

from firewall.evidence import LARGEST, EvidenceKind


class PartMissingError(Exception):
    """There is nothing to hand over. The message is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class PartContent:
    """Octets of a part. note: a sentence that says what is missing in it; "" if nothing is."""

    octets: bytes
    note: str = ""


class Deadline:
    """End of the time for a part. stop: set when the agent ends."""

    def __init__(self, seconds: float, stop: Event) -> None:
        self._until, self._stop = monotonic() + seconds, stop

    @property
    def is_over(self) -> bool:
        """True if no more should be read."""
        return self._stop.is_set() or monotonic() >= self._until

    def sleep(self, seconds: float) -> None:
        """Sleep, but not longer than the agent runs."""
        self._stop.wait(max(seconds, 0.0))


PartReader: TypeAlias = Callable[[Deadline], PartContent]


def build_text(kind: EvidenceKind, lines: Iterable[str], note: str = "", *, keep_last: bool = False) -> PartContent:
    """Build a part of these lines, cut to what the kind may have: its first lines, or the last ones. The note says so."""
    text = "".join(f"{line}\n" for line in lines)
    octets, most = text.encode(errors="replace"), LARGEST[kind]
    if len(octets) <= most:
        return PartContent(octets, note)
    cut = octets[-most:].partition(b"\n")[2] if keep_last else octets[:most].rpartition(b"\n")[0] + b"\n"
    return PartContent(cut, f"Cut to its {'last' if keep_last else 'first'} {most >> 10} KiB. {note}".rstrip())

"""Collects the parts one after another, and packet headers beside them. What fails, or takes too long, is told and stops nothing else."""

import zlib
from collections.abc import Mapping
from threading import Event, Thread
from time import monotonic

from firewall.evidence import LARGEST, EvidenceKind, EvidencePart
from gateway.evidence.part import Deadline, PartContent, PartMissingError, PartReader
from gateway.table import TableError

PATIENCE = 10.0  # seconds for one part, beside the seconds of packet headers; a reader is told to stop after half of them

_STEP = 0.1  # seconds until it is noticed that the agent ends
_STOPPED = "The agent was stopped meanwhile."


class PartThread(Thread):
    """Reads one part. A thread that hangs in the kernel, as on a dying disk, is left to itself."""

    def __init__(self, kind: EvidenceKind, reader: PartReader, deadline: Deadline) -> None:
        super().__init__(name=f"evidence {kind}", daemon=True)
        self._kind, self._reader, self._deadline = kind, reader, deadline
        self._begun = monotonic()
        self._part: EvidencePart | None = None
        self.start()

    def run(self) -> None:
        """Read the part."""
        try:
            content = self._reader(self._deadline)
        except PartMissingError as missing:
            content = PartContent(b"", str(missing))
        except (TableError, OSError) as error:
            content = PartContent(b"", f"It could not be read: {error}.")
        except Exception as error:  # an error in one reader must not take the other parts with it
            content = PartContent(b"", f"The agent failed: {type(error).__name__}: {error}.")
        self._part = build_part(self._kind, content, self._begun)

    def get_part(self, seconds: float, stop: Event) -> EvidencePart:
        """Wait at most so long, and no longer than the agent runs; return the part, or one that says why there is none."""
        end = monotonic() + seconds
        while self.is_alive() and monotonic() < end and not stop.is_set():
            self.join(_STEP)
        why = _STOPPED if stop.is_set() else f"It was not read within {monotonic() - self._begun:.0f} s."
        return self._part or build_part(self._kind, PartContent(b"", why), self._begun)


def collect_parts(readers: Mapping[EvidenceKind, PartReader], seconds: int, stop: Event) -> tuple[EvidencePart, ...]:
    """Return a part of each kind. seconds: for packet headers. stop: if it is set, nothing more is begun."""
    headers = _begin(EvidenceKind.HEADERS, readers, seconds + PATIENCE, stop)
    others = [kind for kind in EvidenceKind if kind is not EvidenceKind.HEADERS]
    parts = [_begin(kind, readers, PATIENCE / 2, stop).get_part(PATIENCE, stop) for kind in others]
    return (*parts, headers.get_part(seconds + PATIENCE, stop))


def _begin(kind: EvidenceKind, readers: Mapping[EvidenceKind, PartReader], seconds: float, stop: Event) -> PartThread:
    """Begin to read a part. Its reader is told to stop some time before it is given up."""
    return PartThread(kind, _say_stopped if stop.is_set() else readers.get(kind, _say_absent), Deadline(seconds, stop))


def _say_absent(_deadline: Deadline) -> PartContent:
    raise PartMissingError("This gateway's table is in memory: there is no machine that could tell it.")


def _say_stopped(_deadline: Deadline) -> PartContent:
    raise PartMissingError(_STOPPED)


def build_part(kind: EvidenceKind, content: PartContent, begun: float) -> EvidencePart:
    """Compress the content. begun: CLOCK_MONOTONIC when reading began."""
    most, octets = LARGEST[kind], content.octets
    if len(octets) > most:
        octets, content = b"", PartContent(b"", f"It has {len(octets)} octets, more than the {most} that are sent.")
    milliseconds = round((monotonic() - begun) * 1000)
    return EvidencePart(kind, zlib.compress(octets) if octets else b"", len(octets), milliseconds, content.note.replace("\0", ""))

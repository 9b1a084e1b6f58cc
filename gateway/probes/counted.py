"""Probes with what the ruleset's counters saw of them: the prober says what came back, the counters that it came through this gateway."""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic

from firewall.probe_messages import Probe, Probed, ProbesRead, ReadProbes
from gateway import prober
from gateway.table import NftTable

MOST_SNAPSHOTS = 16
SNAPSHOT_SECONDS = 0.1


class CountedProbes:
    """Asks the prober at `path`; None if this gateway has none."""

    def __init__(self, path: Path | None, table: NftTable) -> None:
        self._path, self._table = path, table
        self._reading = Lock()
        self._asked = -inf
        self._snapshots: deque[tuple[float, Mapping[str, int]]] = deque(maxlen=MOST_SNAPSHOTS)

    def probe(self, request: Probe) -> Probed:
        """Make the prober connect. No other operation runs meanwhile, and standing probes take the same path.

        Raises WireError, TableError, and OSError if there is no prober, or it gives no answer.
        """
        prober.check(request)
        path = self._get_path()
        before = self._read_counters()
        answers = prober.ask_for_probe(path, request).answers
        return Probed(answers, _compute_counts(before, self._read_counters()))

    def read_rounds(self, request: ReadProbes) -> ProbesRead:
        """Return what standing probes have seen. May be called on another thread, beside everything else. Raises as `probe`."""
        prober.check(request)
        with self._reading:
            asked_before, self._asked = self._asked, monotonic()
            answer = prober.ask_for_rounds(self._get_path(), request)
            counted = self._count_since(asked_before - request.limit_ms / 1000)
            return replace(answer, counted=counted)

    def _count_since(self, begun: float) -> Mapping[str, int] | None:
        """Return what was counted since the last snapshot from before this time; None if there is none.

        A round that was told now may have been on its way when the one before was asked for, so its packets may have been counted by then.
        """
        now = self._read_counters()
        earlier = [each for each in self._snapshots if each[0] <= begun]
        if not self._snapshots or monotonic() - self._snapshots[-1][0] >= SNAPSHOT_SECONDS:
            self._snapshots.append((monotonic(), now))
        return _compute_counts(earlier[-1][1], now) if earlier else None

    def _get_path(self) -> Path:
        if self._path is None:
            raise OSError("this gateway has no prober: its agent was started without --prober")
        return self._path

    def _read_counters(self) -> dict[str, int]:
        return {name: packets for name, (packets, _) in self._table.read_named_counters().items()}


def _compute_counts(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return what each counter counted in between. One that went back began at zero with a new table."""
    return {name: packets - before.get(name, 0) if packets >= before.get(name, 0) else packets for name, packets in after.items()}

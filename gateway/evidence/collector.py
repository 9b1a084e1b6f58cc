"""The agent's answer to CollectEvidence: chooses a reader for each part, and collects them (gateway/evidence/collection.py)."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from time import time_ns

from firewall.codec import WireError, encode
from firewall.evidence import MOST_INTERFACES, SECONDS, CollectEvidence, EvidenceCollected, EvidenceKind
from firewall.health import HealthCounters
from gateway.evidence.collection import collect_parts
from gateway.evidence.header_service import ask_for_headers
from gateway.evidence.part import PartContent, PartMissingError, PartReader
from gateway.release import compute_version
from gateway.table import NftTable


class EvidenceCollector:
    """Collects evidence on one gateway.

    headers: the socket of the process that takes packet headers; None: the calling thread takes them itself.
    """

    def __init__(self, table: NftTable, *, name: str, headers: Path | None, read_health: Callable[[], HealthCounters]) -> None:
        self._table, self._name, self._headers, self._read_health = table, name, headers, read_health

    def collect(self, request: CollectEvidence, ruleset: str | None, stop: Event) -> EvidenceCollected:
        """Return all evidence, after `request.seconds` at least. May be called on another thread, beside everything else.

        ruleset: which one runs, as JSON; None if the agent was too busy to say. stop: set when the agent ends. Raises WireError.
        """
        _check_request(request)
        clock = time_ns() // 1_000_000
        parts = collect_parts(self._build_readers(request, ruleset), request.seconds, stop)
        return EvidenceCollected(self._name, compute_version(), clock, parts)

    def _build_readers(self, request: CollectEvidence, ruleset: str | None) -> dict[EvidenceKind, PartReader]:
        readers: dict[EvidenceKind, PartReader] = {
            EvidenceKind.RULESET: lambda _deadline: _build_ruleset_part(ruleset),
            EvidenceKind.HEALTH: lambda _deadline: PartContent(json.dumps(encode(self._read_health()), indent=1).encode()),
            **self._table.build_evidence_readers(request),
        }
        if self._headers:
            readers[EvidenceKind.HEADERS] = partial(ask_for_headers, self._headers, request)
        return readers


def _check_request(request: CollectEvidence) -> None:
    if request.seconds not in SECONDS:
        raise WireError(f"request.seconds: {request.seconds} is not between {SECONDS[0]} and {SECONDS[-1]}")
    if len(request.interfaces) > MOST_INTERFACES:
        raise WireError(f"request.interfaces: {len(request.interfaces)} are more than {MOST_INTERFACES}")


def _build_ruleset_part(ruleset: str | None) -> PartContent:
    if ruleset is None:
        raise PartMissingError("The agent was busy with another operation, so it could not say which ruleset runs.")
    return PartContent(ruleset.encode())

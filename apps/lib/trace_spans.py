"""What a span of a trace may say, and what makes spans. Knows no recorder."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from enum import Enum
from typing import Protocol, TypedDict


class SpanFacts(TypedDict, total=False):
    """Everything that a span may say. A closed list, because a trace leaves the portal: ids, names of gateways, counts and states;
    nothing that a person has written or is known by.
    """

    method: str  # of the HTTP request
    route: str  # the pattern from the URL configuration, never the path
    status: int  # of the HTTP response
    group: int
    gateway: str
    gateways: int
    rollout: int
    revision: int
    cause: str  # why the reconciliation looked: change, schedule, rollback
    state: str  # of the rollout, when the worker left it
    outcome: str  # why a reconciliation opened no rollout
    commit_ms: int  # what the gateway's kernel took, by its own clock
    read_back_ms: int


class SpanKind(Enum):
    """Where a span stands: it begins a trace, continues one in another process, or is a step inside."""

    REQUEST = "request"
    TASK = "task"
    STEP = "step"


class SpanRecorder(Protocol):
    """Makes spans. The methods after `record` concern the current span; without one they do nothing."""

    def record(self, name: str, kind: SpanKind, parent: str, facts: SpanFacts) -> AbstractContextManager[None]:
        """Record what is done inside as a span. parent: W3C traceparent, or ""."""

    def add_facts(self, facts: SpanFacts) -> None: ...
    def mark_failed(self, reason: str) -> None: ...
    def rename(self, name: str) -> None: ...
    def add_links(self, traceparents: Sequence[str]) -> None: ...
    def get_traceparent(self) -> str:
        """Return the current span as a W3C traceparent, "" if there is none."""

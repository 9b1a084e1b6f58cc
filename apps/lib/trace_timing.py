"""Names the steps of a change's way to the gateways, for two readers: times in the log, and spans of a trace.

Both are off by default and then cost next to nothing (docs/tracing.md): NETZWART_MOMENTS logs the time of each step for
`script/bench commit --explain`, NETZWART_TRACES_URL sends spans. This module knows no OpenTelemetry: `trace_export` is the recorder.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Unpack

import structlog

from apps.lib.trace_spans import SpanFacts, SpanKind, SpanRecorder

_log = logging.getLogger("netzwart.moments")
log = structlog.get_logger()


_recorder: SpanRecorder | None = None


def set_recorder(recorder: SpanRecorder | None) -> SpanRecorder | None:
    """Send the spans of this process to the recorder from now on; None: nowhere. Return the one before."""
    global _recorder
    before, _recorder = _recorder, recorder
    return before


def start_traces(url: str, program: str) -> None:
    """Send the spans of this process to an OTLP/HTTP endpoint; "" sends none. program: what this process is called in a trace.

    Without the optional packages the portal works as ever, and says once what to install.
    """
    if not url:
        return
    try:
        from apps.lib import trace_export
    except ModuleNotFoundError as missing:
        log.error(
            "NETZWART_TRACES_URL is set, but traces are not sent: a package is missing. Install what requirements-tracing.lock lists: "
            "pip install --require-hashes -r requirements-tracing.lock",
            missing=missing.name,
        )
        return
    set_recorder(trace_export.build_recorder(url, program))


# --- What is recorded


@contextmanager
def trace_step(name: str, **facts: Unpack[SpanFacts]) -> Iterator[None]:
    """Record what is done inside as a step, if it is part of a trace; when it is done, log the time."""
    with _recorder.record(name, SpanKind.STEP, "", facts) if _recorder else nullcontext():
        yield
    log_trace_point(f"{name}: {facts['gateway']}" if "gateway" in facts else name)


def trace_request(method: str) -> AbstractContextManager[None]:
    """Record an HTTP request, which begins a trace."""
    return _recorder.record(method, SpanKind.REQUEST, "", {"method": method}) if _recorder else nullcontext()


def trace_task(name: str, traceparent: str) -> AbstractContextManager[None]:
    """Record a task, in the trace of the request that enqueued it."""
    return _recorder.record(name, SpanKind.TASK, traceparent, {}) if _recorder else nullcontext()


def log_trace_point(what: str) -> None:
    """Log that this has just happened."""
    if _log.isEnabledFor(logging.DEBUG):
        _log.debug("moment %.6f %s", time.time(), what)


# --- What the current span says


def add_facts(**facts: Unpack[SpanFacts]) -> None:
    if _recorder:
        _recorder.add_facts(facts)


def mark_failed(reason: str) -> None:
    """Mark the current span as failed. reason: a word of the program. The sentence for people may name somebody, so it stays here."""
    if _recorder:
        _recorder.mark_failed(reason)


def rename_span(name: str) -> None:
    if _recorder:
        _recorder.rename(name)


def add_links(traceparents: Sequence[str]) -> None:
    """Link the current span to other spans, each a W3C traceparent."""
    if _recorder:
        _recorder.add_links(traceparents)


def get_traceparent() -> str:
    """Return the current span as a W3C traceparent; "" if there is none."""
    return _recorder.get_traceparent() if _recorder else ""


def are_traces_on() -> bool:
    return _recorder is not None

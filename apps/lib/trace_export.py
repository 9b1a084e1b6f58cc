"""Sends spans to an OTLP/HTTP endpoint. The only module that imports OpenTelemetry; imported only if an endpoint is set.

Spans go into a bounded queue, and a thread sends them: an endpoint that is away or slow costs spans, never time.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, cast
from urllib.parse import urlsplit

import structlog
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from apps.lib.trace_spans import SpanFacts, SpanKind

SEND_SECONDS: Final = 2.0  # for one batch, with all attempts; also for each batch that is left when a process ends
WAITING_SPANS: Final = 1024  # further ones are dropped
BATCH_SPANS: Final = 512
EVERY_MS: Final = 1000
KINDS: Final = {SpanKind.REQUEST: trace.SpanKind.SERVER, SpanKind.TASK: trace.SpanKind.CONSUMER, SpanKind.STEP: trace.SpanKind.INTERNAL}
# Names of OpenTelemetry's semantic conventions where it has one
NAMES: Final = {"method": "http.request.method", "route": "http.route", "status": "http.response.status_code"}
_carrier = TraceContextTextMapPropagator()
log = structlog.get_logger()


def build_recorder(url: str, program: str) -> "OtlpRecorder":
    """Return a recorder that sends to the endpoint. program: the name of the service in the trace."""
    # OpenTelemetry logs each batch that it cannot send; OutageLoggingExporter says it once
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)
    provider = TracerProvider(resource=Resource.create({"service.name": program, "service.namespace": "netzwart"}))
    exporter = OutageLoggingExporter(OTLPSpanExporter(endpoint=url, timeout=SEND_SECONDS), urlsplit(url).netloc.rpartition("@")[2])
    provider.add_span_processor(BatchSpanProcessor(exporter, WAITING_SPANS, EVERY_MS, BATCH_SPANS))
    return OtlpRecorder(provider)


class OutageLoggingExporter(SpanExporter):
    """Passes spans on, and logs when the endpoint stops to take them and when it takes them again; not each time."""

    def __init__(self, exporter: SpanExporter, endpoint: str) -> None:
        self._exporter, self._endpoint, self._away = exporter, endpoint, False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        away = result is not SpanExportResult.SUCCESS
        if away and not self._away:
            log.warning("traces are lost until the endpoint takes them again", endpoint=self._endpoint)
        elif self._away and not away:
            log.warning("traces are sent again", endpoint=self._endpoint)
        self._away = away
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


class OtlpRecorder:
    """Makes spans with OpenTelemetry. Implements `trace_spans.SpanRecorder`."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider, self._tracer = provider, provider.get_tracer("netzwart")

    @contextmanager
    def record(self, name: str, kind: SpanKind, parent: str, facts: SpanFacts) -> Iterator[None]:
        """Record what is done inside as a span. A step outside of a trace is not recorded: nobody asked for it."""
        if kind is SpanKind.STEP and not self.get_traceparent():
            yield
            return
        # An empty context begins a trace: what a browser sends as traceparent does not count
        context = None if kind is SpanKind.STEP else _carrier.extract({"traceparent": parent}, Context())
        with (
            self._tracer.start_as_current_span(
                name,
                context,
                KINDS[kind],
                _name_facts(facts),
                record_exception=False,  # its message may name a person
                set_status_on_exception=False,
            ) as span,
            structlog.contextvars.bound_contextvars(trace_id=trace.format_trace_id(span.get_span_context().trace_id)),
        ):
            try:
                yield
            except BaseException as error:
                self.mark_failed(type(error).__name__)
                raise

    def add_facts(self, facts: SpanFacts) -> None:
        trace.get_current_span().set_attributes(_name_facts(facts))

    def mark_failed(self, reason: str) -> None:
        trace.get_current_span().set_status(trace.Status(trace.StatusCode.ERROR, reason))

    def rename(self, name: str) -> None:
        trace.get_current_span().update_name(name)

    def add_links(self, traceparents: Sequence[str]) -> None:
        span = trace.get_current_span()
        for each in traceparents:
            other = _parse_traceparent(each)
            if other.is_valid and other.trace_id != span.get_span_context().trace_id:
                span.add_link(other)

    def get_traceparent(self) -> str:
        carrier: dict[str, str] = {}
        _carrier.inject(carrier)
        return carrier.get("traceparent", "")

    def shut_down(self) -> None:
        """Send what waits, and end the thread."""
        self._provider.shutdown()


def _parse_traceparent(traceparent: str) -> trace.SpanContext:
    return trace.get_current_span(_carrier.extract({"traceparent": traceparent}, Context())).get_span_context()


def _name_facts(facts: SpanFacts) -> dict[str, str | int]:
    return {NAMES.get(key, f"netzwart.{key}"): cast("str | int", value) for key, value in facts.items()}

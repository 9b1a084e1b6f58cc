"""A real OTLP/HTTP receiver on loopback. It decodes what arrives with the classes of OpenTelemetry's protocol."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.whole.system import wait_for


@dataclass(frozen=True)
class ReceivedSpan:
    """A span as it arrived; ids are hexadecimal, links are ids of traces."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    links: frozenset[str]
    facts: dict[str, str]
    failed: str  # the reason; "" if the span did not fail


@dataclass
class OtlpReceiver:
    """The running receiver and what it got. answer: computes the status of the next answer."""

    port: int = 0
    answer: Callable[[], int] = lambda: 200
    spans: list[ReceivedSpan] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/traces"

    def list_named(self, name: str) -> list[ReceivedSpan]:
        return [span for span in self.spans if span.name == name]

    def wait_for_spans(self, name: str, count: int = 1) -> list[ReceivedSpan]:
        """Return the spans of this name when that many have come."""
        wait_for(lambda: len(self.list_named(name)) >= count)
        return self.list_named(name)

    def take(self, body: bytes) -> None:
        self.bodies.append(body)
        self.spans += decode_spans(body)


def decode_spans(body: bytes) -> Iterator[ReceivedSpan]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = next(each.value.string_value for each in resource.resource.attributes if each.key == "service.name")
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield ReceivedSpan(
                    service,
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    frozenset(link.trace_id.hex() for link in span.links),
                    {each.key: each.value.string_value or str(each.value.int_value) for each in span.attributes},
                    span.status.message if span.status.code == span.status.STATUS_CODE_ERROR else "",
                )


@contextmanager
def receiving_traces() -> Iterator[OtlpReceiver]:
    """Run the receiver until the end of the block."""
    receiver = OtlpReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = receiver.answer()
            if status == 200:
                receiver.take(body)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = http.server_port
    thread = Thread(target=http.serve_forever, args=[0.01], daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        http.shutdown()
        http.server_close()
        thread.join()

"""Traces off, without their packages, and with an endpoint that is away or slow."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import pytest
from structlog.testing import capture_logs

from apps.lib import trace_export, trace_timing
from portal.programs import ROOT
from tests.otlp_receiver import receiving_traces
from tests.whole.system import wait_for

PROGRAMS = "import sys, portal.wsgi, portal.asgi, workers.app\n"
# redis-py imports the metrics of OpenTelemetry wherever they are installed
TRACING = "('opentelemetry.sdk.trace', 'opentelemetry.exporter', 'google.protobuf', 'apps.lib.trace_export')"


def run_python(code: str, url: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, "NETZWART_TRACES_URL": url, "NETZWART_SECRET_KEY": "of a test"}
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=given, capture_output=True, text=True, timeout=600)


@contextmanager
def recording(url: str) -> Iterator[trace_export.OtlpRecorder]:
    """Send the traces of this process to the address."""
    recorder = trace_export.build_recorder(url, "netzwart-test")
    before = trace_timing.set_recorder(recorder)
    try:
        yield recorder
    finally:
        trace_timing.set_recorder(before)
        recorder.shut_down()


def test_without_an_endpoint_no_program_imports_opentelemetry() -> None:
    done = run_python(f"{PROGRAMS}print([each for each in sys.modules if each.startswith({TRACING})])", url="")
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_with_an_endpoint_they_do() -> None:
    done = run_python(f"{PROGRAMS}print('opentelemetry.sdk.trace' in sys.modules)", url="http://127.0.0.1:9/v1/traces")
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


def test_without_the_packages_the_portal_says_what_to_install_and_starts() -> None:
    done = run_python(f"import sys; sys.modules['opentelemetry'] = None\n{PROGRAMS}print('started')", url="http://127.0.0.1:9/v1/traces")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "started", done.stderr
    assert "pip install --require-hashes -r requirements-tracing.lock" in done.stdout + done.stderr


def test_what_is_not_a_whole_address_is_refused_at_the_start() -> None:
    done = run_python("import portal.settings", url="127.0.0.1:4318")
    assert done.returncode != 0
    assert "NETZWART_TRACES_URL is '127.0.0.1:4318'. Write it like http://127.0.0.1:4318/v1/traces." in done.stderr


def test_an_endpoint_that_does_not_answer_holds_up_nothing() -> None:
    """More spans than the queue holds are made while the endpoint has the first batch and says nothing."""
    asked, answers = Event(), Event()

    def hang() -> int:
        asked.set()
        answers.wait()
        return 200

    with receiving_traces() as receiver:
        receiver.answer = hang
        with recording(receiver.url):
            make_spans(trace_export.BATCH_SPANS)
            assert asked.wait(60)
            make_spans(2 * trace_export.WAITING_SPANS)
            assert not answers.is_set(), "nobody has waited for the answer"
            answers.set()


def make_spans(count: int) -> None:
    for _each in range(count):
        with trace_timing.trace_request("POST"):
            trace_timing.add_facts(status=200)


def test_an_endpoint_that_is_away_is_logged_once_and_once_when_it_is_back() -> None:
    statuses = [400, 400, 400, 200, 200]
    with receiving_traces() as receiver, capture_logs() as logged:
        receiver.answer = lambda: statuses.pop(0)
        with recording(receiver.url):
            for left in range(len(statuses) - 1, -1, -1):
                make_spans(1)
                wait_for(lambda left=left: len(statuses) == left)  # type: ignore[misc]
    assert [each["event"] for each in logged] == ["traces are lost until the endpoint takes them again", "traces are sent again"]
    assert {each["endpoint"] for each in logged} == {f"127.0.0.1:{receiver.port}"}


def test_the_library_logs_nothing_beside_that(caplog: pytest.LogCaptureFixture) -> None:
    with receiving_traces() as receiver:
        receiver.answer = lambda: 400
        with recording(receiver.url):
            make_spans(3)
    assert caplog.records == []


def test_an_error_is_told_by_its_kind_and_not_by_its_words() -> None:
    def fail() -> None:
        with trace_timing.trace_request("POST"), trace_timing.trace_step("read and compile"):
            raise ValueError("Selin Kaya has 10.16.0.10")

    with receiving_traces() as receiver, recording(receiver.url):
        with pytest.raises(ValueError, match="Selin"):
            fail()
        (step,) = receiver.wait_for_spans("read and compile")
    assert step.failed == "ValueError"
    assert b"Selin" not in b"".join(receiver.bodies) and b"10.16.0.10" not in b"".join(receiver.bodies)


def test_a_step_outside_of_a_trace_is_not_recorded() -> None:
    with receiving_traces() as receiver, recording(receiver.url):
        with trace_timing.trace_step("read and compile"):
            trace_timing.add_facts(group=1)
        make_spans(1)
        receiver.wait_for_spans("POST")
        assert [span.name for span in receiver.spans] == ["POST"]

"""Traces of changes, from the request to the gateways' confirmation, as a real OTLP receiver gets them."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone
from redis import Redis

from apps.deployments.models import Rollout
from apps.deployments.services import reconcile
from apps.lib import enqueue, trace_export, trace_links, trace_timing
from tests import factories
from tests.db.agents import stop_agent
from tests.db.page_client import signed_in
from tests.db.test_api_writing import FORWARDS, build_forward, post, script
from tests.otlp_receiver import OtlpReceiver, ReceivedSpan, receiving_traces
from tests.whole.worker import broker, worker
from workers import deploy

ROUTE = "POST api/nat/forwards/$"
MIDDLEWARE = "apps.lib.web.request_tracing.RequestTracingMiddleware"


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with receiving_traces() as running:
        yield running


@pytest.fixture
def tracing_broker(receiver: OtlpReceiver, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """This process serves requests and sends traces; it and workers that a test starts have a broker. Yields the broker's address."""
    monkeypatch.setenv("NETZWART_TRACES_URL", receiver.url)
    settings.MIDDLEWARE = [MIDDLEWARE, *settings.MIDDLEWARE]
    recorder = trace_export.build_recorder(receiver.url, "netzwart-web")
    before = trace_timing.set_recorder(recorder)
    enqueue._get_publisher.cache_clear()
    with TemporaryDirectory(prefix="nw-") as directory, broker(Path(directory)) as url:
        settings.REDIS_URL = url
        yield url
        trace_timing.set_recorder(before)
        recorder.shut_down()
    enqueue._get_publisher.cache_clear()


def list_children(receiver: OtlpReceiver, parent: ReceivedSpan) -> list[ReceivedSpan]:
    return [span for span in receiver.spans if (span.trace, span.parent) == (parent.trace, parent.id)]


def test_a_change_is_one_trace_from_the_request_to_the_confirmation_of_each_gateway(
    served_network: factories.Network, tracing_broker: str, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    assert reconcile(served_network.group)
    with worker(tracing_broker, tmp_path / "worker.log"):
        assert post(script(served_network), build_forward(served_network)).status_code == 201
        (task,) = receiver.wait_for_spans("workers.reconcile")
        (request,) = receiver.wait_for_spans(ROUTE)
    assert (request.service, request.parent, request.facts["http.response.status_code"]) == ("netzwart-web", "", "201")
    assert (task.service, task.trace, task.parent) == ("netzwart-worker", request.trace, request.id)
    (reconciliation,) = list_children(receiver, task)
    rollout = Rollout.objects.latest("pk")
    assert reconciliation.facts == {
        "netzwart.group": str(served_network.group.pk),
        "netzwart.cause": "change",
        "netzwart.rollout": str(rollout.pk),
        "netzwart.revision": str(rollout.revision_id),
        "netzwart.gateways": "2",
        "netzwart.state": "confirmed",
    }
    steps = [(span.name, span.facts.get("netzwart.gateway", "")) for span in list_children(receiver, reconciliation)]
    each = [(command, gateway) for gateway in ("nat-1", "nat-2") for command in ("apply", "probe", "confirm")]
    assert steps == [("read and compile", ""), ("open rollout", ""), ("describe", ""), ("keep contents", ""), *each]
    probes = [span for span in receiver.list_named("probe") if span.trace == request.trace]
    assert [[child.name for child in list_children(receiver, probe)] for probe in probes] == [["reach"], ["reach"]]


def test_a_rollout_links_to_every_request_whose_change_it_brings(
    served_network: factories.Network, tracing_broker: str, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    assert reconcile(served_network.group)
    api = script(served_network)
    for port in (8001, 8002, 8003):
        assert post(api, build_forward(served_network, port)).status_code == 201
    with worker(tracing_broker, tmp_path / "worker.log"):
        receiver.wait_for_spans("workers.reconcile", 3)
    requests = {span.trace for span in receiver.wait_for_spans(ROUTE, 3)}
    (brought,) = [span for span in receiver.list_named("reconcile") if "netzwart.rollout" in span.facts]
    assert {brought.trace, *brought.links} == requests and len(requests) == 3


def test_a_request_that_finds_an_open_rollout_is_left_to_the_next_one(
    served_network: factories.Network, tracing_broker: str, receiver: OtlpReceiver
) -> None:
    rollout = reconcile(served_network.group)
    assert rollout
    driven = Rollout.objects.filter(pk=rollout.pk)
    driven.update(state=Rollout.State.APPLYING, lease_until=timezone.now() + timedelta(hours=1))
    assert post(script(served_network), build_forward(served_network)).status_code == 201
    deploy.reconcile()
    driven.update(state=Rollout.State.CONFIRMED)
    deploy.reconcile()
    (request,) = receiver.wait_for_spans(ROUTE)
    first, second = receiver.wait_for_spans("workers.reconcile", 2)
    assert first.facts["netzwart.outcome"] == "left to the open rollout"
    (brought,) = list_children(receiver, second)
    assert brought.links == {request.trace} and brought.facts["netzwart.state"] == "confirmed"


def test_nothing_personal_is_in_a_trace(
    served_network: factories.Network, tracing_broker: str, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    resident = served_network.residents["m1"]
    browser = signed_in(served_network.admin)
    with worker(tracing_broker, tmp_path / "worker.log"):
        assert post(script(served_network), build_forward(served_network)).status_code == 201
        browser.post(f"/members/{resident.member.pk}/?q=Selin", {"name": resident.member.name, "note": "moves out"})
        receiver.wait_for_spans("POST members/<int:pk>/")
        receiver.wait_for_spans("keep contents")
        receiver.wait_for_spans("workers.reconcile")
    names = [resident.member.name, resident.member.name.split()[0], served_network.admin.username, served_network.admin.last_name]
    addresses = [str(resident.holding.prefix.network_address), str(factories.PUBLIC), str(resident.prefix.prefix.network_address)]
    sent = b"\n".join(receiver.bodies).decode(errors="replace").lower()
    assert "nat-1" in sent and "post members/<int:pk>/" in sent
    assert [
        word for word in [*names, *addresses, "Nextcloud", "8443", "Bearer", "sessionid", "Selin", "moves out"] if word.lower() in sent
    ] == []


def test_what_a_browser_sends_as_traceparent_does_not_count(
    served_network: factories.Network, tracing_broker: str, receiver: OtlpReceiver
) -> None:
    foreign = "00-11111111111111111111111111111111-2222222222222222-01"
    assert post(script(served_network), build_forward(served_network), traceparent=foreign).status_code == 201
    (request,) = receiver.wait_for_spans(ROUTE)
    assert request.trace != "1" * 32 and request.parent == ""


def test_reading_and_the_schedule_leave_no_trace(served_network: factories.Network, tracing_broker: str, receiver: OtlpReceiver) -> None:
    assert script(served_network).get(FORWARDS).status_code == 200
    deploy.reconcile()
    assert Rollout.objects.exists()
    assert post(script(served_network), build_forward(served_network)).status_code == 201
    receiver.wait_for_spans(ROUTE)
    assert [span.name for span in receiver.spans] == [ROUTE], "what came before would have been sent before"


def test_a_lost_broker_fails_no_save_while_traces_are_on(
    served_network: factories.Network, tracing_broker: str, receiver: OtlpReceiver, settings: LazySettings, tmp_path: Path
) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    enqueue._get_publisher.cache_clear()
    assert post(script(served_network), build_forward(served_network)).status_code == 201
    deploy.reconcile()
    assert Rollout.objects.latest("pk").state == Rollout.State.CONFIRMED


def test_only_so_many_requests_are_kept_for_links(tracing_broker: str) -> None:
    with trace_timing.trace_request("POST"):
        for _each in range(trace_links.MOST_LINKS + 1):
            trace_links.note_request()
    with Redis.from_url(tracing_broker) as client:
        assert client.llen(trace_links.KEY) == trace_links.MOST_LINKS
        assert 0 < int(str(client.ttl(trace_links.KEY))) <= trace_links.KEEP_SECONDS


def test_log_lines_of_a_traced_request_carry_the_id_of_its_trace(
    served_network: factories.Network, tracing_broker: str, receiver: OtlpReceiver, settings: LazySettings, tmp_path: Path, capsys: Any
) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    enqueue._get_publisher.cache_clear()
    client: Client = script(served_network)
    assert post(client, build_forward(served_network)).status_code == 201
    (request,) = receiver.wait_for_spans(ROUTE)
    lost = [line for line in capsys.readouterr().out.splitlines() if "nudge lost" in line]
    assert len(lost) == 1 and request.trace in lost[0]


def test_a_step_that_failed_says_so_by_a_word_of_the_program(
    served_network: factories.Network, tracing_broker: str, receiver: OtlpReceiver
) -> None:
    first = served_network.gateways[0]
    with stop_agent(first), trace_timing.trace_request("POST"):
        assert reconcile(served_network.group)
    (step,) = [span for span in receiver.wait_for_spans("apply") if span.facts["netzwart.gateway"] == first.name]
    assert step.failed == "away"


def test_of_two_workers_that_found_a_request_one_links_to_it(tracing_broker: str, receiver: OtlpReceiver) -> None:
    with trace_timing.trace_request("NOTED"):
        trace_links.note_request()
    with trace_links.find_waiting_requests() as slow:
        with trace_links.find_waiting_requests() as fast, trace_timing.trace_request("FAST"):
            trace_links.link_waiting_requests()
        with trace_timing.trace_request("SLOW"):
            trace_links.link_waiting_requests()
    (noted,), (first,), (second,) = (receiver.wait_for_spans(name) for name in ("NOTED", "FAST", "SLOW"))
    assert slow == fast and len(slow) == 1
    assert first.links == {noted.trace} and not second.links


def test_a_task_for_one_group_leaves_the_requests_of_other_groups_to_their_own_task(tracing_broker: str, receiver: OtlpReceiver) -> None:
    for name, group in (("HERE", 1), ("THERE", 2), ("EVERYWHERE", None)):
        with trace_timing.trace_request(name):
            trace_links.note_request(group)
    for name, group in (("FIRST", 1), ("SECOND", 2)):
        with trace_links.find_waiting_requests(group), trace_timing.trace_request(name):
            trace_links.link_waiting_requests()
    (here,), (there,), (everywhere,) = (receiver.wait_for_spans(name) for name in ("HERE", "THERE", "EVERYWHERE"))
    (first,), (second,) = (receiver.wait_for_spans(name) for name in ("FIRST", "SECOND"))
    assert first.links == {here.trace, everywhere.trace} and second.links == {there.trace, everywhere.trace}
    with trace_links.find_waiting_requests() as left:
        assert len(left) == 1, "the request that concerns every group waits for its own task"


def test_a_redis_that_does_not_answer_is_asked_once(tracing_broker: str, settings: LazySettings) -> None:
    with socket.socket(socket.AF_UNIX) as silent, TemporaryDirectory(prefix="nw-") as directory:
        silent.bind(f"{directory}/silent.sock")
        silent.listen()
        silent.setblocking(False)
        settings.REDIS_URL = f"unix://{directory}/silent.sock"
        with trace_timing.trace_request("POST"):
            trace_links.note_request()
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()
